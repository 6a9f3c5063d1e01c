import FRAuth
import FRCore
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport
import Testing

import class FRAuth.AccessToken
import protocol FRCore.RequestInterceptor

/// A log of lines that a test collects.
final class Log: Sendable {
    private let all = Mutex<[String]>([])
    var lines: [String] { all.withLock { $0 } }
    func append(_ line: String) { all.withLock { $0.append(line) } }
    func clear() { all.withLock { $0 = [] } }
}

struct Unexpected: Error {}

/// A machine with a vault on which programs run one after another, and a real server for them.
struct FRAuthFixture: Sendable {
    /// The server's address.
    let url: String
    let server: DevServer
    let keychain: VaultProvider
    let directory: TemporaryDirectory
    /// The clock of the server and of the programs.
    let clock: ManualClock
    /// The requests of the programs to the server, with their addresses.
    let requests = RequestLog()

    static let password = "correct horse"

    static func with(
        lifetimes: TokenLifetimes = TokenLifetimes(), refreshTokens: RegisteredClient.RefreshTokens = .rotate(),
        _ body: (FRAuthFixture) async throws -> Void
    ) async throws {
        let clients = [("iosClient", "/alpha"), ("iosClient", "/"), ("otherClient", "/alpha")].map { id, realm in
            RegisteredClient(
                id: id,
                redirectURIs: [
                    "frauth://com.forgerock.ios.frexample", "frauth://com.forgerock.ios.other", "http://127.0.0.1/callback",
                ]
            ) {
                $0.realm = realm
                $0.scopes = ["openid", "profile", "email", "address"]
                $0.refreshTokens = refreshTokens
                $0.postLogoutRedirectURIs = ["frauth://bye"]
            }
        }
        let configuration = ServerConfiguration {
            $0.users = ["/alpha", "/"].map {
                User(name: "demo", password: Secret(password.utf8), realm: $0, claims: ["name": .string("Demo Person")])
            }
            $0.clients = clients
            $0.lifetimes = lifetimes
            $0.pollInterval = .milliseconds(20)
        }
        let clock = ManualClock(SystemWallClock().now)
        let memory = MemoryStore()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            try await TestServer.live(configuration, clock: clock) { server in
                try await body(
                    FRAuthFixture(
                        url: server.url, server: server.devServer, keychain: VaultProvider { () throws(StoreError) in memory },
                        directory: directory,
                        clock: clock))
            }
        }
    }

    private init(url: String, server: DevServer, keychain: VaultProvider, directory: TemporaryDirectory, clock: ManualClock) {
        (self.url, self.server, self.keychain, self.directory, self.clock) = (url, server, keychain, directory, clock)
    }

    /// The ForgeRock documentation's settings, with this server's address.
    var options: FROptions {
        FROptions(
            url: url, realm: "alpha", cookieName: "iPlanetDirectoryPro", oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample", oauthScope: "openid profile email address",
            authServiceName: "Login", registrationServiceName: "Register")
    }

    /// Runs a program from its start to its end.
    @discardableResult
    func program<R>(
        application: String = "app", _ configure: (inout LegacyAuthSettings) -> Void = { _ in },
        _ body: () async throws -> R
    ) async throws -> R {
        let settings = LegacyAuthSettings {
            $0.keychain = keychain
            $0.application = application
            $0.lockFile = directory.file("\(application).lock")
            $0.folders = []
            $0.clock = clock
            configure(&$0)
        }
        return try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
            try await FRAuthProcess.$current.withValue(FRAuthProcess(settings)) {
                RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [requests])
                return try await body()
            }
        }
    }

    /// Runs a program that has started the SDK with the ForgeRock documentation's settings.
    @discardableResult
    func started<R>(_ body: () async throws -> R) async throws -> R {
        try await program {
            try FRAuth.start(options: options)
            return try await body()
        }
    }

    /// Returns `true` if the server accepts an access token.
    func takes(_ token: AccessToken) async throws -> Bool {
        try await AsyncHTTPTransport().use { transport in
            let request = HTTPRequest(
                "GET", "\(url)/oauth2/realms/root/realms/alpha/userinfo",
                headers: ["Authorization": token.buildAuthorizationHeader()])
            return try await transport.send(request).status == 200
        }
    }

    /// Returns `true` if the server knows a session.
    func knows(_ token: Token) async throws -> Bool {
        try await AsyncHTTPTransport().use { transport in
            let request = HTTPRequest(
                "POST", "\(url)/json/realms/root/realms/alpha/sessions?_action=getSessionInfo",
                headers: [
                    "iPlanetDirectoryPro": token.value.text, "Accept-API-Version": "resource=2.1",
                    "Content-Type": "application/json",
                ], body: Array("{}".utf8))
            return try await transport.send(request).status == 200
        }
    }
}

/// A log of the programs' requests.
final class RequestLog: RequestInterceptor {
    private let all = Mutex<[(action: Action, request: Request)]>([])

    /// The action names of the requests, in order.
    var names: [String] { all.withLock { $0.map(\.action.type) } }

    /// Returns the last request with an action name.
    func last(_ name: String) -> Request? { all.withLock { $0.last { $0.action.type == name }?.request } }

    func clear() { all.withLock { $0 = [] } }

    func intercept(request: Request, action: Action) -> Request {
        all.withLock { $0.append((action, request)) }
        return request
    }
}

/// Fills in name and password.
func fill(_ node: Node, password: String = FRAuthFixture.password) {
    for callback in node.callbacks {
        switch callback {
        case let name as NameCallback: name.setValue("demo")
        case let field as PasswordCallback: field.setValue(password)
        default: break
        }
    }
}

/// Logs a user in, with tokens.
@discardableResult
func logIn() async throws -> FRUser {
    guard case .node(let node) = try await FRUser.login() else { throw Unexpected() }
    fill(node)
    guard case .success(let user?) = try await node.next(FRUser.self) else { throw Unexpected() }
    return user
}

/// Logs a user in, with a session and no tokens.
@discardableResult
func logInForSession() async throws -> Token {
    guard case .node(let node) = try await FRSession.authenticate(Token.self, authIndexValue: "Login") else { throw Unexpected() }
    fill(node)
    guard case .success(let token?) = try await node.next(Token.self) else { throw Unexpected() }
    return token
}

/// A change of some settings.
struct Change: Sendable {
    let apply: @Sendable (inout FROptions) -> Void
    init(_ apply: @escaping @Sendable (inout FROptions) -> Void) { self.apply = apply }
}
