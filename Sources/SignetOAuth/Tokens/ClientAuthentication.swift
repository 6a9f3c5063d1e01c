public import SignetCore

/// The method by which a client proves its identity to the server (RFC 6749 section 2.3, OpenID Connect Core section 9).
///
/// It applies to the requests to the token endpoint, the revocation endpoint, the device authorization endpoint, and the endpoints for
/// pushed authorization requests and backchannel authentication. Use the method that is registered for the client at the server. No
/// description or error of the SDK contains the secret.
public enum ClientAuthentication: Sendable, Hashable {
    /// A public client, which has no secret and sends its client ID only.
    ///
    /// An app on the devices of its users is a public client, because each user could read a secret in it.
    case none
    /// `client_secret_basic`: the header `Authorization: Basic` with the client ID and the secret, each of them form-encoded.
    ///
    /// The secret is text in UTF-8.
    case clientSecretBasic(Secret)
    /// `client_secret_post`: the fields `client_id` and `client_secret` of the form.
    ///
    /// The secret is text in UTF-8.
    case clientSecretPost(Secret)
    /// `private_key_jwt`: a new assertion for each request, which the key signs (RFC 7523 section 2.2).
    ///
    /// The server has the public key, and no secret is sent.
    case privateKeyJWT(ClientKey)
}

extension ClientAuthentication: CustomStringConvertible {
    /// The registered name of a method (OpenID Connect Dynamic Client Registration section 2), for settings and errors.
    package enum Method: String, Sendable, CaseIterable {
        case clientSecretBasic = "client_secret_basic"
        case clientSecretPost = "client_secret_post"
        case privateKeyJWT = "private_key_jwt"
        case publicClient = "none"

        /// True when the method requires a secret.
        package var needsSecret: Bool { self == .clientSecretBasic || self == .clientSecretPost }
    }

    /// The registered name of the method: `client_secret_basic`, `client_secret_post`, `private_key_jwt` or `none`.
    public var description: String { method.rawValue }

    /// The method without the secret.
    package var method: Method {
        switch self {
        case .none: .publicClient
        case .clientSecretBasic: .clientSecretBasic
        case .clientSecretPost: .clientSecretPost
        case .privateKeyJWT: .privateKeyJWT
        }
    }

    /// The secret; nil for a public client and for one with a key.
    package var secret: Secret? {
        switch self {
        case .none, .privateKeyJWT: nil
        case .clientSecretBasic(let secret), .clientSecretPost(let secret): secret
        }
    }
}
