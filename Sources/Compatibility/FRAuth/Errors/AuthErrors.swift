public import SignetJourney

/// An error of a journey that the app caused, or that the form of the server's answer caused.
///
/// Each case names the ForgeRock SDK's code.
public enum AuthError: FRAuthFailure, Hashable {
    /// The server's answer lacks a token, or has an ID token that fails validation, with the reason (code 1000006).
    case invalidTokenResponse(String)
    /// A callback doesn't match its type, with a description of the callback (code 1000007). A class of the app may throw this
    /// error; a plain ``Callback`` then takes its place.
    case invalidCallbackResponse(String)
    /// No class is registered for a callback, with its type (code 1000008). This SDK never throws it, because a plain
    /// ``Callback`` stands for such a callback. It exists for programs that switch over the ForgeRock SDK's errors.
    case unsupportedCallback(String)
    /// The server's answer is neither a step nor a session (code 1000009).
    case invalidAuthServiceResponse(String)
    /// The OAuth 2.0 client is not configured (code 1000010).
    case invalidOAuth2Client
    /// The requested result type is not one that a journey ends with (code 1000011).
    case invalidGenericType
    /// A user is already logged in. The value is true when the user has OAuth 2.0 tokens (code 1000020).
    case userAlreadyAuthenticated(Bool)
    /// The user canceled (code 1000030).
    case authenticationCancelled
    /// The address to resume a journey has no `suspendedId` (code 1000031).
    case invalidResumeURI(String)
    /// The session and the tokens have ended; the user must log in again (code 1000035).
    case userAuthenticationRequired

    /// The error domain, `com.forgerock.ios.frauth.authentication`.
    public static var domain: String { "com.forgerock.ios.frauth.authentication" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidTokenResponse(let reason): (1_000_006, "the response has no valid token: \(reason)")
        case .invalidCallbackResponse(let callback): (1_000_007, "a callback lacks a part that its type needs: \(callback)")
        case .unsupportedCallback(let type): (1_000_008, "no class is registered for \(type)")
        case .invalidAuthServiceResponse(let reason): (1_000_009, "the response is neither a step nor a session: \(reason)")
        case .invalidOAuth2Client: (1_000_010, "the OAuth 2.0 client is not configured")
        case .invalidGenericType: (1_000_011, "a journey ends with a Token, an AccessToken or an FRUser")
        case .userAlreadyAuthenticated(true): (1_000_020, "a user is already logged in; log out first")
        case .userAlreadyAuthenticated(false):
            (1_000_020, "a user is already logged in, with a session and without tokens; log out first")
        case .authenticationCancelled: (1_000_030, "the login was canceled")
        case .invalidResumeURI(let reason): (1_000_031, reason)
        case .userAuthenticationRequired: (1_000_035, "the session has ended; log in again")
        }
    }
}

/// An error that the server reported in a journey.
///
/// Each case names the ForgeRock SDK's code.
public enum AuthApiError: FRAuthFailure, Hashable {
    /// The server rejected the request without a reason, with the HTTP status (code 1300000).
    case apiRequestFailure(status: Int)
    /// The journey exceeded the server's time limit (code 1300001). The spelling is the ForgeRock SDK's.
    case authenticationTimout(String)
    /// The server rejected the request with a reason and a message (code 1300002).
    case apiFailureWithMessage(reason: String, message: String, status: Int, failure: JourneyError)
    /// The link to resume a journey has expired or was already used (code 1300003).
    case suspendedAuthSessionError(String)

    /// The error domain, `com.forgerock.ios.frauth.authapierror`.
    public static var domain: String { "com.forgerock.ios.frauth.authapierror" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .apiRequestFailure(let status): (1_300_000, "the server rejected the request (HTTP \(status))")
        case .authenticationTimout(let message): (1_300_001, message)
        case .apiFailureWithMessage(_, let message, let status, _): (1_300_002, "\(message) (HTTP \(status))")
        case .suspendedAuthSessionError(let message): (1_300_003, message)
        }
    }
}

/// An error of the configuration: the SDK can't be started, or can't be used yet.
///
/// Each case names the ForgeRock SDK's code.
public enum ConfigError: FRAuthFailure, Hashable {
    /// No configuration was found (code 2000000).
    case emptyConfiguration
    /// The configuration is invalid, with the reason (code 2000001).
    case invalidConfiguration(String)
    /// The access group is invalid, with the group (code 2000002).
    case invalidAccessGroup(String)
    /// The SDK is not started, or has no OAuth 2.0 client (code 2000003).
    case invalidSDKState

    /// The error domain, `com.forgerock.ios.frauth.configuration`.
    public static var domain: String { "com.forgerock.ios.frauth.configuration" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .emptyConfiguration:
            (
                2_000_000,
                "there is no configuration: pass options, or put FRAuthConfig.plist or FRAuthConfig.json beside the program"
            )
        case .invalidConfiguration(let reason): (2_000_001, "the configuration is invalid: \(reason)")
        case .invalidAccessGroup(let group): (2_000_002, "the access group \(group) is invalid")
        case .invalidSDKState: (2_000_003, "the SDK is not started, or has no OAuth 2.0 client: call FRAuth.start() first")
        }
    }
}

/// An error of the network, or an unreadable answer.
///
/// Each case names the ForgeRock SDK's code.
public enum NetworkError: FRAuthFailure, Hashable {
    /// The answer isn't a JSON object (code 5000003).
    case invalidResponseDataType
    /// The request can't be made, with the reason (code 5000005).
    case invalidRequest(String)
    /// No answer arrived, with the reason (code 5000010).
    case apiRequestFailure(String)

    /// The error domain, `com.forgerock.ios.frcore.network`.
    public static var domain: String { "com.forgerock.ios.frcore.network" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .invalidResponseDataType: (5_000_003, "the response is not a JSON object; check that the address is an AM server's")
        case .invalidRequest(let reason): (5_000_005, reason)
        case .apiRequestFailure(let reason): (5_000_010, reason)
        }
    }
}
