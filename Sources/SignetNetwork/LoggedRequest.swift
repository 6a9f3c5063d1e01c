/// A summary of a request and its outcome that is safe to log: it contains nothing that could be a secret.
///
/// It keeps the names in the query of the address, but not the values. It shows the values of headers only if they are known to
/// be harmless. Of the content it shows only the length. A program that logs this summary cannot log a token by mistake, whatever
/// a server sends.
public struct LoggedRequest: Sendable, Hashable, CustomStringConvertible {
    /// The purpose of the request.
    public let action: RequestAction?
    /// The HTTP method.
    public let method: String
    /// The address, with `…` for each value in its query.
    public let url: String
    /// The headers of the request, with `…` for each value that may be secret.
    public let requestHeaders: [Field]
    /// The length of the request's content, in bytes.
    public let requestLength: Int
    /// The result of the exchange.
    public let outcome: Outcome

    /// A header field.
    ///
    /// Its value is `…` if it may be secret.
    public typealias Field = HTTPHeaders.Field

    /// The result of an exchange.
    public enum Outcome: Sendable, Hashable {
        /// A response, with its status, headers and length in bytes.
        case response(status: Int, headers: [Field], length: Int)
        /// A failure before a complete response.
        case failure(TransportError)
    }

    /// Summarizes a request and its response.
    public init(_ request: HTTPRequest, action: RequestAction? = nil, response: HTTPResponse) {
        self.init(
            request, action: action,
            outcome: .response(
                status: response.status, headers: Self.shown(response.headers), length: response.body.count))
    }

    /// Summarizes a request without a response.
    public init(_ request: HTTPRequest, action: RequestAction? = nil, failure: TransportError) {
        self.init(request, action: action, outcome: .failure(failure))
    }

    private init(_ request: HTTPRequest, action: RequestAction?, outcome: Outcome) {
        self.action = action
        method = request.method
        url = Self.shown(request.url)
        requestHeaders = Self.shown(request.headers)
        requestLength = request.body.count
        self.outcome = outcome
    }

    /// One line: `POST https://… 200, 512 bytes`.
    public var description: String {
        let what = (action.map { "\($0.name) " } ?? "") + "\(method) \(url)"
        switch outcome {
        case .response(let status, _, let length): return "\(what) \(status), \(length) bytes"
        case .failure(let error): return "\(what) failed: \(error.reason)"
        }
    }

    private static let harmless: Set<String> = [
        "accept", "accept-api-version", "accept-language", "content-type", "content-length", "date", "server", "retry-after",
        "content-api-version", "x-requested-with", "x-requested-platform", "cache-control", "connection", "transfer-encoding",
    ]

    private static func shown(_ headers: HTTPHeaders) -> [Field] {
        headers.fields.map { Field(name: $0.name, value: harmless.contains($0.name.lowercased()) ? $0.value : "…") }
    }

    private static func shown(_ url: String) -> String {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return String(parts[0]) }
        let names = parts[1].split(separator: "&").map { part in
            "\(part.prefix { $0 != "=" })=…"
        }
        return "\(parts[0])?\(names.joined(separator: "&"))"
    }
}
