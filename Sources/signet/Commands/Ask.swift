import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

struct Ask: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Ask a user for an approval on another device, and wait for the answer.",
        discussion: """
            The server sends the user a push message with MESSAGE, for example to the Signet of their phone or desktop. signet ends \
            with 0 after the approval. The exit code is 77 after a denial, and when the user does not answer in time.

            The server must offer backchannel authentication (OpenID Connect CIBA), and the client must be one with a secret or a key \
            that is allowed to ask. Without --user, signet asks the user who is logged in. The answer replaces no login: its tokens are \
            revoked at once.

            With --settings no login and no vault are needed, for example in CI: the file names the server, the client and the file of \
            its secret or key.

            EXAMPLES:
              signet ask "deploy 4711?" && ./deploy 4711
              signet ask --settings ci.yaml --user mira "deploy 4711?"
            """)

    @Argument(help: "The question that the user reads: short plain text, which servers limit.")
    var message: String

    @Option(help: ArgumentHelp("The name of the user at the server. Default: the user who is logged in.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "The authentication to request (acr_values), at AM the one that is mapped to a push journey.", valueName: "name"))
    var acr: String?

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("How long the user has. Default: as long as the server allows.", valueName: "seconds"))
    var seconds: Int?

    @Option(
        name: .customLong("settings"),
        help: ArgumentHelp(
            "A file in YAML or JSON with the settings of a server profile, instead of those of a login.", valueName: "file"),
        completion: .file())
    var settingsFile: String?

    @OptionGroup var plainHTTP: PlainHTTPOptions

    @OptionGroup var trust: TrustOptions

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print JSON: approved, user, subject.")
    var json = false

    private static let maxSeconds = 86_400

    func validate() throws {
        guard !message.trimmingWhitespace().isEmpty else { throw ValidationError("The question is empty.") }
        guard !message.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw ValidationError("The question is one line of text, without control characters.")
        }
        if let seconds, !(1...Self.maxSeconds).contains(seconds) {
            throw ValidationError("--timeout takes a number of seconds from 1 to \(Self.maxSeconds).")
        }
        if settingsFile != nil, profile.name != nil {
            throw ValidationError("--settings and --profile exclude each other: use one of them.")
        }
        if settingsFile != nil, user == nil {
            throw ValidationError("With --settings no user is logged in: add --user NAME.")
        }
    }

    func run() async throws {
        let (user, claims) = try await connected { [self] client in try await answer(client) }
        let subject = claims["sub"]?.string
        guard json else { return Console.line("Approved by \(user).") }
        Console.line(
            JSONText.line(
                JSONText.object(["approved": .bool(true), "user": .string(user), "subject": .string(subject)])))
    }

    /// Asks the user, and returns the name and the claims about the user after an approval.
    private func answer(_ client: IdentityClient) async throws -> (user: String, claims: [String: JSONValue]) {
        let user = try await name(of: client)
        let login = BackchannelLogin(client.tokens)
        do throws(TokenError) {
            let pending = try await login.begin(
                user: user, message: message, expiry: seconds.map { .seconds($0) }, acrValues: acr)
            if !json { Console.error("Waiting for the answer of \(user).") }
            return (user, try await login.confirm(pending))
        } catch {
            throw Self.failure(error, user)
        }
    }

    /// Returns the name of the user to ask.
    private func name(of client: IdentityClient) async throws -> String {
        if let user { return user }
        let claims = try await client.reader.identity()
        guard let name = claims?["preferred_username"]?.string ?? claims?["sub"]?.string else {
            throw Failure(.usage, "ask.noUser", "the login does not say who is logged in: add --user NAME")
        }
        return name
    }

    /// Returns the error for a request that was not approved.
    private static func failure(_ error: TokenError, _ user: String) -> any Error {
        guard case .server(let refusal) = error.cause else { return error }
        switch refusal.code {
        case .accessDenied: return Failure(.notAllowed, "ask.denied", "\(user) denied the request")
        case .expiredToken: return Failure(.notAllowed, "ask.expired", "\(user) did not answer in time")
        default: return error
        }
    }

    /// Runs `body` with the client of the login, or with that of the settings file.
    private func connected<R: Sendable>(
        _ body: @escaping @Sendable (IdentityClient) async throws -> R
    ) async throws -> R {
        let authorityFile = try trust.authorityFile()
        guard let settingsFile else {
            let (opened, login) = try profile.open()
            var session = opened
            session.authorityFile = authorityFile ?? opened.authorityFile
            return try await login.use(session, body)
        }
        let server = try SettingsFile(settingsFile).server(policy: plainHTTP.policy)
        return try await Interrupt.ending {
            try await AsyncHTTPTransport(authorities: AsyncHTTPTransport.Authorities(file: authorityFile)).use { transport in
                try await body(try IdentityClient(server, store: .memory(), transport: transport))
            }
        }
    }
}
