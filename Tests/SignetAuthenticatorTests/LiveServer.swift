import Logging
import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetStorage

/// A development server on a free port, a client that runs its journeys as `demo`, and an authenticator.
struct LiveServer {
    static let device = PushDevice(token: "token-1", name: "Mira's laptop")
    let store = AccountRecords(unsealed: MemoryStore())
    let authenticator: Authenticator
    private let journey: Journey

    private init(url: String, transport: any HTTPTransport) throws {
        authenticator = Authenticator(store: store, transport: transport, device: Self.device)
        journey = Journey(try ServerProfile(url: url), transport: transport)
    }

    static func with(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (LiveServer) async throws -> Void
    ) async throws {
        let server = DevServer(
            configuration: ServerConfiguration {
                $0.port = 0
                $0.users = [User(name: "demo", password: Secret("password".utf8))]
                $0.pollInterval = .milliseconds(20)
                configure(&$0)
            }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await server.serve { url in
            try await AsyncHTTPTransport().use { transport in
                try await body(LiveServer(url: url, transport: transport))
            }
        }
    }

    func enrollPush(pushGateway: Endpoint? = nil) async throws -> Mechanism {
        let step = try await begin("PushRegistration")
        guard let uri = step.hiddenValue("mfaDeviceRegistration") else { throw Unexpected() }
        return try await authenticator.enroll(uri: uri, pushGateway: pushGateway).mechanisms[0]
    }

    /// Starts a journey with name and password, and returns the next step.
    func begin(_ name: String) async throws -> JourneyStep {
        guard case .step(var step) = try await journey.start(name) else { throw Unexpected() }
        for index in step.callbacks.indices {
            step.callbacks[index].answer(.string(step.callbacks[index].type == "NameCallback" ? "demo" : "password"))
        }
        guard case .step(let next) = try await journey.next(step) else { throw Unexpected() }
        return next
    }

    /// Waits until a journey ends: returns nil when the user is logged in, otherwise the error.
    func finish(_ waiting: JourneyStep) async throws -> JourneyError.Code? {
        var step = waiting
        do {
            while true {
                try await Task.sleep(for: .milliseconds(step.waitMilliseconds ?? 0))
                guard case .step(let next) = try await journey.next(step) else { return nil }
                step = next
            }
        } catch let error as JourneyError {
            return error.code
        }
    }

    func listen(for mechanism: Mechanism, _ handle: @Sendable (PushStreamListener.Event) async throws -> Void) async throws {
        do {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run(handle)
        } catch is Enough {}
    }

    /// Returns the first new message that waits for an answer.
    func nextNotification(for mechanism: Mechanism) async throws -> PushNotification {
        let now = SystemWallClock().now
        let known = Set(try await authenticator.notifications().map(\.id))
        try await listen(for: mechanism) { event in
            if case .received(let notification) = event, !known.contains(notification.id) { throw Enough() }
        }
        guard
            let new = try await authenticator.notifications().first(where: {
                !known.contains($0.id) && $0.state(at: now) == .pending
            })
        else { throw Unexpected() }
        return new
    }
}

struct Unexpected: Error {}
