public import SignetCore

/// The credentials that sign requests to AWS or to a compatible server.
public struct AWSCredentials: Sendable, Hashable {
    /// The id of the access key.
    ///
    /// It is not secret.
    public var accessKey: String
    /// The secret of the access key.
    public var secret: Secret
    /// The session token of temporary credentials; nil for permanent ones.
    public var sessionToken: Secret?

    /// Creates credentials.
    public init(accessKey: String, secret: Secret, sessionToken: Secret? = nil) {
        self.accessKey = accessKey
        self.secret = secret
        self.sessionToken = sessionToken
    }

    /// Reads the credentials from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set, `AWS_SESSION_TOKEN`.
    ///
    /// The result is nil when the id or the secret of the key is missing.
    /// - Parameter environment: The environment variables of a process.
    public init?(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let id = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else { return nil }
        self.init(
            accessKey: id, secret: Secret(secret.utf8), sessionToken: value("AWS_SESSION_TOKEN").map { Secret($0.utf8) })
    }
}
