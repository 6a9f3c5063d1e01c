/// What every error of this module tells: the original SDK's code, and words with nothing secret in them.
public protocol FRAuthFailure: Error, Sendable, CustomStringConvertible {
    /// The original SDK's number for this kind of failure; it never changes.
    var code: Int { get }
    /// The original SDK's name for the part that failed, for example `com.forgerock.ios.frauth.authentication`.
    static var domain: String { get }
    /// What is wrong and, where there is one, the way on.
    var description: String { get }
}
