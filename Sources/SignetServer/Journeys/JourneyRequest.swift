import HTTPTypes
import Hummingbird
import SignetCore

/// The present request, as the nodes of a journey read it.
///
/// It is a value of one transaction and is never stored. Its parts are decoded when a node asks for them.
struct JourneyRequest: Sendable, Hashable {
    var headers: HTTPFields = [:]
    /// The query of the address, without the question mark.
    var query = ""
    /// The IP address of the client; empty for a socket without an address, nil for a client in this process.
    var address: String?
    /// True when a node has taken the name and the password from the headers, so that they are not used again.
    var hasUsedCredentials = false

    /// Returns the values of a header by its name in any case, in the order of the request.
    func values(_ name: String) -> [String] {
        let name = name.lowercased()
        return headers.filter { $0.name.canonicalName == name }.map(\.value)
    }

    /// Returns the first value of a header, with its encoded words decoded (RFC 2047); nil without one.
    func header(_ name: String) -> String? { values(name).first.map { EncodedWords.decode($0) } }

    /// The query parameters by name.
    var parameters: [String: String] { FormCoding.decode(query) }

    /// The cookies by name; the first of several with the same name.
    var cookies: [String: String] {
        let pairs = values("cookie").flatMap { $0.split(separator: ";") }.compactMap { pair -> (String, String)? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0].trimming(" \t")), String(parts[1].trimming(" \t\""))) : nil
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}

extension JourneyRequest {
    /// Reads a request.
    /// - Parameters:
    ///   - request: The request.
    ///   - client: The connection of the client.
    init(_ request: Request, _ client: ClientConnection) {
        headers = request.headers
        query = request.uri.query ?? ""
        address = client.address
    }
}

extension StateStore {
    /// Runs a transaction for a request that may run a journey (``write(_:)``).
    func write<R: Sendable>(
        for request: JourneyRequest, _ body: @escaping @Sendable (inout ServerTransaction) throws -> R
    ) async throws -> R {
        try await write { tx in
            tx.request = request
            return try body(&tx)
        }
    }
}
