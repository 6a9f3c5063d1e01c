import SignetNetwork

/// Sees each request of the SDK before it is sent, and may change it.
public protocol RequestInterceptor: Sendable {
    /// The request to send instead; the same one to leave it as it is.
    func intercept(request: Request, action: Action) -> Request
}

/// A request, as interceptors see it.
public struct Request: Sendable, Hashable {
    /// The whole address.
    public var url: String
    /// The method, in upper case.
    public var method: String
    /// The header fields; of several with one name the last.
    public var headers: [String: String]
    /// The content.
    public var body: [UInt8]
    /// Seconds to wait for the answer.
    public var timeoutInterval: Double

    /// A request as given.
    public init(url: String, method: String, headers: [String: String] = [:], body: [UInt8] = [], timeoutInterval: Double = 60) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.timeoutInterval = timeoutInterval
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// Method and address without its query.
    public var description: String { "\(method) \(url.prefix { $0 != "?" })" }
    /// Nothing: headers and content carry secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a request is for: `START_AUTHENTICATE`, `AUTHENTICATE`, `RESUME_AUTHENTICATE`, `AUTHORIZE`, `EXCHANGE_TOKEN`, `REFRESH_TOKEN`,
/// `REVOKE_TOKEN`, `LOGOUT`, `USER_INFO`, `END_SESSION`.
public struct Action: Sendable, Hashable {
    /// The name.
    public let type: String
    /// More about it: for steps of a journey `tree` and `type`.
    public let payload: [String: String]

    /// An action as given.
    public init(type: String, payload: [String: String] = [:]) {
        self.type = type
        self.payload = payload
    }
}

/// The interceptors of this process, as the original has them.
public struct RequestInterceptorRegistry: Sendable {
    /// The one of this process.
    public static var shared: RequestInterceptorRegistry { RequestInterceptorRegistry() }

    /// Has interceptors see every request from now on, in this order; nil takes all away.
    /// - Parameters:
    ///   - interceptors: the interceptors.
    ///   - shouldOverride: whether they take the place of those that there are, or come behind them.
    public func registerInterceptors(interceptors: [any RequestInterceptor]?, shouldOverride: Bool = true) {
        FRAuthProcess.current.setInterceptors { old in
            guard let interceptors else { return [] }
            return shouldOverride ? interceptors : old + interceptors
        }
    }
}

/// The process's interceptors, asked at each request.
struct LegacyInterceptors: SignetNetwork.RequestInterceptor {
    let process: FRAuthProcess

    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        let interceptors = process.interceptors
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
