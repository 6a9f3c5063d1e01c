import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting

import struct Logging.Logger
import struct Logging.SwiftLogNoOpLogHandler

/// The cost of a login (journey, authorization code, tokens) at a server with 100,000 users and a million ended sessions, compared
/// with an empty server.
///
/// Both keep their state in a file, and commit before they answer.
enum ServerStateRow {
    private static let users = 100_000
    private static let sessions = 1_000_000

    static func measure() async throws -> Row {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let transport = AsyncHTTPTransport()
        let outcome = await Result(of: { try await race(in: directory, transport) })
        await transport.close()
        return Row(
            "login at a server with 100,000 users and 1,000,000 past sessions, beside an empty one", try outcome.get(),
            .atMost(1.3))
    }

    private static func race(in directory: TemporaryDirectory, _ transport: AsyncHTTPTransport) async throws -> Race.Outcome {
        let full = server(directory.file("full/server.sqlite"))
        let empty = server(directory.file("empty/server.sqlite"))
        try await full.fill(users: users, pastSessions: sessions)
        return try await full.serve { full in
            try await empty.serve { empty in
                let ours = Contender.timed("full") { try await logIn(at: full, over: transport) }
                let reference = Contender.timed("empty") { try await logIn(at: empty, over: transport) }
                return try await Race(ours: ours, reference: reference).run()
            }
        }
    }

    private static let password = Secret("correct horse".utf8)
    private static let redirect = "https://app.example.com/cb"

    private static func server(_ path: String) -> DevServer {
        DevServer(
            configuration: ServerConfiguration {
                $0.port = 0
                $0.state = .file(path)
                $0.users = [User(name: "mira", password: password)]
                $0.clients = [RegisteredClient(id: "bench", redirectURIs: [redirect]) { $0.scopes = ["profile"] }]
            }, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func logIn(at url: String, over transport: any HTTPTransport) async throws -> Duration {
        let profile = try ServerProfile(url: url) {
            $0.issuer = "\(url)/oauth2"
            $0.client = OAuthClient(clientID: "bench", redirectURI: redirect, scopes: ["profile"])
        }
        let app = try IdentityClient(profile, store: .memory(), transport: transport)
        let begin = ContinuousClock.now
        guard case .step(var step) = try await app.journeys.start("Login") else { throw BenchError("the journey has no step") }
        try step.fill(NameCallback.self) { $0.name = "mira" }
        try step.fill(PasswordCallback.self) { $0.fill(password) }
        guard case .loggedIn = try await app.journeys.next(step) else { throw BenchError("the journey did not end") }
        _ = try await app.tokens.token()
        return ContinuousClock.now - begin
    }
}
