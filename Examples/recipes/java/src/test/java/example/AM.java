package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * An AM for tests: a running {@code signet serve} with its logins, clock, faults, emails and request log.
 *
 * <p>Copy this file beside your tests. It needs Java 17 and Jackson.
 */
public final class AM implements AutoCloseable {
    public static final ObjectMapper JSON = new ObjectMapper();

    /** A response with an error status. */
    public static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        public final int status;

        Refused(int status, String body) {
            super(status + ": " + body);
            this.status = status;
        }
    }

    public final String url;
    private final String token;
    private final Runnable stop;
    private final HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).build();

    /** A server that runs already; {@code ready} is the content of its ready file. */
    AM(JsonNode ready, String token, Runnable stop) {
        this.url = ready.get("url").asText();
        this.token = token.strip();
        this.stop = stop;
    }

    /** Starts the program {@code signet} with a configuration file, and waits until it is ready. */
    public static AM start(Path config) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("am-");
        Path ready = folder.resolve("ready.json");
        Path log = folder.resolve("am.log");
        // The server also ends when its standard input does, so it never outlives the tests.
        Process process = new ProcessBuilder("signet", "serve", "--config", config.toString(), "--state", "memory", "--port", "0",
                "--admin", "--ready-file", ready.toString(), "--exit-on-stdin-eof")
                .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        Runnable stop = () -> stop(process, folder);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!Files.exists(ready)) {
            if (!process.isAlive() || System.nanoTime() > end) {
                String text = Files.readString(log);
                stop.run();
                throw new IOException("signet serve did not start:\n" + text);
            }
            Thread.sleep(20);
        }
        JsonNode facts = JSON.readTree(ready.toFile());
        return new AM(facts, Files.readString(Path.of(facts.at("/admin/tokenFile").asText())), stop);
    }

    private static void stop(Process process, Path folder) {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly().waitFor();
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop.run();
    }

    // Requests

    /** Sends a request with a body of a type; both are null when it has none. Redirects are answers, too. */
    public HttpResponse<String> send(String method, String path, String type, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(30));
        request.method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (type != null) request.header("Content-Type", type);
        if (headers.length > 0) request.headers(headers);
        try {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() >= 400) throw new Refused(response.statusCode(), response.body());
            return response;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    private JsonNode json(String method, String path, Object body, String... headers) {
        try {
            String text = body == null ? null : JSON.writeValueAsString(body);
            return JSON.readTree(send(method, path, body == null ? null : "application/json", text, headers).body());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** A request to the administration API, for example {@code admin("POST", "clock/advance", Map.of("seconds", 30))}. */
    public JsonNode admin(String method, String path, Object body) {
        return json(method, "/admin/" + path, body, "Authorization", "Bearer " + token);
    }

    /** Begins anew: users, sessions, clock and faults as in the configuration, and an empty request log. */
    public void reset() {
        admin("POST", "reset", Map.of());
        admin("DELETE", "request-log", null);
    }

    /** The entries of the request log, for example {@code requests("resource=accessToken&status=200")}. */
    public List<JsonNode> requests(String query) {
        return list(admin("GET", "request-log?" + query, null).get("entries"));
    }

    /** The emails to a user. */
    public List<JsonNode> emails(String user) {
        return list(admin("GET", "emails?user=" + encode(user), null).get("emails"));
    }

    // Logins

    /** Sends the answer to a step of a journey, or starts one, and returns the next step, or the end with its tokenId. */
    public JsonNode step(JsonNode answer, String query) {
        return json("POST", "/json/realms/root/authenticate?" + query, answer, "Accept-API-Version", "resource=2.1");
    }

    /** Starts a journey, and returns its first step. */
    public JsonNode start(String journey) {
        return step(JSON.createObjectNode(), "authIndexType=service&authIndexValue=" + encode(journey));
    }

    /** Runs a journey with the answer to each prompt, and returns the session. */
    public String logIn(String journey, Map<String, String> answers) {
        JsonNode step = start(journey);
        while (!step.has("tokenId")) step = step(fill(step, answers), "");
        return step.get("tokenId").asText();
    }

    /** Continues the journey that an email was sent for, by the link in it, and returns the next step or the end. */
    public JsonNode resume(String link) {
        return step(JSON.createObjectNode(), "suspendedId=" + encode(parameter(link, "suspendedId")));
    }

    /** Answers each callback of a step that has a prompt, and returns the step. */
    public static JsonNode fill(JsonNode step, Map<String, String> answers) {
        List<JsonNode> asked = list(step.get("callbacks")).stream().filter(callback -> callback.has("input")).toList();
        if (asked.isEmpty()) throw new IllegalStateException("the journey waits for something else than an answer: " + step);
        for (JsonNode callback : asked) {
            String prompt = list(callback.get("output")).stream().filter(output -> output.get("name").asText().equals("prompt"))
                    .map(output -> output.get("value").asText()).findFirst().orElse("");
            if (answers.containsKey(prompt)) {
                ((ObjectNode) callback.get("input").get(0)).put("value", answers.get(prompt));
            } else if (!prompt.isEmpty()) {
                throw new IllegalStateException("no answer for '" + prompt + "'");
            }
        }
        return step;
    }

    // One-time codes

    /** Registers a device for one-time codes with the journey OATHRegistration, and returns its secret in base32. */
    public String enroll(String user, String password) {
        JsonNode shown = step(fill(start("OATHRegistration"), Map.of("User Name", user, "Password", password)), "");
        String uri = list(shown.get("callbacks")).stream().flatMap(callback -> list(callback.get("output")).stream())
                .map(output -> output.get("value").asText()).filter(value -> value.startsWith("otpauth:")).findFirst().orElseThrow();
        String secret = parameter(uri, "secret");
        step(fill(step(shown, ""), Map.of("Enter verification code", code(secret))), "");
        admin("POST", "clock/advance", Map.of("seconds", 30)); // the server accepts each code once
        return secret;
    }

    /** The one-time code (RFC 6238) of a secret, at the time of the server's clock. */
    public String code(String secret) {
        long counter = (long) admin("GET", "clock", null).get("seconds").asDouble() / 30;
        try {
            Mac mac = Mac.getInstance("HmacSHA1");
            mac.init(new SecretKeySpec(base32(secret), "HmacSHA1"));
            ByteBuffer digest = ByteBuffer.wrap(mac.doFinal(ByteBuffer.allocate(8).putLong(counter).array()));
            return String.format("%06d", (digest.getInt(digest.get(19) & 15) & Integer.MAX_VALUE) % 1_000_000);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private static byte[] base32(String text) {
        ByteBuffer bytes = ByteBuffer.allocate(text.length() * 5 / 8);
        int bits = 0;
        int count = 0;
        for (char letter : text.toCharArray()) {
            bits = bits << 5 | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter);
            count += 5;
            if (count >= 8) bytes.put((byte) (bits >> (count -= 8)));
        }
        return bytes.array();
    }

    // Support

    static List<JsonNode> list(JsonNode array) {
        List<JsonNode> found = new ArrayList<>();
        if (array != null) array.forEach(found::add);
        return found;
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    static String form(Map<String, String> fields) {
        return fields.entrySet().stream().map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
                .collect(Collectors.joining("&"));
    }

    /** A parameter of the query of an address. */
    static String parameter(String address, String name) {
        return Stream.of(URI.create(address).getRawQuery().split("&")).filter(part -> part.startsWith(name + "="))
                .map(part -> URLDecoder.decode(part.substring(name.length() + 1), StandardCharsets.UTF_8)).findFirst().orElseThrow();
    }
}
