/// What an OAuth 2.0 server said in place of a token, and what about its answer cannot be used. Each carries the server's explanation, or
/// ours where it gave none.
public enum OAuth2Error: FRAuthFailure, Hashable {
    /// The request is not as the server wants it: `invalid_request` (1500001).
    case invalidAuthorizeRequest(String)
    /// The server does not know the client: `invalid_client` (1500002).
    case invalidClient(String)
    /// The code or the refresh token is over: `invalid_grant` (1500003).
    case invalidGrant(String)
    /// The client may not do this: `unauthorized_client` (1500004).
    case unauthorizedClient(String)
    /// The server does not give tokens in this way: `unsupported_grant_type` (1500005).
    case unsupportedGrantType(String)
    /// The server does not answer with a code: `unsupported_response_type` (1500006).
    case unsupportedResponseType(String)
    /// The scope is unknown, or more than was granted: `invalid_scope` (1500007).
    case invalidScope(String)
    /// The answer goes elsewhere than to the client's redirect address, or that address is none that can be used (1500008).
    case missingOrInvalidRedirectURI(String)
    /// The person, or a policy, said no: `access_denied` (1500009).
    case accessDenied(String)
    /// The answer does not carry the state of the request: it is somebody else's, or forged (1500010).
    case invalidPKCEState(String)
    /// Another error that the server named (1500098).
    case other(String)
    /// The answer has neither a code nor an error (1500099).
    case unknown(String)

    /// `com.forgerock.ios.frauth.oauth2`
    public static var domain: String { "com.forgerock.ios.frauth.oauth2" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidAuthorizeRequest: 1_500_001
        case .invalidClient: 1_500_002
        case .invalidGrant: 1_500_003
        case .unauthorizedClient: 1_500_004
        case .unsupportedGrantType: 1_500_005
        case .unsupportedResponseType: 1_500_006
        case .invalidScope: 1_500_007
        case .missingOrInvalidRedirectURI: 1_500_008
        case .accessDenied: 1_500_009
        case .invalidPKCEState: 1_500_010
        case .other: 1_500_098
        case .unknown: 1_500_099
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidAuthorizeRequest(let reason), .invalidClient(let reason), .invalidGrant(let reason),
            .unauthorizedClient(let reason), .unsupportedGrantType(let reason), .unsupportedResponseType(let reason),
            .invalidScope(let reason), .missingOrInvalidRedirectURI(let reason), .accessDenied(let reason),
            .invalidPKCEState(let reason), .other(let reason), .unknown(let reason):
            reason
        }
    }
}

/// Why there is no token in what is stored.
public enum TokenError: FRAuthFailure, Hashable {
    /// What is stored is no token (3000000).
    case failToParseToken(String)
    /// There is no refresh token (3000001). Here nothing throws it, as the session gets new tokens then; it is there for programs that
    /// switch over the original's errors.
    case nullRefreshToken
    /// Nobody is logged in (3000002).
    case nullToken

    /// `com.forgerock.ios.frauth.token`
    public static var domain: String { "com.forgerock.ios.frauth.token" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .failToParseToken: 3_000_000
        case .nullRefreshToken: 3_000_001
        case .nullToken: 3_000_002
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .failToParseToken(let reason): reason
        case .nullRefreshToken: "there is no refresh token"
        case .nullToken: "nobody is logged in: there is neither a token nor a session"
        }
    }
}

/// Why a login in a browser did not end with tokens.
public enum BrowserError: FRAuthFailure, Hashable {
    /// No browser could be opened, or not one of the kind that was asked for; why (1400000).
    case externalUserAgentFailure(String)
    /// Another login in a browser is under way (1400001).
    case externalUserAgentAuthenticationInProgress
    /// The person, or the app, gave up (1400002).
    case externalUserAgentCancelled

    /// `com.forgerock.ios.frauth.browser`
    public static var domain: String { "com.forgerock.ios.frauth.browser" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .externalUserAgentFailure: 1_400_000
        case .externalUserAgentAuthenticationInProgress: 1_400_001
        case .externalUserAgentCancelled: 1_400_002
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .externalUserAgentFailure(let reason): reason
        case .externalUserAgentAuthenticationInProgress: "another login in a browser is under way: finish it, or cancel it"
        case .externalUserAgentCancelled: "the login in the browser was given up"
        }
    }
}
