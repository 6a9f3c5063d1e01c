import SignetCore

/// A mechanism that generates time-based one-time codes (TOTP) for an account.
public final class TOTPMechanism: OathMechanismObject, MechanismState, Codable {
    let box: Box<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil) {
        box = Box(value, token)
    }

    /// The number of seconds that a code is valid.
    public var period: Int {
        if case .time(let period) = core.oath?.factor { period.seconds } else { OTPPeriod.thirtySeconds.seconds }
    }

    /// Returns the code for the current time.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store can't be
    ///   read; ``FRAError`` when the SDK has not started.
    public func generateCode() throws -> OathTokenCode {
        try LegacyEngine.of(box.token).generateCode(self)
    }

    /// Reads the members of ``MechanismObject/toJson()``.
    /// - Throws: `DecodingError`, also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .totp) }
        self.init(value)
    }
}
