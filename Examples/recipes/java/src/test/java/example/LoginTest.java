package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(AMExtension.class)
class LoginTest {
    private static final String PASSWORD = "gangway lantern 42";
    private static final Map<String, String> MIRA = Map.of("User Name", "mira", "Password", PASSWORD);

    private static List<Integer> statuses(List<JsonNode> entries) {
        return entries.stream().map(entry -> entry.get("status").asInt()).toList();
    }

    private static Map<String, String> with(String prompt, String answer) {
        Map<String, String> answers = new HashMap<>(MIRA);
        answers.put(prompt, answer);
        return answers;
    }

    @Test
    void loginWithPasswordAndCode(AM am) throws Exception {
        String secret = am.enroll("mira", PASSWORD);
        String session = am.logIn("OATHLogin", with("Enter verification code", am.code(secret)));

        JsonNode tokens = new App(am).signIn(session);

        assertEquals("mira", App.claims(tokens).get("sub").asText());
        List<JsonNode> entries = am.requests("resource=accessToken");
        assertEquals(List.of(200), statuses(entries));
        // The log has the names of all parameters, and no secrets.
        JsonNode sent = entries.get(0).get("parameters");
        assertEquals("authorization_code", sent.get("grant_type").asText());
        assertTrue(sent.has("code_verifier"));
    }

    @Test
    void wrongPasswordIsRefused(AM am) {
        AM.Refused error = assertThrows(AM.Refused.class, () -> am.logIn("Login", with("Password", "a guess")));
        assertEquals(401, error.status);
    }

    @Test
    void appTriesAgainWhenTheServerIsNotAvailable(AM am) throws Exception {
        am.admin("POST", "faults", Map.of("kind", "status", "status", 503, "route", "accessToken", "times", 1));

        new App(am).signIn(am.logIn("Login", MIRA));

        assertEquals(List.of(503, 200), statuses(am.requests("resource=accessToken")));
        assertEquals(1, am.requests("fault=status").size());
    }

    @Test
    void appRefusesAnIDTokenOfAnotherLogin(AM am) {
        am.admin("POST", "faults", Map.of("kind", "wrong-nonce", "times", 1));
        IOException error = assertThrows(IOException.class, () -> new App(am).signIn(am.logIn("Login", MIRA)));
        assertTrue(error.getMessage().contains("nonce"));
    }

    @Test
    void linkInAnEmailContinuesTheLogin(AM am) throws Exception {
        assertEquals(List.of(), am.emails("mira")); // the reset has removed those of earlier tests
        am.step(AM.fill(am.start("EmailLogin"), Map.of("User Name", "mira")), "");

        String link = am.emails("mira").get(0).get("link").asText();

        assertTrue(new App(am).signIn(am.resume(link).get("tokenId").asText()).has("access_token"));
    }

    @Test
    void sessionEndsAfterItsTime(AM am) {
        String session = am.logIn("Login", MIRA);
        am.admin("POST", "clock/advance", Map.of("seconds", 7201)); // the idle time of a session is two hours
        AM.Refused error = assertThrows(AM.Refused.class, () -> am.send("POST",
                "/json/realms/root/sessions?_action=getSessionInfo", null, null, "iPlanetDirectoryPro", session));
        assertEquals(401, error.status);
    }
}
