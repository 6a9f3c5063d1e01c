/// The policy `deviceTampering`: the sum of the weights of all tampering signals must be below the issuer's `score`.
///
/// The score detects accidental exposure and common tools. The owner of the machine can hide tampering from it, as from any
/// program that runs there. docs/reference/policies.md lists every signal.
public struct DeviceTamperingPolicy: AccountPolicy {
    /// The name by which issuers apply the policy.
    public static let name = "deviceTampering"
    /// The score at which a device counts as tampered with when the issuer gives none (protocol/authenticator.md section 6.1).
    public static let defaultThreshold = 1.0
    private let readings: @Sendable () -> TamperingReadings

    /// Creates the policy.
    ///
    /// It calls `readings` at each evaluation.
    public init(readings: @escaping @Sendable () -> TamperingReadings) {
        self.readings = readings
    }

    /// The name by which issuers apply the policy.
    public var name: String { Self.name }

    /// The current signals, for an app that explains to the user why an account is locked.
    public var signals: [TamperingSignal] { readings().signals }

    /// Returns true when the score is below the parameter `score`, a number.
    public func isMet(_ parameters: JSONValue) async -> Bool { isMetNow(parameters) }

    /// Returns the result of ``isMet(_:)`` synchronously.
    public func isMetNow(_ parameters: JSONValue) -> Bool {
        signals.score < Self.threshold(in: parameters)
    }

    /// Returns the score in an issuer's parameters at which a device counts as tampered with.
    package static func threshold(in parameters: JSONValue) -> Double {
        parameters["score"]?.fraction ?? defaultThreshold
    }
}

extension JSONValue {
    fileprivate var fraction: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }
}
