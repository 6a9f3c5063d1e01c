/// A rule that an issuer may put on an account: under it the device must be as asked, or the account is locked.
public protocol FRAPolicy {
    /// The name by which issuers ask for it.
    var name: String { get }
    /// What the issuer wrote beside the name, as `[String: Any]`. It is set before each ``evaluate()``.
    var data: Any? { get set }
    /// Whether the device is as asked. It is called by one caller at a time, and must not call ``FRAClient``.
    func evaluate() -> Bool
}
