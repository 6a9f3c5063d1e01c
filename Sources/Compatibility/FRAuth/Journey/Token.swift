public import SignetCore

/// A session token of AM, with the ForgeRock SDK's name.
public struct Token: Sendable, Hashable {
    /// The token, which cannot be printed.
    public let value: Secret
    /// The address that the server would send a browser to.
    public let successUrl: String
    /// The realm, with a leading slash.
    public let realm: String

    /// Creates a token.
    ///
    /// The address and the realm are empty when the server sent none.
    public init(value: Secret, successUrl: String = "", realm: String = "") {
        self.value = value
        self.successUrl = successUrl
        self.realm = realm
    }
}
