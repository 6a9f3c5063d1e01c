/// An error of this module.
///
/// It has the ForgeRock SDK's code and a description without secrets.
public protocol FRAuthFailure: Error, Sendable, CustomStringConvertible {
    /// The ForgeRock SDK's error domain, for example `com.forgerock.ios.frauth.authentication`.
    static var domain: String { get }
    /// The ForgeRock SDK's code for this kind of error, which never changes.
    var code: Int { get }
}
