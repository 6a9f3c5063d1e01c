import SignetNetwork
import Synchronization

/// An interceptor that sees each request of the SDK before it is sent, and may change it.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send: a changed one, or the given one.
    func intercept(request: Request, action: Action) -> Request
}

/// A request in the form that interceptors see.
public struct Request: Sendable, Hashable {
    /// The whole address.
    public var url: String
    /// The method, in upper case.
    public var method: String
    /// The header fields.
    ///
    /// When several fields have the same name, this has the last one.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]
    /// The timeout in seconds.
    public var timeoutInterval: Double

    /// Creates a request.
    public init(url: String, method: String, headers: [String: String] = [:], body: [UInt8] = [], timeoutInterval: Double = 60) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.timeoutInterval = timeoutInterval
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// The method, and the address without its query.
    public var description: String { "\(method) \(url.prefix { $0 != "?" })" }
    /// An empty mirror, because headers and body contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The purpose of a request: `START_AUTHENTICATE`, `AUTHENTICATE`, `RESUME_AUTHENTICATE`, `AUTHORIZE`, `EXCHANGE_TOKEN`,
/// `REFRESH_TOKEN`, `REVOKE_TOKEN`, `LOGOUT`, `USER_INFO` or `END_SESSION`.
public struct Action: Sendable, Hashable {
    /// The name.
    public let type: String
    /// Details of the action: `tree` and `type` for the steps of a journey.
    public let payload: [String: String]

    /// Creates an action.
    public init(type: String, payload: [String: String] = [:]) {
        self.type = type
        self.payload = payload
    }
}

/// The interceptors of this process, with the interface of the ForgeRock SDK.
public struct RequestInterceptorRegistry: Sendable {
    /// The registry of this process.
    public static var shared: RequestInterceptorRegistry { RequestInterceptorRegistry() }

    /// Registers interceptors, which see every request from now on, in this order.
    ///
    /// Nil removes all interceptors.
    /// - Parameters:
    ///   - interceptors: The interceptors.
    ///   - shouldOverride: True to replace the registered interceptors; false to append to them.
    public func registerInterceptors(interceptors: [any RequestInterceptor]?, shouldOverride: Bool = true) {
        FRAuthProcess.current.state.withLock { state in
            if interceptors == nil || shouldOverride { state.interceptors = [] }
            state.interceptors += interceptors ?? []
        }
    }
}

/// Applies the process's interceptors to each request.
struct LegacyInterceptors: SignetNetwork.RequestInterceptor {
    let process: FRAuthProcess

    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        let interceptors = process.state.withLock { $0.interceptors }
        guard !interceptors.isEmpty else { return request }
        let fields = request.headers.fields.map { ($0.name, $0.value) }
        var seen = Request(
            url: request.url, method: request.method, headers: Dictionary(fields, uniquingKeysWith: { $1 }), body: request.body,
            timeoutInterval: request.timeout / .seconds(1))
        let original = seen
        for interceptor in interceptors {
            seen = interceptor.intercept(request: seen, action: Action(type: action.name, payload: action.payload))
        }
        guard seen != original else { return request }
        var headers: HTTPHeaders = [:]
        for (name, value) in seen.headers.sorted(by: { $0.key < $1.key }) { headers.append(name, value) }
        return HTTPRequest(seen.method, seen.url, headers: headers, body: seen.body, timeout: .seconds(seen.timeoutInterval))
    }
}
