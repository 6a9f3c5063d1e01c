import Hummingbird
import Logging
import SignetCore

/// The identity that a client claims, and how it authenticates (RFC 6749 section 2.3, RFC 7523 section 2.2).
struct ClientCredentials: Sendable {
    let id: String
    let secret: Secret?
    let usedBasic: Bool
    /// The client's signed assertion; nil for another kind of authentication.
    fileprivate let assertion: ClientAssertion?
    /// True when the ``assertion`` is valid and was not used before.
    fileprivate(set) var hasProvenKey = false

    /// Reads `client_secret_basic`, `client_secret_post`, `private_key_jwt`, or the client ID alone.
    init(_ request: Request, _ form: Parameters) throws(OAuthErrorResponse) {
        let basic = request.credentials("Basic")
        let methods = [basic != nil, form["client_secret"] != nil, form["client_assertion"] != nil].count { $0 }
        guard methods <= 1 else { throw .invalidRequest("The client authenticates itself in more than one way") }
        if let text = form["client_assertion"] {
            assertion = try Self.assertion(text, form)
            (id, secret, usedBasic) = (assertion?.clientID ?? "", nil, false)
            return
        }
        assertion = nil
        guard let basic else {
            guard let id = form["client_id"] else { throw .invalidClient(usedBasic: false) }
            self.id = id
            secret = form["client_secret"].map { Secret($0.utf8) }
            usedBasic = false
            return
        }
        guard let (id, secret) = Self.pair(basic), form["client_id"].map({ $0 == id }) ?? true else {
            throw .invalidClient(usedBasic: true)
        }
        self.id = id
        self.secret = Secret(secret.utf8)
        usedBasic = true
    }

    /// Reads the assertion, whose client `client_id` must not contradict (RFC 7521 section 4.2).
    private static func assertion(_ text: String, _ form: Parameters) throws(OAuthErrorResponse) -> ClientAssertion {
        guard form["client_assertion_type"] == ClientAssertion.type else {
            throw .invalidRequest("client_assertion_type must be \(ClientAssertion.type)")
        }
        let assertion: ClientAssertion
        do throws(ClientAssertionError) {
            assertion = try ClientAssertion(text)
        } catch {
            throw .invalidClient(error)
        }
        guard form["client_id"].map({ $0 == assertion.clientID }) ?? true else {
            throw .invalidClient(ClientAssertionError(.client))
        }
        return assertion
    }

    /// Decodes the ID and the secret, which are form-encoded and joined with a colon.
    fileprivate static func pair(_ basic: String) -> (String, String)? {
        guard let bytes = try? Base64.decode(basic), let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { FormCoding.decoded($0) ?? String($0) }
        guard parts.count == 2 else { return nil }
        return (parts[0], parts[1])
    }
}

extension OAuthErrorResponse {
    /// The client's assertion is invalid; only the log has the reason.
    fileprivate static func invalidClient(_ error: ClientAssertionError) -> OAuthErrorResponse {
        var response = invalidClient(usedBasic: false)
        response.reason = "\(error)"
        return response
    }
}

extension Request {
    /// The client ID in `Authorization: Basic`; nil without that header.
    var basicClient: String? { credentials("Basic").flatMap { ClientCredentials.pair($0)?.0 } }
}

extension ServerContext {
    /// Reads the credentials of a client, and verifies its assertion if it sent one (RFC 7523 section 3).
    ///
    /// An assertion is used up also when the request is refused later, so that a copy of it never authenticates another request.
    /// - Parameters:
    ///   - request: The request.
    ///   - form: Its parameters.
    ///   - realm: The realm of the request.
    ///   - route: The requested endpoint, whose address the assertion may name as its audience.
    /// - Returns: The credentials for ``ServerTransaction/client(_:in:)``.
    /// - Throws: ``OAuthErrorResponse``; `StoreError` when the state cannot be read or written.
    func credentials(
        _ request: Request, _ form: Parameters, in realm: RealmPath, at route: Route = .accessToken
    ) async throws -> ClientCredentials {
        var credentials = try ClientCredentials(request, form)
        guard let assertion = credentials.assertion else { return credentials }
        let time = time
        let keys = clients[ClientKey(realm: realm, id: credentials.id)]?.keys ?? []
        do throws(ClientAssertionError) {
            try assertion.check(
                keys: keys,
                audiences: [time.issuer(of: realm), time.url(.accessToken, in: realm), time.url(route, in: realm)], at: time.now,
                verifiedBy: JSONWebKey.verify)
        } catch {
            throw OAuthErrorResponse.invalidClient(error)
        }
        let owner = ClientKey(realm: realm, id: credentials.id)
        let isFirst = try await store.write { tx in
            try tx.usedIDs.use(assertion.id, of: .clientAssertion, by: owner, until: assertion.lastUse)
        }
        guard isFirst else { throw OAuthErrorResponse.invalidClient(ClientAssertionError(.replayed)) }
        credentials.hasProvenKey = true
        return credentials
    }
}

extension ServerTransaction {
    /// Returns the client that the credentials authenticate.
    ///
    /// A public client has no secret and must not present one.
    func client(_ credentials: ClientCredentials, in realm: RealmPath) throws(OAuthErrorResponse) -> RegisteredClient {
        guard let client = clients[ClientKey(realm: realm, id: credentials.id)], client.accepts(credentials) else {
            throw .invalidClient(usedBasic: credentials.usedBasic)
        }
        return client
    }
}

extension RegisteredClient {
    fileprivate func accepts(_ credentials: ClientCredentials) -> Bool {
        guard keys.isEmpty else { return credentials.hasProvenKey }
        // Without the generated secret, the client would be a public one.
        guard secret != nil || !generatesSecret else { return false }
        return credentials.assertion == nil && secret == credentials.secret
    }
}
