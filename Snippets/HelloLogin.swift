// A program that logs in at the terminal, keeps the login in the user's vault, and uses an access token; and a test of it.
import SignetCore
import SignetJourney
import SignetOAuth
// snippet.hide
import SignetServer

// snippet.show
/// The address of the server, and the app as its client.
func makeProfile(url: String) throws -> ServerProfile {
    try ServerProfile(url: url) {
        $0.client = OAuthClient(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "profile"])
    }
}

/// Runs the journey `Login`, and answers its questions with the results of `ask`.
func logIn(_ app: IdentityClient, ask: @Sendable (_ prompt: String) -> String) async throws {
    var state = try await app.journeys.start("Login")
    while case .step(var step) = state {
        for callback in step.callbacks.compactMap(\.typed) {
            switch callback {
            case let name as NameCallback:
                let answer = ask(name.prompt)
                try step.fill(NameCallback.self) { $0.name = answer }
            case let password as PasswordCallback:
                let answer = ask(password.prompt)
                try step.fill(PasswordCallback.self) { $0.fill(answer) }
            default: break
            }
        }
        state = try await app.journeys.next(step)
    }
}

/// Logs in when no session is stored, and shows the user and the expiry of the access token.
func run(url: String) async throws {
    let app = try IdentityClient(makeProfile(url: url), account: "com.example.hello")
    if try await app.reader.session() == nil {
        try await logIn(app) { prompt in
            print(prompt, terminator: ": ")
            return readLine() ?? ""
        }
    }
    let token = try await app.tokens.token()
    let user = try await app.userInfo()
    print("Logged in as \(user.subject ?? "an unknown user")")
    if let expiry = token.expiresAt { print("The access token expires at \(expiry).") }
}
// snippet.hide

func start() async {
    // snippet.show
    do {
        try await run(url: CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/am")
    } catch {
        print("\(error)")
    }
    // snippet.hide
}

// snippet.show
func logsInAndGetsToken() async throws {
    var configuration = ServerConfiguration.starter
    configuration.users = [User(name: "mira", password: Secret("correct horse".utf8))]
    try await withServer(configuration) { server in
        let app = try IdentityClient(makeProfile(url: server.url), store: .memory())
        try await logIn(app) { prompt in prompt == "User Name" ? "mira" : "correct horse" }
        _ = try await app.tokens.token()

        // What the app sent to the server to get it:
        let sent = try await server.waitForEntry(matching: RequestLogFilter { $0.resource = "accessToken" })
        precondition(sent.request?["grant_type"] == "authorization_code")
    }
}
// snippet.hide
