import FRAuth
import FRCore
import Foundation
import Testing

@Suite("FRAuth errors as NSErrors")
struct ErrorTests {
    private static let domain = "com.forgerock.ios.frauth."

    @Test("Each error is an NSError with the ForgeRock SDK's domain and code, and with a text")
    func bridgesFRAuthErrorsToNSError() {
        let cases: [(any CodedFRError, String, Int, String)] = [
            (AuthError.invalidTokenResponse([:]), "authentication", 1_000_006, "The tokens of the server's answer can't be used"),
            (AuthError.invalidCallbackResponse(""), "authentication", 1_000_007, "Invalid callback response: "),
            (AuthError.unsupportedCallback(""), "authentication", 1_000_008, "Unsupported callback: "),
            (AuthError.invalidAuthServiceResponse(""), "authentication", 1_000_009, "Invalid AuthService response: "),
            (AuthError.invalidOAuth2Client, "authentication", 1_000_010, "The OAuth 2.0 client is not configured"),
            (AuthError.invalidGenericType, "authentication", 1_000_011, "A journey ends with a Token"),
            (AuthError.userAlreadyAuthenticated(true), "authentication", 1_000_020, "A user is already logged in; log out first"),
            (AuthError.userAlreadyAuthenticated(false), "authentication", 1_000_020, "A user is already logged in"),
            (AuthError.authenticationCancelled, "authentication", 1_000_030, "Authentication is cancelled"),
            (AuthError.invalidResumeURI("suspendedId"), "authentication", 1_000_031, "The link resumes no journey: suspendedId"),
            (AuthError.userAuthenticationRequired, "authentication", 1_000_035, "The session has ended"),
            (AuthApiError.apiRequestFailure(nil, nil, nil), "authapierror", 1_300_000, "Request failed"),
            (
                AuthApiError.authenticationTimout("Unauthorized", "Session has timed out", nil, nil), "authapierror", 1_300_001,
                "Authentication timed out"
            ),
            (
                AuthApiError.apiFailureWithMessage("Bad", "No configuration", 400, nil), "authapierror", 1_300_002,
                "No configuration"
            ),
            (
                AuthApiError.suspendedAuthSessionError(
                    "Unauthorized", "org.forgerock.SuspendedAuthSessionException: Token not found.", 401, nil), "authapierror",
                1_300_003, " Token not found."
            ),
            (BrowserError.externalUserAgentFailure, "browser", 1_400_000, "The browser could not be opened"),
            (
                BrowserError.externalUserAgentAuthenticationInProgress, "browser", 1_400_001,
                "External user-agent authentication is currently in progress"
            ),
            (BrowserError.externalUserAgentCancelled, "browser", 1_400_002, "External user-agent authentication is cancelled"),
            (OAuth2Error.missingOrInvalidRedirectURI(nil), "oauth2", 1_500_008, "Missing or invalid redirect_uri"),
            (ConfigError.emptyConfiguration, "configuration", 2_000_000, "There is no configuration"),
            (ConfigError.invalidConfiguration("url"), "configuration", 2_000_001, "Invalid configuration: url"),
            (ConfigError.invalidAccessGroup("group"), "configuration", 2_000_002, "The access group group can't be used"),
            (ConfigError.invalidSDKState, "configuration", 2_000_003, "The SDK is not started"),
            (TokenError.failToParseToken("failure"), "token", 3_000_000, "Failed to persist Token: failure"),
            (TokenError.nullRefreshToken, "token", 3_000_001, "Invalid refresh_token: refresh_token is not found"),
            (TokenError.nullToken, "token", 3_000_002, "Invalid token: token is not found"),
        ]
        for (error, domain, code, text) in cases {
            let object = error as NSError
            #expect(object.domain == Self.domain + domain && object.code == code)
            #expect(error.errorCode == code && error.code == code && type(of: error).errorDomain == object.domain)
            #expect(error.localizedDescription.hasPrefix(text) && object.localizedDescription == error.localizedDescription)
            #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
            #expect(error.recoverySuggestion?.isEmpty == false)
        }
    }

    @Test("An OAuth 2.0 error has the server's name and description, from its text or from an address with both")
    func readsOAuthErrorNameAndDescription() {
        let cases: [(OAuth2Error, name: String, text: String)] = [
            (.invalidGrant("expired"), "invalid_grant", "expired"),
            (.invalidGrant(nil), "invalid_grant", "The code or the refresh token is not valid any more"),
            (.invalidScope("http://localhost.com?error=invalid_scope&error_description=No scope"), "invalid_scope", "No scope"),
            (
                .other("https://app.example.com?error=other_reason&error_description=Other%20reason"), "other_reason",
                "Other reason"
            ),
            (.other(nil), "unknown", "OAuth2 /authorize Error"),
            (.missingOrInvalidRedirectURI(nil), "redirect_uri_error", "Missing or invalid redirect_uri"),
            (.invalidPKCEState, "invalid_pkce_state", "The answer"), (.unknown(nil), "unknown", "Unknown error"),
        ]
        for (error, name, text) in cases {
            #expect(error.error == name && error.localizedDescription.hasPrefix(text), "\(error.localizedDescription)")
            #expect(error.errorUserInfo["error"] as? String == name)
        }
    }

    @Test("The detail and the body of a server's answer can be read, and are in no text of an error")
    func hidesPayloads() {
        let untyped: [String: Any] = ["errorCode": "110", "token": "s3cret"]
        let errors: [any CodedFRError] = [
            AuthApiError.apiFailureWithMessage("Bad Request", "no", 400, untyped),
            AuthApiError.apiRequestFailure(Data("s3cret".utf8), nil, nil), AuthError.invalidTokenResponse(untyped),
        ]
        for error in errors {
            var dumped = ""
            dump(error, to: &dumped)
            let texts = ["\(error)", String(reflecting: error), dumped, "\(error.errorUserInfo)", error.localizedDescription]
            let leaking = texts.filter { $0.contains("s3cret") }
            #expect(leaking.isEmpty)
        }
        guard case .apiFailureWithMessage(let reason, let message, let status, let detail) = errors[0] as? AuthApiError else {
            Issue.record("another error")
            return
        }
        #expect(reason == "Bad Request" && message == "no" && status == 400 && detail?["token"] as? String == "s3cret")
        #expect(errors[0].errorUserInfo["com.forgerock.ios.frauth.authapierror.code"] as? Int == 400)
    }
}
