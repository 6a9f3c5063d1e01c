import SignetAuthenticator
import SignetCore

/// `biometricAvailable`: the device can recognise its owner by a finger or a face. Nobody is asked to show either.
///
/// Linux has no one place that knows, so the app says it. Without that the policy is not met; it never pretends.
public final class BiometricAvailablePolicy: FRAPolicy {
    private let isAvailable: () -> Bool

    /// The name by which issuers ask for it.
    public let name = SignetCore.BiometricAvailablePolicy.name
    /// The policy has no parameters.
    public var data: Any?

    /// The policy, for a device of which `isAvailable` knows.
    public init(isAvailable: @escaping () -> Bool = { false }) {
        self.isAvailable = isAvailable
    }

    /// Whether the device says that it can.
    public func evaluate() -> Bool { isAvailable() }
}

/// `deviceTampering`: the signs that somebody has a hand in the process add up to less than the issuer's `score`.
public final class DeviceTamperingPolicy: FRAPolicy {
    /// The score at which a device counts as tampered with when the issuer does not say.
    public static let defaultThresholdScore = SignetCore.DeviceTamperingPolicy.defaultThreshold
    private let policy: SignetCore.DeviceTamperingPolicy

    /// The name by which issuers ask for it.
    public let name = SignetCore.DeviceTamperingPolicy.name
    /// The issuer's parameters: `score`, a number.
    public var data: Any?

    /// The policy for this device.
    public convenience init() { self.init(.thisDevice) }

    init(_ policy: SignetCore.DeviceTamperingPolicy) {
        self.policy = policy
    }

    /// Whether the score is below the issuer's.
    public func evaluate() -> Bool { policy.isMetNow(JSONValue(unconstrained: data)) }
}
