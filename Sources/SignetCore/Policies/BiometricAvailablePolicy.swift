/// A provider that reports whether this device can recognize its owner by fingerprint or face.
///
/// The app implements it.
public protocol BiometricAvailability: Sendable {
    /// Returns true when the device has a sensor and a user has enrolled with it.
    func isAvailable() async -> Bool
}

/// The policy `biometricAvailable`: the device can recognize its owner by fingerprint or face.
///
/// The policy does not start a recognition.
///
/// Linux has no common interface for this. An app that has a sensor reports it through a ``BiometricAvailability``. Without one
/// the policy is not met.
public struct BiometricAvailablePolicy: AccountPolicy {
    /// The name by which issuers apply the policy.
    public static let name = "biometricAvailable"
    private let device: (any BiometricAvailability)?

    /// Creates the policy for a device that `device` reports on.
    public init(_ device: (any BiometricAvailability)? = nil) {
        self.device = device
    }

    /// The name by which issuers apply the policy.
    public var name: String { Self.name }

    /// Returns true when the provider reports that recognition is available.
    ///
    /// The policy has no parameters.
    public func isMet(_ parameters: JSONValue) async -> Bool { await device?.isAvailable() ?? false }
}
