import Foundation
import HTTPTypes
import SignetCore

/// An authorization request that a client has pushed to the server (RFC 9126).
struct PushedRequest: Codable, Sendable, Hashable {
    let client: ClientKey
    /// The parameters of the request, as a form.
    let form: String
    /// True after the browser has brought the request, which then waits for the user's login; nil has the meaning of false.
    var isOpened: Bool?
}

/// The pushed requests that were not answered yet.
struct PushedRequestStore {
    /// The beginning of each `request_uri` of this server (RFC 9126 section 2.2).
    static let prefix = "urn:ietf:params:oauth:request_uri:"

    private var requests: Table<TokenHash, PushedRequest>
    private let now: Date

    init(_ transaction: RowCache) {
        requests = Table(.pushedRequest, transaction)
        now = transaction.now
    }

    /// Stores a request.
    /// - Parameters:
    ///   - request: The request.
    ///   - lifetime: The time until the browser has to bring it, in seconds.
    /// - Returns: The `request_uri`, which contains 256 random bits.
    mutating func add(_ request: PushedRequest, lifetime: Int) -> String {
        let uri = Self.prefix + RandomID.token()
        requests.insert(request, for: TokenHash(uri), until: now.addingTimeInterval(Double(lifetime)))
        return uri
    }

    /// Returns the request with a `request_uri`; nil when it is unknown, has expired or was answered.
    subscript(uri: String) -> PushedRequest? {
        get throws { try requests[TokenHash(uri)] }
    }

    /// Gives the user time to log in for a request that the browser brings for the first time.
    mutating func open(_ uri: String, lifetime: Int) throws {
        guard var request = try self[uri], request.isOpened != true else { return }
        request.isOpened = true
        try requests.extend(request, for: TokenHash(uri), until: now.addingTimeInterval(Double(lifetime)))
    }

    /// Uses a request up.
    ///
    /// Returns false when it was used before.
    mutating func use(_ uri: String) throws -> Bool { try requests.remove(TokenHash(uri)) != nil }
}

extension ServerTransaction {
    /// Returns the parameters of an authorization request: those that the client has pushed, when the request names them.
    ///
    /// Other parameters than the client and the `request_uri` are ignored then, except the mark of the login page.
    /// - Parameters:
    ///   - given: The parameters that the browser sent.
    ///   - realm: The realm of the request.
    /// - Returns: The parameters to decide on.
    /// - Throws: ``OAuthErrorResponse`` for a `request_uri` that isn't valid for the client; `StoreError`.
    func requested(by given: Parameters, in realm: RealmPath) throws -> Parameters {
        guard let uri = given["request_uri"], uri.hasPrefix(PushedRequestStore.prefix) else { return given }
        guard let id = given["client_id"], let pushed = try pushedRequests[uri], pushed.client == ClientKey(realm: realm, id: id)
        else {
            throw OAuthErrorResponse(
                .badRequest, "invalid_request_uri", "The request_uri is unknown, has expired, was used, or is another client's")
        }
        return try Parameters(pushed: pushed.form, as: uri, keeping: [Self.loginMark], of: given)
    }

    /// Records the progress of a pushed request; parameters that weren't pushed change nothing.
    /// - Parameters:
    ///   - request: The parameters.
    ///   - isAnswered: True when the client gets an answer, after which the `request_uri` is invalid (RFC 9126 section 4).
    /// - Throws: `StoreError`.
    mutating func record(_ request: Parameters, isAnswered: Bool) throws {
        guard let uri = request.requestURI else { return }
        if isAnswered {
            _ = try pushedRequests.use(uri)
        } else {
            // A login and the consent after it take a journey's time each, at most.
            try pushedRequests.open(uri, lifetime: 2 * max(1, time.configuration.journeyTimeout))
        }
    }
}
