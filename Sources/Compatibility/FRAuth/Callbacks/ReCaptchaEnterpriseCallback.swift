public import Foundation
import SignetCore
import SignetJourney

/// A reCAPTCHA Enterprise SDK, which an app supplies.
public protocol RecaptchaClientProvider: Sendable {
    /// Returns a token for an action of the user.
    /// - Parameters:
    ///   - siteKey: The site key.
    ///   - action: The action, for example `login`.
    ///   - timeout: The time limit in milliseconds.
    /// - Returns: The token; nil without one.
    /// - Throws: ``RecaptchaError`` with the text for the server; other errors are reported to it as `UNKNOWN_ERROR`.
    func execute(siteKey: String, action: String, timeout: Double) async throws -> String?
}

/// An error of a reCAPTCHA Enterprise SDK.
public struct RecaptchaError: CustomNSError, LocalizedError, Hashable, CustomStringConvertible {
    /// The error domain, `com.google.recaptcha`.
    public static var errorDomain: String { "com.google.recaptcha" }
    /// The number of the error.
    public let errorCode: Int
    /// The text of the error, which the server receives.
    public let errorMessage: String

    /// Creates an error.
    public init(errorCode: Int, errorMessage: String) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }

    /// The text under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorMessage] }
    /// The text of the error.
    public var errorDescription: String? { errorMessage }
    /// The text of the error.
    public var description: String { errorMessage }
}

/// Asks for a reCAPTCHA Enterprise token, which shows that the user is human.
public class ReCaptchaEnterpriseCallback: MultipleValuesCallback {
    /// The site key.
    public var recaptchaSiteKey: String { SignetJourney.ReCaptchaEnterpriseCallback(unchecked: received).siteKey }
    /// The name of the input for the token.
    public var tokenKey: String { key("token") ?? "" }
    /// The name of the input for the action.
    public var actionKey: String { key("action") ?? "" }
    /// The name of the input for the reason of a missing token.
    public var clientErrorKey: String { key("clientError") ?? "" }
    /// The name of the input for additional data.
    public var payloadKey: String { key("payload") ?? "" }
    /// The token that ``execute(action:timeoutInMillis:recaptchaProvider:)`` entered; empty before.
    public private(set) var tokenResult = ""

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no site key, or lacks an input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require(texts: ["recaptchaSiteKey"], inputs: ["token", "action", "clientError", "payload"])
    }

    /// Lets an SDK of the app supply the token, and enters it with the action.
    ///
    /// A failure is entered as the client error, so that the server learns about it.
    /// - Parameters:
    ///   - action: The action that the user is about to do.
    ///   - timeoutInMillis: The time limit in milliseconds.
    ///   - recaptchaProvider: The SDK; nil fails, because this package contains none.
    /// - Throws: The SDK's error; ``RecaptchaError`` when the SDK gives no token.
    public func execute(
        action: String = "login", timeoutInMillis: Double = 15_000, recaptchaProvider: (any RecaptchaClientProvider)? = nil
    ) async throws {
        do {
            guard let recaptchaProvider else {
                throw RecaptchaError(errorCode: 0, errorMessage: "UNKNOWN_ERROR")
            }
            let token = try await recaptchaProvider.execute(
                siteKey: recaptchaSiteKey, action: action, timeout: timeoutInMillis)
            guard let token, !token.isEmpty else { throw RecaptchaError(errorCode: 1, errorMessage: "INVALID_CAPTCHA_TOKEN") }
            setAction(action)
            tokenResult = token
            setToken(token)
        } catch {
            setClientError((error as? RecaptchaError)?.errorMessage ?? "UNKNOWN_ERROR")
            throw error
        }
    }

    /// Enters the token.
    public func setToken(_ value: String) { fill("token", with: value) }
    /// Enters the action that the user is about to do; usually `login`.
    public func setAction(_ value: String) { fill("action", with: value) }
    /// Enters the reason for a missing token: `INVALID_CAPTCHA_TOKEN` or `UNKNOWN_ERROR`.
    public func setClientError(_ value: String) { fill("clientError", with: value) }

    /// Enters additional data, which is sent as JSON.
    ///
    /// Nil and an empty dictionary change nothing.
    public func setPayload(_ value: [String: Any]? = nil) {
        guard let value, !value.isEmpty, let json = JSONValue(any: value) else { return }
        fill("payload", with: JSON.text(of: json))
    }
}
