public import Foundation

/// An error of the ForgeRock SDKs.
public protocol FRError: Error {}

extension FRError {
    /// Returns a dictionary for the `userInfo` of an `NSError`.
    /// - Parameters:
    ///   - errorMessage: The localized description.
    ///   - additionalInfo: More about the error, under the key `com.forgerock.auth.errorInfoKey`.
    /// - Returns: The dictionary.
    public func buildErrorUserInfo(errorMessage: String, additionalInfo: [String: Any]?) -> [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorMessage]
        info["com.forgerock.auth.errorInfoKey"] = additionalInfo
        return info
    }
}

/// An error with a code and a domain, which is an `NSError` with the same code and domain.
///
/// Its texts contain no secrets: a value from a server's answer or from a request is not in them.
public protocol CodedFRError: FRError, CustomNSError, LocalizedError, CustomStringConvertible, Sendable {
    /// The code, which never changes.
    var code: Int { get }
    /// The short description that `localizedDescription` has.
    var message: String { get }
}

extension CodedFRError {
    /// The code, for `NSError`.
    public var errorCode: Int { code }
    /// The localized description.
    public var errorDescription: String? { message }
    /// The description of the problem and, if one exists, of the remedy.
    public var recoverySuggestion: String? { description }
    /// The localized description and the longer one, for `NSError`.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: message, NSLocalizedRecoverySuggestionErrorKey: description]
    }
    /// The error domain, the same as `errorDomain`.
    public static var domain: String { errorDomain }
}
