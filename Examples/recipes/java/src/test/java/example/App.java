package example;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;

/** The app under test: it gets tokens for a session, as an OpenID client does. Your tests call your own app instead. */
record App(AM am) {
    private static final String REDIRECT_URI = "http://127.0.0.1/callback";

    /** Exchanges a session for tokens by authorization code and PKCE; waits and tries again when the server is not available. */
    JsonNode signIn(String session) throws IOException, InterruptedException, NoSuchAlgorithmException {
        String verifier = random();
        String state = random();
        String nonce = random();
        byte[] challenge = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII));
        String query = AM.form(Map.of(
                "response_type", "code", "client_id", "app", "redirect_uri", REDIRECT_URI, "scope", "openid", "state", state,
                "nonce", nonce, "code_challenge", text(challenge), "code_challenge_method", "S256"));
        String location = am.send("GET", "/oauth2/authorize?" + query, null, null, "iPlanetDirectoryPro", session)
                .headers().firstValue("Location").orElseThrow();
        if (!AM.parameter(location, "state").equals(state)) throw new IOException("the state is not that of the request");
        String form = AM.form(Map.of(
                "grant_type", "authorization_code", "client_id", "app", "redirect_uri", REDIRECT_URI,
                "code", AM.parameter(location, "code"), "code_verifier", verifier));
        for (int attempt = 1; ; attempt++) {
            try {
                JsonNode tokens = AM.JSON.readTree(
                        am.send("POST", "/oauth2/access_token", "application/x-www-form-urlencoded", form).body());
                if (!claims(tokens).get("nonce").asText().equals(nonce)) {
                    throw new IOException("the nonce is not that of the request");
                }
                return tokens;
            } catch (AM.Refused error) {
                if (error.status != 503 || attempt == 3) throw error;
                Thread.sleep(100);
            }
        }
    }

    /** The claims of the id_token. An app must also verify its signature; a library for OpenID does. */
    static JsonNode claims(JsonNode tokens) throws IOException {
        return AM.JSON.readTree(Base64.getUrlDecoder().decode(tokens.get("id_token").asText().split("\\.")[1]));
    }

    private static String random() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return text(bytes);
    }

    private static String text(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
