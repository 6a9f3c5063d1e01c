import Hummingbird
import SignetCore

/// The identity and the secret that a client authenticates with (RFC 6749 section 2.3).
struct ClientCredentials: Sendable {
    let id: String
    let secret: Secret?
    let usedBasic: Bool

    /// Reads `client_secret_basic`, `client_secret_post`, or the client ID alone.
    init(_ request: Request, _ form: Parameters) throws(OAuthErrorResponse) {
        guard let basic = request.credentials("Basic") else {
            guard let id = form["client_id"] else { throw .invalidClient(usedBasic: false) }
            self.id = id
            secret = form["client_secret"].map { Secret($0.utf8) }
            usedBasic = false
            return
        }
        guard form["client_secret"] == nil else { throw .invalidRequest("The client authenticates itself in two ways") }
        guard let (id, secret) = Self.pair(basic), form["client_id"].map({ $0 == id }) ?? true else {
            throw .invalidClient(usedBasic: true)
        }
        self.id = id
        self.secret = Secret(secret.utf8)
        usedBasic = true
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

extension Request {
    /// The client ID in `Authorization: Basic`; nil without that header.
    var basicClient: String? { credentials("Basic").flatMap { ClientCredentials.pair($0)?.0 } }
}

extension ServerTransaction {
    /// Returns the client that the credentials authenticate.
    ///
    /// A public client has no secret and must not present one.
    func client(_ credentials: ClientCredentials, in realm: RealmPath) throws(OAuthErrorResponse) -> RegisteredClient {
        guard let client = clients[ClientKey(realm: realm, id: credentials.id)], client.secret == credentials.secret else {
            throw .invalidClient(usedBasic: credentials.usedBasic)
        }
        return client
    }
}
