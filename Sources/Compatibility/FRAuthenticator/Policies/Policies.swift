import SignetAuthenticator
import SignetCore

/// The policy `biometricAvailable`: the device can recognize its owner by a finger or a face.
///
/// The user is not asked for either.
///
/// Linux has no standard way to find out, so the app supplies the answer. Without it, the policy is not satisfied.
public final class BiometricAvailablePolicy: FRAPolicy {
    private let isAvailable: () -> Bool

    /// The name that issuers use for the policy.
    public let name = SignetCore.BiometricAvailablePolicy.name
    /// The policy has no parameters.
    public var data: Any?

    /// Creates the policy.
    ///
    /// `isAvailable` says if the device can recognize its owner.
    public init(isAvailable: @escaping () -> Bool = { false }) {
        self.isAvailable = isAvailable
    }

    /// Returns the answer of `isAvailable`.
    public func evaluate() -> Bool { isAvailable() }
}

/// The policy `deviceTampering`: the signs of tampering with the process add up to less than the issuer's `score`.
public final class DeviceTamperingPolicy: FRAPolicy {
    /// The score from which on a device counts as tampered with, when the issuer sets none.
    public static let defaultThresholdScore = SignetCore.DeviceTamperingPolicy.defaultThreshold
    private let policy: SignetCore.DeviceTamperingPolicy

    /// The name that issuers use for the policy.
    public let name = SignetCore.DeviceTamperingPolicy.name
    /// The issuer's parameters: `score`, a number.
    public var data: Any?

    /// Creates the policy for this device.
    public convenience init() { self.init(.thisDevice) }

    init(_ policy: SignetCore.DeviceTamperingPolicy) {
        self.policy = policy
    }

    /// Returns true when the device's score is below the issuer's.
    public func evaluate() -> Bool { policy.isMetNow(JSONValue(any: data) ?? .null) }
}
