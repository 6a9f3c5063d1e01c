public import SignetCore

/// A protector of a key that wraps the data key of a vault, such as a TPM, a keyring or a passphrase.
public protocol KeyProtector: Sendable {
    /// The name that is recorded in the vault's header and shown to the user, for example `keyfile`.
    var name: String { get }
    /// Seals `dataKey` so that only this key protector can open it, and only with the same `context`.
    func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8]
    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the key is not available; ``StoreError/Code/keyMismatch`` when it is not
    ///   the key that sealed `wrapped`.
    func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret
    /// Returns ``KeyProtectorAvailability/usable`` when this key protector can seal a new vault now, without asking the user.
    ///
    /// The default implementation returns that.
    func availability() -> KeyProtectorAvailability
}

extension KeyProtector {
    /// Returns ``KeyProtectorAvailability/usable``.
    public func availability() -> KeyProtectorAvailability { .usable }
}
