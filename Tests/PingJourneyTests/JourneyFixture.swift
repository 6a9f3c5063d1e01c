import PingJourney
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport

/// A server with a user and a client, and a machine with a vault on which apps of the Ping SDK run.
struct JourneyFixture: Sendable {
    let url: String
    let network: Network
    let clock: ManualClock
    let keychain: VaultProvider

    static let password = "correct horse"

    static func with(_ body: (JourneyFixture) async throws -> Void) async throws {
        let configuration = ServerConfiguration {
            $0.users = [
                User(
                    name: "demo", password: Secret(password.utf8), realm: "/alpha", claims: ["name": .string("Demo Person")])
            ]
            $0.clients = [
                RegisteredClient(id: "iosClient", redirectURIs: ["com.example.app://callback"]) {
                    $0.realm = "/alpha"
                    $0.scopes = ["openid", "profile", "email"]
                    $0.refreshTokens = .rotate()
                }
            ]
            $0.lifetimes = TokenLifetimes { $0.accessToken = 600 }
        }
        let (clock, memory) = (ManualClock(SystemWallClock().now), MemoryStore())
        try await TestServer.live(configuration, clock: clock) { server in
            try await body(
                JourneyFixture(
                    url: server.url, network: Network(server.transport), clock: clock,
                    keychain: VaultProvider { () throws(StoreError) in memory }))
        }
    }

    /// Returns a machine with an empty vault whose apps log in at an OpenAM.
    static func at(_ server: FakeOpenAM) -> JourneyFixture { at(server.url, DefaultTransport.make()) }

    /// Returns a machine with an empty vault whose apps log in at the server of a transport.
    static func at(_ url: String, _ transport: any HTTPTransport) -> JourneyFixture {
        let memory = MemoryStore()
        return JourneyFixture(
            url: url, network: Network(transport), clock: ManualClock(SystemWallClock().now),
            keychain: VaultProvider { () throws(StoreError) in memory })
    }

    private init(url: String, network: Network, clock: ManualClock, keychain: VaultProvider) {
        (self.url, self.network, self.clock, self.keychain) = (url, network, clock, keychain)
    }

    /// Creates the journeys of an app, which stores what it gets in the vault of this machine.
    func journey(_ configure: (JourneyConfig) -> Void = { _ in }) -> Journey {
        Journey.createJourney { config in
            config.serverUrl = url
            config.realm = "alpha"
            config.logger = LogManager.none
            config.httpClient = HttpClient(transport: network)
            config[setting: JourneySettings.keychain] = keychain
            config[setting: JourneySettings.clock] = clock
            config.module(PingJourney.OidcModule.config) { configureClient($0) }
            configure(config)
        }
    }

    /// Makes the settings of the app's OAuth 2.0 client.
    func configureClient(_ oidc: OidcClientConfig) {
        oidc.clientId = "iosClient"
        oidc.discoveryEndpoint = "\(url)/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"
        oidc.scopes = ["openid", "profile"]
        oidc.redirectUri = "com.example.app://callback"
    }

    /// Returns the HTTP status of a request for the claims about the user of a token.
    func status(of token: Token) async throws -> Int {
        try await network.send(
            HTTPRequest(
                "GET", "\(url)/oauth2/realms/root/realms/alpha/userinfo",
                headers: ["Authorization": "Bearer \(token.accessToken)"])
        ).status
    }
}

/// The network of a fixture, which keeps the requests and can be cut.
final class Network: HTTPTransport {
    private let transport: any HTTPTransport
    private let state = Mutex((requests: [HTTPRequest](), isCut: false))

    init(_ transport: any HTTPTransport) { self.transport = transport }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    func clear() { state.withLock { $0.requests = [] } }
    func cut() { state.withLock { $0.isCut = true } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard !state.withLock({ $0.isCut }) else { throw TransportError(.connect, host: "server", "there is no network") }
        state.withLock { $0.requests.append(request) }
        var response = try await transport.send(request)
        // The server uses the test's clock; its HTTP layer knows only the machine's clock.
        response.headers.set("Date", "")
        return response
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse { try await send(request) }
}

/// The events of a module, in order.
final class EventLog: Sendable {
    private let events = Mutex<[String]>([])
    var all: [String] { events.withLock { $0 } }
    func record(_ text: String) { events.withLock { $0.append(text) } }
}

/// Fills in the name and the password of a step, as a login screen does.
func fill(_ node: ContinueNode, name: String = "demo", password: String = JourneyFixture.password) {
    for callback in node.callbacks {
        switch callback {
        case let field as NameCallback: field.name = name
        case let field as PasswordCallback: field.password = password
        default: break
        }
    }
}

struct Unexpected: Error {}

/// Runs a login and returns the state after the answer.
func logIn(
    _ journey: Journey, password: String = JourneyFixture.password, _ configure: (inout Options) -> Void = { _ in }
) async throws -> any Node {
    guard let step = await journey.start("Login", configure: configure) as? ContinueNode else { throw Unexpected() }
    fill(step, password: password)
    return await step.next()
}
