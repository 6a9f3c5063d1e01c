// Names of closure types that the callback classes take.

/// A closure that receives the data of a ``DeviceCollector``.
public typealias DeviceCollectorCallback = (_ result: [String: Any]) -> Void

/// A closure that receives the token of an identity provider and its type, or an error.
public typealias SocialLoginCompletionCallback = (_ token: String?, _ tokenType: String?, _ error: (any Error)?) -> Void

/// A closure that receives the user's decision about a passkey.
public typealias WebAuthnUserConsentCallback = @Sendable (_ result: WebAuthnUserConsentResult) -> Void

/// A closure that receives the name of the passkey that the user selected.
public typealias WebAuthnCredentialsSelectionCallback = @Sendable (_ selectedKeyName: String?) -> Void

/// A closure that receives the result of a PingOne Protect call.
public typealias ProtectResultCallback = (_ result: ProtectResult) -> Void

/// A callback that an app answers with one call.
public protocol ActionCallback {
    /// Collects the answer, enters it, and calls the completion once with the data.
    func execute(_ completion: @escaping DeviceCollectorCallback)
}
