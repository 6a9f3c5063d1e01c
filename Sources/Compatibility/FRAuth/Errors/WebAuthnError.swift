public import Foundation
import SignetJourney

/// An error of a passkey operation.
///
/// Each case names the ForgeRock SDK's code, has the error of the authenticator if there is one, and a message for the log.
public enum WebAuthnError: CustomNSError, LocalizedError, CustomStringConvertible {
    /// The request is incomplete (code 1600001).
    case badData(platformError: (any Error)?, message: String?)
    /// The operation can't be performed now (code 1600002).
    case badOperation(platformError: (any Error)?, message: String?)
    /// The authenticator already has a passkey for the user (code 1600003).
    case invalidState(platformError: (any Error)?, message: String?)
    /// The authenticator doesn't meet the server's requirements (code 1600004).
    case constraint(platformError: (any Error)?, message: String?)
    /// The user or the app canceled (code 1600005).
    case cancelled(platformError: (any Error)?, message: String?)
    /// The user took too long (code 1600006).
    case timeout(platformError: (any Error)?, message: String?)
    /// The user declined, or the app may not use passkeys of this domain (code 1600007).
    case notAllowed(platformError: (any Error)?, message: String?)
    /// The device has no authenticator, or none that supports the request (code 1600008).
    case unsupported(platformError: (any Error)?, message: String?)
    /// Any other error (code 1600099).
    case unknown(platformError: (any Error)?, message: String?)

    /// The error domain, `com.forgerock.ios.frauth.webauthn`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.webauthn" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The ForgeRock SDK's code.
    public var errorCode: Int { meaning.code }
    /// The description under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
    /// The description of the problem.
    public var errorDescription: String? { description }
    /// The description of the problem, with the message if there is one.
    public var description: String { [meaning.text, message()].compactMap { $0 }.joined(separator: ": ") }

    /// Returns the ForgeRock SDK's code.
    public func parseErrorCode() -> Int { code }

    /// Returns the error of the authenticator, if it reported one.
    public func platformError() -> (any Error)? { payload.error }

    /// Returns the message for the log, if the error has one.
    public func message() -> String? { payload.message }

    /// Returns the error as the server expects it in the outcome of a passkey.
    public func convertToWebAuthnOutcome() -> String {
        if case .unsupported = self { return "unsupported" }
        let text = platformError().map { ($0 as NSError).localizedDescription } ?? message() ?? ""
        return "ERROR::\(meaning.name):\(text)"
    }

    private var payload: (error: (any Error)?, message: String?) {
        switch self {
        case .badData(let error, let message), .badOperation(let error, let message), .invalidState(let error, let message),
            .constraint(let error, let message), .cancelled(let error, let message), .timeout(let error, let message),
            .notAllowed(let error, let message), .unsupported(let error, let message), .unknown(let error, let message):
            (error, message)
        }
    }

    private var meaning: (code: Int, name: String, text: String) {
        switch self {
        case .badData: (1_600_001, "DataError", "the passkey request is incomplete")
        case .badOperation: (1_600_002, "UnknownError", "the authenticator can't do this now")
        case .invalidState: (1_600_003, "InvalidStateError", "the authenticator already has a passkey for this user")
        case .constraint: (1_600_004, "ConstraintError", "the authenticator doesn't meet the server's requirements")
        case .cancelled: (1_600_005, "UnknownError", "the passkey request was canceled")
        case .timeout: (1_600_006, "TimeoutError", "the passkey request took too long")
        case .notAllowed: (1_600_007, "NotAllowedError", "the user declined, or the app may not use this domain's passkeys")
        case .unsupported: (1_600_008, "NotSupportedError", "this device has no authenticator for the passkey request")
        case .unknown: (1_600_099, "UnknownError", "the authenticator failed")
        }
    }

    /// Converts an error of an authenticator.
    init(_ error: SignetJourney.WebAuthnError) {
        let message = error.message.isEmpty ? nil : error.message
        self =
            switch error.name {
            case .abort: .cancelled(platformError: nil, message: message)
            case .constraint: .constraint(platformError: nil, message: message)
            case .data, .encoding: .badData(platformError: nil, message: message)
            case .invalidState: .invalidState(platformError: nil, message: message)
            case .notAllowed, .security: .notAllowed(platformError: nil, message: message)
            case .notSupported: .unsupported(platformError: nil, message: message)
            case .timeout: .timeout(platformError: nil, message: message)
            default: .unknown(platformError: nil, message: message)
            }
    }
}
