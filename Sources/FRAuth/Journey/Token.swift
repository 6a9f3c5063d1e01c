public import SignetCore

/// A session token under the ForgeRock auth family's name. The rest of that family follows; see CHANGELOG.
public struct Token: Sendable, Hashable {
    /// The token, which cannot be printed.
    public let value: Secret
    /// Where the server would send a browser.
    public let successUrl: String
    /// The realm, with a slash in front.
    public let realm: String

    /// A token as the server gave it; the addresses are empty when it gave none.
    public init(value: Secret, successUrl: String = "", realm: String = "") {
        self.value = value
        self.successUrl = successUrl
        self.realm = realm
    }
}
