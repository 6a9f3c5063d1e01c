import SignetCore

/// A mechanism that generates counter-based one-time codes (HOTP) for an account.
public final class HOTPMechanism: OathMechanismObject, MechanismState, Codable {
    let box: Box<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil) {
        box = Box(value, token)
    }

    /// The counter of the next code.
    public var counter: UInt64 {
        if case .counter(let next) = core.oath?.factor { next } else { 0 }
    }

    /// Returns the next code.
    ///
    /// The incremented counter is stored before the code is returned. After a failure a code may be skipped, but no code is
    /// returned twice.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store fails: the
    ///   counter is then unchanged; ``FRAError`` when the SDK has not started.
    public func generateCode() throws -> OathTokenCode {
        try LegacyEngine.of(box.token).generateCode(self)
    }

    /// Reads the members of ``MechanismObject/toJson()``.
    /// - Throws: `DecodingError`, also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .hotp) }
        self.init(value)
    }
}
