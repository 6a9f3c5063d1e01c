import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting
import TestSupport

struct Unexpected: Error {}

/// A server with users in two realms, as a journey client sees it.
struct LiveServer: Sendable {
    let profile: ServerProfile
    let transport: any HTTPTransport
    let clock: ManualClock
    let devServer: DevServer

    static let password = Secret("correct horse".utf8)

    static func with(
        realm: Realm = .root, pushTimeout: Int = 120, clients: [RegisteredClient] = [],
        _ body: (LiveServer) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration {
            $0.users = [
                User(name: "demo", password: password), User(name: "noa", password: password),
                User(name: "mira", password: password, realm: "/alpha"),
            ]
            $0.clients = clients
            $0.pollInterval = .milliseconds(20)
            $0.pushTimeout = pushTimeout
        }
        let clock = ManualClock(SystemWallClock().now)
        try await TestServer.live(configuration, clock: clock) { server in
            let profile = try ServerProfile(url: server.url, realm: realm)
            try await body(
                LiveServer(profile: profile, transport: server.transport, clock: clock, devServer: server.devServer))
        }
    }

    var journeys: Journey { Journey(profile, transport: transport) }
}

/// The requests that a client sent, by the names of their actions.
final class RequestRecorder: Sendable {
    private let names = Mutex<[String]>([])

    var actions: [String] { names.withLock { $0 } }

    func add(_ exchange: LoggedRequest) { names.withLock { $0.append(exchange.action?.name ?? "?") } }
}

extension JourneyStep {
    /// Fills in name and password.
    mutating func fill(name: String, password: Secret) throws {
        try fill(NameCallback.self) { $0.name = name }
        try fill(PasswordCallback.self) { $0.fill(password) }
    }
}

extension JourneyState {
    /// The step of the state; reading it throws if the state is not a step.
    var step: JourneyStep {
        get throws {
            guard case .step(let step) = self else { throw Unexpected() }
            return step
        }
    }

    var token: SSOToken {
        get throws {
            guard case .loggedIn(let token) = self else { throw Unexpected() }
            return token
        }
    }
}

/// Returns a transport that gives one response after another.
func answering(_ answers: (status: Int, body: String)...) -> ScriptedTransport {
    let left = Mutex(answers[...])
    return ScriptedTransport { _ in
        let answer = left.withLock { $0.popFirst() } ?? (status: 500, body: "nothing left")
        return HTTPResponse(status: answer.status, body: Array(answer.body.utf8))
    }
}

func profile(_ configure: (inout ServerProfile) -> Void = { _ in }) throws -> ServerProfile {
    try ServerProfile(url: "https://am.example.test/am", configure: configure)
}
