/// An error from an OAuth 2.0 server, or an answer of the server that can't be used.
///
/// Each case carries the server's description, or one of this SDK when the server sent none. Each case names the ForgeRock SDK's
/// code.
public enum OAuth2Error: FRAuthFailure, Hashable {
    /// The server considers the request malformed: `invalid_request` (code 1500001).
    case invalidAuthorizeRequest(String)
    /// The server doesn't know the client: `invalid_client` (code 1500002).
    case invalidClient(String)
    /// The authorization code or the refresh token has expired or is invalid: `invalid_grant` (code 1500003).
    case invalidGrant(String)
    /// The client is not allowed to make this request: `unauthorized_client` (code 1500004).
    case unauthorizedClient(String)
    /// The server doesn't support this grant type: `unsupported_grant_type` (code 1500005).
    case unsupportedGrantType(String)
    /// The server doesn't answer with an authorization code: `unsupported_response_type` (code 1500006).
    case unsupportedResponseType(String)
    /// The scope is unknown or exceeds the granted scope: `invalid_scope` (code 1500007).
    case invalidScope(String)
    /// The answer goes to an address other than the client's redirect URI, or the redirect URI can't be used (code 1500008).
    case missingOrInvalidRedirectURI(String)
    /// The user or a policy denied the request: `access_denied` (code 1500009).
    case accessDenied(String)
    /// The `state` of the answer doesn't match the request: the answer belongs to another request or is forged (code 1500010).
    case invalidPKCEState(String)
    /// The server reported another error (code 1500098).
    case other(String)
    /// The answer has neither a code nor an error (code 1500099).
    case unknown(String)

    /// The error domain, `com.forgerock.ios.frauth.oauth2`.
    public static var domain: String { "com.forgerock.ios.frauth.oauth2" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidAuthorizeRequest(let reason): (1_500_001, reason)
        case .invalidClient(let reason): (1_500_002, reason)
        case .invalidGrant(let reason): (1_500_003, reason)
        case .unauthorizedClient(let reason): (1_500_004, reason)
        case .unsupportedGrantType(let reason): (1_500_005, reason)
        case .unsupportedResponseType(let reason): (1_500_006, reason)
        case .invalidScope(let reason): (1_500_007, reason)
        case .missingOrInvalidRedirectURI(let reason): (1_500_008, reason)
        case .accessDenied(let reason): (1_500_009, reason)
        case .invalidPKCEState(let reason): (1_500_010, reason)
        case .other(let reason): (1_500_098, reason)
        case .unknown(let reason): (1_500_099, reason)
        }
    }
}

/// An error about a missing or unreadable stored token.
///
/// Each case names the ForgeRock SDK's code.
public enum TokenError: FRAuthFailure, Hashable {
    /// The stored data isn't a token (code 3000000).
    case failToParseToken(String)
    /// The refresh token is missing (code 3000001). This SDK never throws it, because the session then gets new tokens. It exists
    /// for programs that switch over the ForgeRock SDK's errors.
    case nullRefreshToken
    /// No user is logged in (code 3000002).
    case nullToken

    /// The error domain, `com.forgerock.ios.frauth.token`.
    public static var domain: String { "com.forgerock.ios.frauth.token" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .failToParseToken(let reason): (3_000_000, reason)
        case .nullRefreshToken: (3_000_001, "there is no refresh token")
        case .nullToken: (3_000_002, "no user is logged in: there is neither a token nor a session")
        }
    }
}

/// An error of a login in a browser.
///
/// Each case names the ForgeRock SDK's code.
public enum BrowserError: FRAuthFailure, Hashable {
    /// The browser could not be opened, or the requested kind of browser doesn't exist here, with the reason (code 1400000).
    case externalUserAgentFailure(String)
    /// Another login in a browser is in progress (code 1400001).
    case externalUserAgentAuthenticationInProgress
    /// The user or the app canceled the login (code 1400002).
    case externalUserAgentCancelled

    /// The error domain, `com.forgerock.ios.frauth.browser`.
    public static var domain: String { "com.forgerock.ios.frauth.browser" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .externalUserAgentFailure(let reason): (1_400_000, reason)
        case .externalUserAgentAuthenticationInProgress:
            (1_400_001, "another login in a browser is in progress: finish it, or cancel it")
        case .externalUserAgentCancelled: (1_400_002, "the login in the browser was canceled")
        }
    }
}
