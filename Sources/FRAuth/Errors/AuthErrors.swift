public import SignetJourney

/// Why a journey did not go on for a reason of the app's or of the answer's form.
public enum AuthError: FRAuthFailure, Hashable {
    /// The server's answer has no token where one should be, or an id_token that does not hold; why (1000006).
    case invalidTokenResponse(String)
    /// A callback is not what its type says; which (1000007). A class of the app's own may throw it, and gets a plain ``Callback`` in its
    /// place.
    case invalidCallbackResponse(String)
    /// There is no class for a callback; its type (1000008). Here nothing throws it, as a step with such a callback is handed over with a
    /// plain ``Callback``; it is there for programs that switch over the original's errors.
    case unsupportedCallback(String)
    /// The server's answer is neither a step nor a session (1000009).
    case invalidAuthServiceResponse(String)
    /// The OAuth 2.0 client is not configured (1000010).
    case invalidOAuth2Client
    /// The result is to be of a type that no journey ends with (1000011).
    case invalidGenericType
    /// Somebody is logged in already; whether with OAuth 2.0 tokens (1000020).
    case userAlreadyAuthenticated(Bool)
    /// The person gave up (1000030).
    case authenticationCancelled
    /// The address to go on with has no `suspendedId` (1000031).
    case invalidResumeURI(String)
    /// The session and the tokens are gone; somebody must log in again (1000035).
    case userAuthenticationRequired

    /// `com.forgerock.ios.frauth.authentication`
    public static var domain: String { "com.forgerock.ios.frauth.authentication" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidTokenResponse: 1_000_006
        case .invalidCallbackResponse: 1_000_007
        case .unsupportedCallback: 1_000_008
        case .invalidAuthServiceResponse: 1_000_009
        case .invalidOAuth2Client: 1_000_010
        case .invalidGenericType: 1_000_011
        case .userAlreadyAuthenticated: 1_000_020
        case .authenticationCancelled: 1_000_030
        case .invalidResumeURI: 1_000_031
        case .userAuthenticationRequired: 1_000_035
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidTokenResponse(let reason): "the answer has no token that can be taken: \(reason)"
        case .invalidCallbackResponse(let which): "a callback is not what its type says: \(which)"
        case .unsupportedCallback(let type): "there is no class for \(type)"
        case .invalidAuthServiceResponse(let reason): "the answer is neither a step nor a session: \(reason)"
        case .invalidOAuth2Client: "the OAuth 2.0 client is not configured"
        case .invalidGenericType: "a journey ends with a Token, an AccessToken or an FRUser"
        case .userAlreadyAuthenticated(let hasTokens):
            "somebody is logged in already\(hasTokens ? "" : ", with a session and without tokens"); log out first"
        case .authenticationCancelled: "given up"
        case .invalidResumeURI(let reason): reason
        case .userAuthenticationRequired: "the session has ended; log in again"
        }
    }
}

/// What the server said in place of going on.
public enum AuthApiError: FRAuthFailure, Hashable {
    /// It said no without saying more; the HTTP status (1300000).
    case apiRequestFailure(status: Int)
    /// The journey took longer than the server waits (1300001). The spelling is the original's.
    case authenticationTimout(String)
    /// It said no (1300002).
    case apiFailureWithMessage(reason: String, message: String, status: Int, failure: JourneyError)
    /// The link that a journey was to go on with has expired, or was used (1300003).
    case suspendedAuthSessionError(String)

    /// `com.forgerock.ios.frauth.authapierror`
    public static var domain: String { "com.forgerock.ios.frauth.authapierror" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .apiRequestFailure: 1_300_000
        case .authenticationTimout: 1_300_001
        case .apiFailureWithMessage: 1_300_002
        case .suspendedAuthSessionError: 1_300_003
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .apiRequestFailure(let status): "the server said no (HTTP \(status))"
        case .authenticationTimout(let message), .suspendedAuthSessionError(let message): message
        case .apiFailureWithMessage(_, let message, let status, _): "\(message) (HTTP \(status))"
        }
    }
}

/// Why the SDK cannot be started, or used yet.
public enum ConfigError: FRAuthFailure, Hashable {
    /// There is no configuration to start with (2000000).
    case emptyConfiguration
    /// The configuration cannot be used; what is wrong (2000001).
    case invalidConfiguration(String)
    /// The access group cannot be used (2000002).
    case invalidAccessGroup(String)
    /// The SDK is not started, or has no OAuth 2.0 client (2000003).
    case invalidSDKState

    /// `com.forgerock.ios.frauth.configuration`
    public static var domain: String { "com.forgerock.ios.frauth.configuration" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .emptyConfiguration: 2_000_000
        case .invalidConfiguration: 2_000_001
        case .invalidAccessGroup: 2_000_002
        case .invalidSDKState: 2_000_003
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .emptyConfiguration:
            "there is no configuration: pass options, or put FRAuthConfig.plist or FRAuthConfig.json beside the program"
        case .invalidConfiguration(let reason): "the configuration cannot be used: \(reason)"
        case .invalidAccessGroup(let group): "the access group \(group) cannot be used"
        case .invalidSDKState: "the SDK is not started, or has no OAuth 2.0 client: call FRAuth.start() first"
        }
    }
}

/// Why there is no answer to speak of.
public enum NetworkError: FRAuthFailure, Hashable {
    /// What came is no JSON object (5000003).
    case invalidResponseDataType
    /// The request cannot be made; why (5000005).
    case invalidRequest(String)
    /// No answer came; why (5000010).
    case apiRequestFailure(String)

    /// `com.forgerock.ios.frcore.network`
    public static var domain: String { "com.forgerock.ios.frcore.network" }

    /// The original SDK's number.
    public var code: Int {
        switch self {
        case .invalidResponseDataType: 5_000_003
        case .invalidRequest: 5_000_005
        case .apiRequestFailure: 5_000_010
        }
    }

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .invalidResponseDataType: "the answer is no JSON object; is this an AM?"
        case .invalidRequest(let reason), .apiRequestFailure(let reason): reason
        }
    }
}
