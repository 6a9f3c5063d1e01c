public import FRCore
import Foundation
import SignetCore

/// An error from an OAuth 2.0 server, or an answer of the server that can't be used.
///
/// Each case carries the server's description, or one of this SDK when the server sent none. As in the ForgeRock SDK it may also
/// be an address with the parameters `error` and `error_description`. Each case names the ForgeRock SDK's code.
public enum OAuth2Error: CodedFRError, Hashable {
    /// The server considers the request malformed: `invalid_request` (code 1500001).
    case invalidAuthorizeRequest(String?)
    /// The server doesn't know the client: `invalid_client` (code 1500002).
    case invalidClient(String?)
    /// The authorization code or the refresh token has expired or is invalid: `invalid_grant` (code 1500003).
    case invalidGrant(String?)
    /// The client is not allowed to make this request: `unauthorized_client` (code 1500004).
    case unauthorizedClient(String?)
    /// The server doesn't support this grant type: `unsupported_grant_type` (code 1500005).
    case unsupportedGrantType(String?)
    /// The server doesn't answer with an authorization code: `unsupported_response_type` (code 1500006).
    case unsupportedResponseType(String?)
    /// The scope is unknown or exceeds the granted scope: `invalid_scope` (code 1500007).
    case invalidScope(String?)
    /// The answer goes to an address other than the client's redirect URI, or the redirect URI can't be used (code 1500008).
    case missingOrInvalidRedirectURI(String?)
    /// The user or a policy denied the request: `access_denied` (code 1500009).
    case accessDenied(String?)
    /// The `state` of the answer doesn't match the request: the answer belongs to another request or is forged (code 1500010).
    case invalidPKCEState
    /// The server reported another error (code 1500098).
    case other(String?)
    /// The answer has neither a code nor an error (code 1500099).
    case unknown(String?)

    /// The error domain, `com.forgerock.ios.frauth.oauth2`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.oauth2" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }

    /// The server's name of the error, for example `invalid_grant`.
    ///
    /// `unknown` when the server sent none, and `redirect_uri_error` and `invalid_pkce_state` for the errors of this SDK.
    public var error: String {
        switch self {
        case .other(let text), .unknown(let text): Self.parameter("error", of: text) ?? "unknown"
        default: meaning.name
        }
    }

    /// The server's description, or a short one.
    public var message: String {
        let text = meaning.text
        guard let text, !text.isEmpty else { return meaning.words }
        if Self.parameter("error", of: text) != nil { return Self.parameter("error_description", of: text) ?? meaning.words }
        return self.isOwnText ? "\(meaning.words): \(text)" : text
    }

    /// The description of the problem.
    public var description: String {
        guard let text = meaning.text, Self.parameter("error", of: text) == nil else { return message }
        return text
    }

    /// The descriptions and, under the keys of the ForgeRock SDK, the server's name of the error and its description.
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: message, NSLocalizedRecoverySuggestionErrorKey: description, "error": error,
            "error_description": message,
        ]
    }

    /// True for an error whose text is always one of this SDK.
    private var isOwnText: Bool {
        if case .missingOrInvalidRedirectURI = self { true } else { false }
    }

    private static func parameter(_ name: String, of text: String?) -> String? {
        guard let text, text.contains("://"), !text.contains(" ") || text.contains("error=") else { return nil }
        return FormCoding.query(of: text)[name]
    }

    /// The code, the server's name, a short description, and the text of the case.
    ///
    /// The ForgeRock SDK's tests compare the descriptions of the codes 1500008, 1500098 and 1500099.
    private var meaning: (code: Int, name: String, words: String, text: String?) {
        switch self {
        case .invalidAuthorizeRequest(let text):
            (1_500_001, "invalid_request", "The server can't read the authorization request", text)
        case .invalidClient(let text): (1_500_002, "invalid_client", "The server doesn't accept the client", text)
        case .invalidGrant(let text): (1_500_003, "invalid_grant", "The code or the refresh token is not valid any more", text)
        case .unauthorizedClient(let text): (1_500_004, "unauthorized_client", "The client may not do this", text)
        case .unsupportedGrantType(let text):
            (1_500_005, "unsupported_grant_type", "The server doesn't offer this grant type", text)
        case .unsupportedResponseType(let text):
            (1_500_006, "unsupported_response_type", "The server doesn't offer this response type", text)
        case .invalidScope(let text): (1_500_007, "invalid_scope", "The server doesn't grant the scope", text)
        case .missingOrInvalidRedirectURI(let text):
            (1_500_008, "redirect_uri_error", "Missing or invalid redirect_uri", text)
        case .accessDenied(let text): (1_500_009, "access_denied", "The request was denied", text)
        case .invalidPKCEState:
            (1_500_010, "invalid_pkce_state", "The answer belongs to another request, or is forged", nil)
        case .other(let text): (1_500_098, "unknown", "OAuth2 /authorize Error", text)
        case .unknown(let text): (1_500_099, "unknown", "Unknown error", text)
        }
    }
}

/// An error about a missing or unreadable stored token.
///
/// Each case names the ForgeRock SDK's code.
public enum TokenError: CodedFRError, Hashable {
    /// The stored data isn't a token (code 3000000).
    case failToParseToken(String)
    /// The refresh token is missing (code 3000001). This SDK never throws it, because the session then gets new tokens. It exists
    /// for programs that switch over the ForgeRock SDK's errors.
    case nullRefreshToken
    /// No token is stored (code 3000002).
    case nullToken

    /// The error domain, `com.forgerock.ios.frauth.token`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.token" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    // The ForgeRock SDK's tests compare the messages.
    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .failToParseToken(let reason): (3_000_000, "Failed to persist Token: \(reason)", reason)
        case .nullRefreshToken:
            (3_000_001, "Invalid refresh_token: refresh_token is not found", "there is no refresh token")
        case .nullToken:
            (3_000_002, "Invalid token: token is not found", "there is no token: log in, or call getAccessToken()")
        }
    }
}

/// An error of a login in a browser.
///
/// Each case names the ForgeRock SDK's code.
public enum BrowserError: CodedFRError, Hashable {
    /// The browser could not be opened, or the requested kind of browser doesn't exist here (code 1400000).
    ///
    /// ``Browser/lastFailure`` has the reason.
    case externalUserAgentFailure
    /// Another login in a browser is in progress (code 1400001).
    case externalUserAgentAuthenticationInProgress
    /// The user or the app canceled the login (code 1400002).
    case externalUserAgentCancelled

    /// The error domain, `com.forgerock.ios.frauth.browser`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.browser" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    // The ForgeRock SDK's tests compare the messages for a login in progress and a canceled one.
    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .externalUserAgentFailure:
            (
                1_400_000, "The browser could not be opened",
                "the browser could not be opened, or this kind of browser doesn't exist here: use nativeBrowserApp"
            )
        case .externalUserAgentAuthenticationInProgress:
            (
                1_400_001, "External user-agent authentication is currently in progress",
                "another login in a browser is in progress: finish it, or cancel it"
            )
        case .externalUserAgentCancelled:
            (1_400_002, "External user-agent authentication is cancelled", "the login in the browser was canceled")
        }
    }
}
