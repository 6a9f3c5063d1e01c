public import SignetCore

/// Somebody who keeps the key that a vault's data key is wrapped with.
public protocol KeyProtector: Sendable {
    /// The name that is recorded in the vault's header and shown to the user, for example `keyfile`.
    var name: String { get }
    /// Seals `dataKey` so that only this key protector opens it, and only together with `context`.
    func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8]
    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the key cannot be had, ``StoreError/Code/keyMismatch`` when it is
    ///   not the key that sealed `wrapped`.
    func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret
}
