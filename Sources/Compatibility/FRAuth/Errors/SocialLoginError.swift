public import Foundation

/// An error of a login with an identity provider.
///
/// Each case names the ForgeRock SDK's code.
public enum SocialLoginError: CustomNSError, LocalizedError, CustomStringConvertible, Hashable {
    /// The provider or the platform is not supported, with the reason (code 1600000).
    case notSupported(String)
    /// The provider returned something that the server can't use, with the reason (code 1600001).
    case unsupportedCredentials(String)
    /// The user or the app canceled (code 1600002).
    case cancelled
    /// The app passed no handler, and the SDK has none for the provider (code 1600003).
    case missingIdPHandler

    /// The error domain, `com.forgerock.ios.frauth.sociallogin`.
    public static var errorDomain: String { "com.forgerock.ios.frauth.sociallogin" }

    /// The ForgeRock SDK's code.
    public var code: Int { meaning.code }
    /// The ForgeRock SDK's code.
    public var errorCode: Int { meaning.code }
    /// The description under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
    /// The description of the problem.
    public var errorDescription: String? { description }
    /// The description of the problem and, if one exists, of the remedy.
    public var description: String { meaning.description }

    /// Returns the ForgeRock SDK's code.
    public func parseErrorCode() -> Int { code }

    private var meaning: (code: Int, description: String) {
        switch self {
        case .notSupported(let reason): (1_600_000, "this login provider can't be used here: \(reason)")
        case .unsupportedCredentials(let reason): (1_600_001, "the login provider's answer can't be used: \(reason)")
        case .cancelled: (1_600_002, "Operation is cancelled")
        case .missingIdPHandler: (1_600_003, "there is no handler for this login provider: pass an IdPHandler to signIn")
        }
    }
}
