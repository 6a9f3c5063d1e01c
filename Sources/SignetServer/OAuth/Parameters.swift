import HTTPTypes
import Hummingbird
import SignetCore

/// The parameters of an OAuth 2.0 request, from a query or a form.
struct Parameters: Sendable, Hashable {
    private let values: [String: String]

    /// Reads `name=value&...` in HTML form encoding.
    ///
    /// A parameter without a value counts as missing, and a repeated parameter is an error (RFC 6749 section 3.1).
    init(_ text: some StringProtocol) throws(OAuthErrorResponse) {
        do {
            values = try FormCoding.decodeOnce(text)
        } catch {
            switch error {
            case .coding: throw .invalidRequest("The request is not in the coding of forms")
            case .duplicate: throw .invalidRequest("Invalid data: duplicate request parameters found")
            }
        }
    }

    /// A parameter; nil when it is missing or empty.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a parameter as received, even when it is empty; nil when it is missing.
    func given(_ name: String) -> String? { values[name] }

    /// Returns the parameters in alphabetical order.
    func fields(without names: Set<String> = []) -> [(name: String, value: String)] {
        values.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
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
