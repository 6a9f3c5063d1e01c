/// Who knows whether this device can recognise its owner by a finger or a face. The app brings it.
public protocol BiometricAvailability: Sendable {
    /// Whether a sensor is there and a person enrolled at it.
    func isAvailable() async -> Bool
}

/// `biometricAvailable`: the device can recognise its owner by a finger or a face. Nobody is asked to show either.
///
/// Linux has no one place that knows: an app that has a sensor says so through a ``BiometricAvailability``. Without one the
/// policy is not met; it never pretends.
public struct BiometricAvailablePolicy: AccountPolicy {
    /// The name by which issuers ask for it.
    public static let name = "biometricAvailable"
    private let device: (any BiometricAvailability)?

    /// The policy, for a device of which `device` knows.
    public init(_ device: (any BiometricAvailability)? = nil) {
        self.device = device
    }

    /// The name by which issuers ask for it.
    public var name: String { Self.name }

    /// Whether the device says that it can. The policy has no parameters.
    public func isMet(_ parameters: JSONValue) async -> Bool { await device?.isAvailable() ?? false }
}
