/// One request and what became of it, in a form that can be logged: it is made of nothing that could be a secret.
///
/// Of an address the query's names stay and its values go; of the headers only those that are listed here show their value; of
/// the content only the length. A program that logs this cannot log a token by mistake, whatever a server invents.
public struct LoggedRequest: Sendable, Hashable, CustomStringConvertible {
    /// What it was for.
    public let action: RequestAction?
    /// The method.
    public let method: String
    /// The address, each value in its query as `…`.
    public let url: String
    /// The request's headers; a value that may be secret is `…`.
    public let requestHeaders: [Field]
    /// The bytes of the request's content.
    public let requestLength: Int
    /// What came of it.
    public let outcome: Outcome

    /// A header whose value may be shown, or is not.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value, or `…`.
        public let value: String
    }

    /// What came of a request.
    public enum Outcome: Sendable, Hashable {
        /// A response, by its status, headers and length.
        case response(status: Int, headers: [Field], length: Int)
        /// None, and why.
        case failure(TransportError)
    }

    /// The summary of a request and its response.
    public init(_ request: HTTPRequest, action: RequestAction? = nil, response: HTTPResponse) {
        self.init(
            request, action: action,
            outcome: .response(
                status: response.status, headers: Self.shown(response.headers), length: response.body.count))
    }

    /// The summary of a request that got none.
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
