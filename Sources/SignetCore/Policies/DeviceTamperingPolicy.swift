/// `deviceTampering`: the signs that somebody has a hand in the process add up to less than the issuer's `score`.
///
/// The score is a fence and not a wall: it finds what is left open by accident and the everyday tools. Who owns the machine
/// can hide from it, as from anything that runs there. docs/policies.md lists every sign.
public struct DeviceTamperingPolicy: AccountPolicy {
    /// The name by which issuers ask for it.
    public static let name = "deviceTampering"
    /// The score at which a device counts as tampered with when the issuer does not say (protocol/authenticator.md section 6.1).
    public static let defaultThreshold = 1.0
    private let readings: @Sendable () -> TamperingReadings

    /// The policy, for a device that `readings` looks at each time.
    public init(readings: @escaping @Sendable () -> TamperingReadings) {
        self.readings = readings
    }

    /// The name by which issuers ask for it.
    public var name: String { Self.name }

    /// What there is to see now, for an app that shows its person why an account is locked.
    public var signals: [TamperingSignal] { readings().signals }

    /// Whether the score is below the parameter `score`, a number.
    public func isMet(_ parameters: JSONValue) async -> Bool { isMetNow(parameters) }

    /// The same for a caller that cannot wait: the device is looked at at once.
    public func isMetNow(_ parameters: JSONValue) -> Bool {
        signals.score < Self.threshold(in: parameters)
    }

    /// The score at which an issuer's parameters count a device as tampered with.
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
