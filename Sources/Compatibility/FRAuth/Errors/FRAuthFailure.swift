/// An error of this module.
///
/// It has the ForgeRock SDK's code and a description without secrets.
public protocol FRAuthFailure: Error, Sendable, CustomStringConvertible {
    /// The ForgeRock SDK's error domain, for example `com.forgerock.ios.frauth.authentication`.
    static var domain: String { get }
    /// The ForgeRock SDK's code for this kind of error, which never changes, and a description of the problem and, if one exists,
    /// of the remedy.
    var details: (code: Int, text: String) { get }
}

extension FRAuthFailure {
    /// The ForgeRock SDK's code for this kind of error.
    ///
    /// It never changes.
    public var code: Int { details.code }
    /// A description of the problem and, if one exists, of the remedy.
    public var description: String { details.text }
}
