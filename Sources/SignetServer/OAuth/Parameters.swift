import HTTPTypes
import Hummingbird
import SignetCore

/// The parameters of an OAuth 2.0 request, from a query or a form.
struct Parameters: Sendable, Hashable {
    private let values: [String: String]
    private let lists: [String: [String]]
    /// The `request_uri` under which the client has pushed the parameters (RFC 9126); nil for those of the request itself.
    let requestURI: String?

    /// The parameters that a request may contain more than once (RFC 8707 section 2, RFC 8693 section 2.1).
    private static let listNames: Set = ["resource", "audience"]

    /// Reads `name=value&...` in HTML form encoding.
    ///
    /// A parameter without a value counts as missing, and a repeated parameter is an error (RFC 6749 section 3.1), except those
    /// that ``list(_:)`` returns.
    init(_ text: some StringProtocol) throws(OAuthErrorResponse) {
        requestURI = nil
        do {
            (values, lists) = try FormCoding.decode(text, listing: Self.listNames)
        } catch {
            switch error {
            case .coding: throw .invalidRequest("The request is not in the coding of forms")
            case .duplicate: throw .invalidRequest("Invalid data: duplicate request parameters found")
            }
        }
    }

    /// Reads parameters that a client has pushed.
    /// - Parameters:
    ///   - form: The pushed parameters.
    ///   - uri: Their `request_uri`.
    ///   - names: The parameters of the request that the browser brings to keep.
    ///   - request: The request that the browser brings; nil for none.
    /// - Throws: ``OAuthErrorResponse`` for a form that isn't valid.
    init(
        pushed form: String, as uri: String, keeping names: Set<String> = [], of request: Parameters? = nil
    ) throws(OAuthErrorResponse) {
        let pushed = try Parameters(form)
        let kept = (request?.values ?? [:]).filter { names.contains($0.key) }
        values = pushed.values.merging(kept) { own, _ in own }
        lists = pushed.lists
        requestURI = uri
    }

    /// A parameter; nil when it is missing or empty.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a parameter as received, even when it is empty; nil when it is missing.
    func given(_ name: String) -> String? { values[name] }

    /// Returns the distinct values of a parameter that may occur more than once, `resource` or `audience`.
    func list(_ name: String) -> [String] {
        var seen: Set<String> = []
        return (lists[name] ?? []).filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// Returns the parameters in alphabetical order.
    func fields(without names: Set<String> = []) -> [(name: String, value: String)] {
        let single = values.map { (name: $0.key, value: $0.value) }
        let repeated = lists.flatMap { name, values in values.map { (name: name, value: $0) } }
        // The sort is stable, so the values of a list keep their order.
        return (single + repeated).filter { !names.contains($0.name) }.sorted { $0.name < $1.name }
    }

    func required(_ name: String) throws(OAuthErrorResponse) -> String {
        guard let value = self[name] else { throw .invalidRequest("Missing parameter, '\(name)'") }
        return value
    }

    /// Returns the distinct words of a space-separated list; empty when the parameter is missing.
    func words(_ name: String) -> [String] {
        var seen: Set<String> = []
        return (self[name] ?? "").split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }
}

extension Request {
    /// Returns the query parameters.
    func queryParameters() throws -> Parameters {
        try Parameters(uri.query ?? "")
    }

    /// Reads the parameters in the body, which must be a form.
    func form(_ context: AppRequestContext) async throws -> Parameters {
        let type = (header("content-type") ?? "").lowercased().prefix { $0 != ";" }.trimming(" \t")
        guard type == "application/x-www-form-urlencoded" else {
            throw OAuthErrorResponse.invalidRequest("The request's body is not application/x-www-form-urlencoded")
        }
        guard let text = String(validating: try await bytes(context), as: UTF8.self) else {
            throw OAuthErrorResponse.invalidRequest("The request's body is not UTF-8")
        }
        let form = try Parameters(text)
        context.log.update(form.fields())
        if let client = basicClient { context.log.update([("client_id", client)]) }
        return form
    }

    /// Returns the part of `Authorization` after the scheme; nil when the header is missing or has another scheme.
    func credentials(_ scheme: String) -> String? {
        let parts = (header("authorization") ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme.lowercased() else { return nil }
        return String(parts[1].trimming(" "))
    }
}
