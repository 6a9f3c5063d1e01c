import SignetCore
package import SignetNetwork

/// A request that the modules of a workflow change before it is sent.
public final class Request: Sendable {
    private let content: Mutex<HTTPRequest>

    /// Creates a request to an address.
    public convenience init(urlString: String = "https://") {
        self.init(HTTPRequest("GET", urlString))
    }

    /// Creates a request from one of the engine.
    package init(_ request: HTTPRequest) {
        content = Mutex(request)
    }

    /// The request in the form of the engine.
    package var message: HTTPRequest { content.withLock { $0 } }

    /// Changes the request.
    package func change(_ body: (inout HTTPRequest) -> Void) { content.withLock { body(&$0) } }

    /// Sets the address, and `application/json` as the content type.
    ///
    /// Does nothing for a text that is not an address.
    public func url(_ urlString: String) {
        guard (try? Endpoint(unchecked: urlString)) != nil else { return }
        change { $0.url = urlString }
        header(name: Constants.contentType, value: ContentType.json.rawValue)
    }

    /// Adds a query parameter.
    public func parameter(name: String, value: String) {
        change { $0.url = FormCoding.address($0.url, adding: [(name: name, value: value)]) }
    }

    /// Sets a header field, which replaces one with the same name.
    public func header(name: String, value: String) {
        change { $0.headers.set(name, value) }
    }

    /// Makes the request a POST with JSON content.
    ///
    /// Members that JSON can't express are left out.
    public func body(body: [String: Any]) {
        content(JSON.encode(JSONValue(any: body) ?? .object([:])), as: .json)
    }

    /// Makes the request a POST with the fields of a form, which are encoded.
    public func form(formData: [String: String]) {
        let fields = formData.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        content(Array(FormCoding.encode(fields).utf8), as: .urlEncoded)
    }

    private func content(_ bytes: [UInt8], as type: ContentType) {
        change { message in
            message.method = HTTPMethod.post.rawValue
            message.headers.set(Constants.contentType, type.rawValue)
            message.body = bytes
        }
    }

    /// Sets the method.
    public func method(_ method: HTTPMethod) {
        change { $0.method = method.rawValue }
    }

    /// Returns the method.
    public func getMethod() -> String? { message.method }

    /// The content types of requests.
    public enum ContentType: String, Sendable {
        /// Text.
        case plainText = "text/plain"
        /// JSON.
        case json = "application/json"
        /// The fields of a form.
        case urlEncoded = "application/x-www-form-urlencoded"
    }

    /// The methods of requests.
    public enum HTTPMethod: String, Sendable {
        /// Reads a resource.
        case get = "GET"
        /// Replaces a resource.
        case put = "PUT"
        /// Sends content.
        case post = "POST"
        /// Removes a resource.
        case delete = "DELETE"
    }

    /// The names and values of header fields.
    public enum Constants {
        /// The content type.
        public static let contentType = "Content-Type"
        /// The accepted content types.
        public static let accept = "Accept"
        /// The SDK.
        public static let xRequestedWith = "x-requested-with"
        /// The platform of the SDK.
        public static let xRequestedPlatform = "x-requested-platform"
        /// The value for ``xRequestedWith``.
        public static let pingSdk = "ping-sdk"
        /// The value for ``xRequestedPlatform`` on iOS.
        public static let ios = "ios"
        /// The credentials.
        public static let authorization = "Authorization"
        /// The accepted languages.
        public static let acceptLanguage = "Accept-Language"
    }
}

/// A part of a step that changes the request with the answer to the step.
public protocol RequestInterceptor {
    /// Returns the request to send: the given one, or a changed one.
    func intercept(context: FlowContext, request: Request) -> Request
}
