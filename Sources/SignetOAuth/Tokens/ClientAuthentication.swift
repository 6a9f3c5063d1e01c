public import SignetCore

/// The method by which a client proves its identity to the server (RFC 6749 section 2.3, OpenID Connect Core section 9).
///
/// It applies to the requests to the token endpoint, the revocation endpoint and the device authorization endpoint. Use the method
/// that is registered for the client at the server. No description or error of the SDK contains the secret.
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
}

extension ClientAuthentication: CustomStringConvertible {
    /// The registered name of a method (OpenID Connect Dynamic Client Registration section 2), for settings and errors.
    package enum Method: String, Sendable, CaseIterable {
        case clientSecretBasic = "client_secret_basic"
        case clientSecretPost = "client_secret_post"
        case publicClient = "none"

        /// True when the method requires a secret.
        package var needsSecret: Bool { self != .publicClient }
    }

    /// The registered name of the method: `client_secret_basic`, `client_secret_post` or `none`.
    public var description: String { method.rawValue }

    /// The method without the secret.
    package var method: Method {
        switch self {
        case .none: .publicClient
        case .clientSecretBasic: .clientSecretBasic
        case .clientSecretPost: .clientSecretPost
        }
    }

    /// The secret; nil for a public client.
    package var secret: Secret? {
        switch self {
        case .none: nil
        case .clientSecretBasic(let secret), .clientSecretPost(let secret): secret
        }
    }
}
