public import FRCore
import Foundation
import SignetCore
import SignetJourney

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error of a journey that the app caused, or that the form of the server's answer caused.
///
/// Each case names the ForgeRock SDK's code.
public enum AuthError: CodedFRError, Hashable {
    /// The server's answer lacks a token, or has an ID token that fails validation (code 1000006). The payload has the reason, and
    /// no token.
    case invalidTokenResponse(ErrorPayload?)
    /// A callback doesn't match its type, with a description of the callback (code 1000007). The class of a
    /// callback throws this error when it refuses the callback; the journey then ends with the error instead of a node.
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

    /// Creates ``invalidTokenResponse(_:)`` with an untyped payload.
    @_disfavoredOverload
    public static func invalidTokenResponse(_ payload: [String: Any]?) -> AuthError {
        .invalidTokenResponse(payload.map { ErrorPayload($0) })
    }

    /// Creates ``invalidTokenResponse(_:)`` with a reason that contains no secret.
    static func invalidTokenResponse(reason: String) -> AuthError {
        .invalidTokenResponse(ErrorPayload(["reason": .string(reason)]))
    }

    /// The error domain, `com.forgerock.ios.frauth.authentication`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.authentication" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    // The ForgeRock SDK's tests compare the messages of the callbacks, of an invalid answer and of a canceled login.
    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .invalidTokenResponse(let payload):
            (
                1_000_006, "The tokens of the server's answer can't be used",
                "the response has no valid token\((payload?["reason"] as? String).map { ": \($0)" } ?? "")"
            )
        case .invalidCallbackResponse(let callback):
            (
                1_000_007, "Invalid callback response: \(callback)",
                "a callback lacks a part that its type needs: \(callback)"
            )
        case .unsupportedCallback(let type):
            (1_000_008, "Unsupported callback: \(type)", "no class is registered for \(type)")
        case .invalidAuthServiceResponse(let reason):
            (
                1_000_009, "Invalid AuthService response: \(reason)",
                "the response is neither a step nor a session: \(reason)"
            )
        case .invalidOAuth2Client: alike(1_000_010, "The OAuth 2.0 client is not configured")
        case .invalidGenericType: alike(1_000_011, "A journey ends with a Token, an AccessToken or an FRUser")
        case .userAlreadyAuthenticated(true):
            alike(1_000_020, "A user is already logged in; log out first")
        case .userAlreadyAuthenticated(false):
            alike(1_000_020, "A user is already logged in, with a session and without tokens; log out first")
        case .authenticationCancelled: (1_000_030, "Authentication is cancelled", "the login was canceled")
        case .invalidResumeURI(let reason): (1_000_031, "The link resumes no journey: \(reason)", reason)
        case .userAuthenticationRequired: alike(1_000_035, "The session has ended; log in again")
        }
    }

    private func alike(_ code: Int, _ text: String) -> (Int, String, String) {
        (code, text, text.prefix(1).lowercased() + text.dropFirst())
    }
}

/// An error that the server reported in a journey.
///
/// Each case names the ForgeRock SDK's code. A detail can be read, and is in no description.
public enum AuthApiError: CodedFRError {
    /// The server rejected the request without a reason, with the body and the head of its answer, if they are known (code
    /// 1300000).
    case apiRequestFailure(Data?, URLResponse?, (any Error)?)
    /// The journey exceeded the server's time limit: reason, message, status and detail (code 1300001). The spelling is the
    /// ForgeRock SDK's.
    case authenticationTimout(String, String, Int?, ErrorPayload?)
    /// The server rejected the request: reason, message, status and detail (code 1300002).
    case apiFailureWithMessage(String, String, Int?, ErrorPayload?)
    /// The link to resume a journey has expired or was already used: reason, message, status and detail (code 1300003).
    case suspendedAuthSessionError(String, String, Int?, ErrorPayload?)

    /// Creates ``authenticationTimout(_:_:_:_:)`` with an untyped detail.
    @_disfavoredOverload
    public static func authenticationTimout(
        _ reason: String, _ message: String, _ code: Int?, _ detail: [String: Any]?
    ) -> AuthApiError { .authenticationTimout(reason, message, code, detail.map { ErrorPayload($0) }) }

    /// Creates ``apiFailureWithMessage(_:_:_:_:)`` with an untyped detail.
    @_disfavoredOverload
    public static func apiFailureWithMessage(
        _ reason: String, _ message: String, _ code: Int?, _ detail: [String: Any]?
    ) -> AuthApiError { .apiFailureWithMessage(reason, message, code, detail.map { ErrorPayload($0) }) }

    /// Creates ``suspendedAuthSessionError(_:_:_:_:)`` with an untyped detail.
    @_disfavoredOverload
    public static func suspendedAuthSessionError(
        _ reason: String, _ message: String, _ code: Int?, _ detail: [String: Any]?
    ) -> AuthApiError { .suspendedAuthSessionError(reason, message, code, detail.map { ErrorPayload($0) }) }

    /// Creates ``apiRequestFailure(_:_:_:)`` for a status of an answer from a server.
    static func failure(status: Int?, cause: any Error) -> AuthApiError {
        let head = URL(string: "https:").flatMap { url in
            status.flatMap { HTTPURLResponse(url: url, statusCode: $0, httpVersion: "HTTP/1.1", headerFields: [:]) }
        }
        return .apiRequestFailure(nil, head, cause)
    }

    /// The error domain, `com.forgerock.ios.frauth.authapierror`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.authapierror" }

    /// The ForgeRock SDK's code.
    public var code: Int {
        switch self {
        case .apiRequestFailure: 1_300_000
        case .authenticationTimout: 1_300_001
        case .apiFailureWithMessage: 1_300_002
        case .suspendedAuthSessionError: 1_300_003
        }
    }

    /// The HTTP status; nil when the error has none.
    public var status: Int? {
        switch self {
        case .apiRequestFailure(_, let response, _): (response as? HTTPURLResponse)?.statusCode
        case .authenticationTimout(_, _, let status, _), .apiFailureWithMessage(_, _, let status, _),
            .suspendedAuthSessionError(_, _, let status, _):
            status
        }
    }

    // The ForgeRock SDK's tests compare these texts.
    /// The short description, which is the server's message where it sent one for the user.
    public var message: String {
        switch self {
        case .apiRequestFailure: "Request failed"
        case .authenticationTimout: "Authentication timed out"
        case .apiFailureWithMessage(_, let message, _, _): message
        case .suspendedAuthSessionError(_, let message, _, _):
            // The name of a Java class before the message means nothing to a user.
            message.firstRange(of: "SuspendedAuthSessionException:").map { String(message[$0.upperBound...]) } ?? message
        }
    }

    /// The server's message and the status.
    public var description: String {
        let text =
            switch self {
            case .apiRequestFailure: "the server rejected the request"
            case .authenticationTimout(_, let message, _, _): message
            default: message
            }
        return text.trimmingWhitespace() + (status.map { " (HTTP \($0))" } ?? "")
    }

    /// The descriptions and, under the keys of the ForgeRock SDK, the reason, the message and the code.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message, NSLocalizedRecoverySuggestionErrorKey: description]
        switch self {
        case .apiRequestFailure(_, _, let error): info["\(Self.errorDomain).error"] = error
        case .authenticationTimout(let reason, let message, let status, _),
            .apiFailureWithMessage(let reason, let message, let status, _),
            .suspendedAuthSessionError(let reason, let message, let status, _):
            info["\(Self.errorDomain).reason"] = reason
            info["\(Self.errorDomain).message"] = message
            info["\(Self.errorDomain).code"] = status
        }
        return info
    }
}

extension AuthApiError: Hashable, CustomDebugStringConvertible, CustomReflectable {
    /// The value of ``description``.
    public var debugDescription: String { description }
    /// An empty mirror, because an answer may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Returns true for errors with the same code, status, texts and detail.
    public static func == (one: AuthApiError, other: AuthApiError) -> Bool {
        switch (one, other) {
        case (.apiRequestFailure(let data, _, _), .apiRequestFailure(let otherData, _, _)):
            data == otherData && one.status == other.status
        default: one.code == other.code && one.parts == other.parts
        }
    }

    /// Hashes the code and the status.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(status)
    }

    private var parts: [JSONValue] {
        switch self {
        case .apiRequestFailure: []
        case .authenticationTimout(let reason, let message, let status, let detail),
            .apiFailureWithMessage(let reason, let message, let status, let detail),
            .suspendedAuthSessionError(let reason, let message, let status, let detail):
            [
                .string(reason), .string(message), status.map { .integer(Int64($0)) } ?? .null,
                detail.map { .object($0.members) } ?? .null,
            ]
        }
    }
}

/// An error of the configuration: the SDK can't be started, or can't be used yet.
///
/// Each case names the ForgeRock SDK's code.
public enum ConfigError: CodedFRError, Hashable {
    /// No configuration was found (code 2000000).
    case emptyConfiguration
    /// The configuration is invalid, with the reason (code 2000001).
    case invalidConfiguration(String)
    /// The access group is invalid, with the group (code 2000002).
    case invalidAccessGroup(String)
    /// The SDK is not started, or has no OAuth 2.0 client (code 2000003).
    case invalidSDKState

    /// The error domain, `com.forgerock.ios.frauth.configuration`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.configuration" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The short description.
    public var message: String { meaning.message }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    // The ForgeRock SDK's tests compare the beginning of the message for an invalid configuration.
    private var meaning: (code: Int, message: String, description: String) {
        switch self {
        case .emptyConfiguration:
            (
                2_000_000, "There is no configuration",
                "there is no configuration: pass options, or put FRAuthConfig.plist or FRAuthConfig.json beside the program"
            )
        case .invalidConfiguration(let reason):
            (2_000_001, "Invalid configuration: \(reason)", "the configuration is invalid: \(reason)")
        case .invalidAccessGroup(let group):
            (2_000_002, "The access group \(group) can't be used", "the access group \(group) is invalid")
        case .invalidSDKState:
            (
                2_000_003, "The SDK is not started, or has no OAuth 2.0 client",
                "the SDK is not started, or has no OAuth 2.0 client: call FRAuth.start() first"
            )
        }
    }
}
