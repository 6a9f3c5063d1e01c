import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetStorage
import TestSupport

/// The user `demo` of a development server, with an authenticator.
struct DemoUser {
    static let device = PushDevice(token: "token-1", name: "Mira's laptop")
    let store = AccountRecords(unsealed: MemoryStore())
    let authenticator: Authenticator
    private let transport: any HTTPTransport
    private let user: TestUser

    static func with(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (DemoUser) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret("password".utf8))]
            $0.pollInterval = .milliseconds(20)
            configure(&$0)
        }
        try await TestServer.live(configuration) { server in
            try await body(DemoUser(transport: server.transport, user: server.user()))
        }
    }

    private init(transport: any HTTPTransport, user: TestUser) {
        authenticator = Authenticator(store: store, transport: transport, device: Self.device)
        (self.transport, self.user) = (transport, user)
    }

    /// Creates another authenticator of the same user, with an empty store.
    init(like other: DemoUser) { self.init(transport: other.transport, user: other.user) }

    func enrollPush(pushGateway: Endpoint? = nil) async throws -> Mechanism {
        let uri = try await user.enrollmentURI("PushRegistration")
        return try await authenticator.enroll(uri: uri, pushGateway: pushGateway).mechanisms[0]
    }

    /// Starts a journey with name and password, and returns the next step.
    func begin(_ name: String) async throws -> JourneyStep { try await user.begin(name) }

    /// Waits until a journey ends: returns nil when the user is logged in, otherwise the error.
    func finish(_ waiting: JourneyStep) async throws -> JourneyError.Code? { try await user.finish(waiting) }

    func listen(for mechanism: Mechanism, _ handle: @Sendable (PushStreamListener.Event) async throws -> Void) async throws {
        do {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run(handle)
        } catch is StopListening {}
    }

    /// Returns the first new message that waits for an answer.
    func nextNotification(for mechanism: Mechanism) async throws -> PushNotification {
        let now = SystemWallClock().now
        let known = Set(try await authenticator.notifications().map(\.id))
        try await listen(for: mechanism) { event in
            if case .received(let notification) = event, !known.contains(notification.id) { throw StopListening() }
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
