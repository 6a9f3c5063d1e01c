public import SignetCore

/// What shows AWS, or who speaks as AWS does, whose request it is.
public struct AWSCredentials: Sendable, Hashable {
    /// The access key's id; it is no secret.
    public var accessKey: String
    /// The access key's secret.
    public var secret: Secret
    /// The token of credentials that are lent for some hours; nil for those that stay.
    public var sessionToken: Secret?

    /// Credentials as given.
    public init(accessKey: String, secret: Secret, sessionToken: Secret? = nil) {
        self.accessKey = accessKey
        self.secret = secret
        self.sessionToken = sessionToken
    }

    /// What stands in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if there is one, `AWS_SESSION_TOKEN`; nil unless both
    /// parts of a key do.
    /// - Parameter environment: The variables of a process.
    public init?(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let id = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else { return nil }
        self.init(
            accessKey: id, secret: Secret(secret.utf8), sessionToken: value("AWS_SESSION_TOKEN").map { Secret($0.utf8) })
    }
}
