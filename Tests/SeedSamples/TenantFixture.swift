import FRAuth
import FRCore
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport

import protocol FRCore.RequestInterceptor

/// The server of the ForgeRock documentation, `https://tenant.forgeblocks.com/am`: a real one of this machine, to which the
/// requests for that address go, and a machine with a vault on which programs use it.
struct TenantFixture: Sendable {
    let clock: ManualClock
    let network = TenantNetwork()
    private let port: Int
    private let keychain: VaultProvider
    let directory: TemporaryDirectory

    static let host = "https://tenant.forgeblocks.com"
    static let password = "correct horse"

    /// Runs `body` with a server whose client gets these refresh tokens.
    static func with(
        refreshTokens: RegisteredClient.RefreshTokens = .rotate(),
        _ body: @escaping @Sendable (TenantFixture) async throws -> Void
    ) async throws {
        var configuration = Self.configuration(refreshTokens: refreshTokens)
        configuration.publicURL = "\(host)/am"
        let served = configuration
        let clock = ManualClock(SystemWallClock().now)
        let (memory, port) = (MemoryStore(), try ReservedPort())
        try await TemporaryDirectory.with(inMemory: true) { directory in
            try await TestServer.live(served, port: port, clock: clock) { _ in
                try await body(
                    TenantFixture(
                        clock: clock, port: port.number, keychain: VaultProvider { () throws(StoreError) in memory },
                        directory: directory))
            }
        }
    }

    /// Returns the server's configuration without its address: a user, and the documentation's client with these refresh tokens and
    /// these lifetimes of access tokens and refresh tokens in seconds.
    static func configuration(
        refreshTokens: RegisteredClient.RefreshTokens = .rotate(), accessToken: Int = 600, refreshToken: Int = 900
    ) -> ServerConfiguration {
        ServerConfiguration {
            $0.cookieName = "46b42b4229cd7a3"
            $0.users = [User(name: "demo", password: Secret(password.utf8), realm: "/alpha")]
            $0.clients = [
                RegisteredClient(id: "iosClient", redirectURIs: ["frauth://com.forgerock.ios.frexample"]) {
                    $0.realm = "/alpha"
                    $0.scopes = ["openid", "profile", "email", "address"]
                    $0.refreshTokens = refreshTokens
                }
            ]
            $0.lifetimes = TokenLifetimes {
                $0.accessToken = accessToken
                $0.refreshToken = refreshToken
            }
        }
    }

    private init(clock: ManualClock, port: Int, keychain: VaultProvider, directory: TemporaryDirectory) {
        (self.clock, self.port, self.keychain, self.directory) = (clock, port, keychain, directory)
    }

    /// Sends a request from outside any program.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await AsyncHTTPTransport().use { connections in
            try await Tunnel(connections: connections, port: port, network: network).send(request)
        }
    }

    /// Runs a program from its start to its end.
    @discardableResult
    func program<R>(application: String = "app", _ body: () async throws -> R) async throws -> R {
        try await AsyncHTTPTransport().use { connections in
            let tunnel = Tunnel(connections: connections, port: port, network: network)
            let settings = LegacyAuthSettings {
                $0.keychain = keychain
                $0.application = application
                $0.lockFile = directory.file("lock")
                $0.folders = [directory.path]
                $0.transport = tunnel
                $0.clock = clock
            }
            return try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
                try await FRAuthProcess.$current.withValue(FRAuthProcess(settings)) {
                    RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [network])
                    return try await body()
                }
            }
        }
    }
}

/// The network between programs and the tenant: records requests, and can be cut.
final class TenantNetwork: RequestInterceptor {
    private let state = Mutex((asked: [String](), isCut: false))

    /// The ForgeRock SDK's action names of the requests, in order, without those for the server's metadata.
    var asked: [String] { state.withLock { $0.asked.filter { !["WELL_KNOWN", "KEYS"].contains($0) } } }

    func clear() { state.withLock { $0.asked = [] } }
    func cut() { state.withLock { $0.isCut = true } }
    var isCut: Bool { state.withLock { $0.isCut } }

    func intercept(request: Request, action: Action) -> Request {
        state.withLock { $0.asked.append(action.type) }
        return request
    }
}

/// Sends requests for the documentation's server to the local server.
private struct Tunnel: HTTPTransport {
    let connections: AsyncHTTPTransport
    let port: Int
    let network: TenantNetwork

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard !network.isCut, request.url.hasPrefix(TenantFixture.host) else {
            throw TransportError(.connect, host: "tenant.forgeblocks.com", "there is no network")
        }
        var request = request
        request.url = "http://127.0.0.1:\(port)" + request.url.dropFirst(TenantFixture.host.count)
        var response = try await connections.send(request)
        // The server uses the test's clock; its HTTP layer knows only the machine's clock.
        response.headers.set("Date", "")
        return response
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse { try await send(request) }
}

/// Enters name and password as a user types them on the screen of the samples.
func type(into node: Node) {
    for callback in node.callbacks {
        if let name = callback as? NameCallback { name.setValue("demo") }
        if let password = callback as? PasswordCallback { password.setValue(TenantFixture.password) }
    }
}

/// Logs a user in at the app's screen.
func personLogsIn() async throws {
    let _: FRUser = try await withCheckedThrowingContinuation { done in
        FRUser.login { (_: FRUser?, node, error) in
            guard let node else { return done.resume(throwing: error ?? CancellationError()) }
            type(into: node)
            node.next { (user: FRUser?, _, error) in
                done.resume(with: user.map { .success($0) } ?? .failure(error ?? CancellationError()))
            }
        }
    }
}
