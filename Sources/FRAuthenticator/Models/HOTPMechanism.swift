import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Counter-based one-time codes of one account.
public final class HOTPMechanism: OathMechanismObject, MechanismState, Codable {
    let held: Held<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, origin: Origin?) {
        held = Held(value, origin: origin)
    }

    /// The id by which the server knows the mechanism.
    public var mechanismUUID: String { core.uid }
    /// Always `hotp`.
    public var type: String { core.kindName.rawValue }
    /// The organisation.
    public var issuer: String { core.account.issuer }
    /// The person's name there.
    public var accountName: String { core.account.accountName }
    /// When it was enrolled.
    public var timeAdded: Date { core.timeAdded }
    /// The user's id on the server, if the server told.
    public var uid: String? { core.userID }
    /// The device's id on the server, if the server told.
    public var resourceId: String? { core.resourceID }
    /// `issuer-accountName-hotp`.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that it belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }
    /// How many digits a code has.
    public var digits: Int { core.oath?.digits.count ?? OTPDigits.six.count }
    /// `sha1`, `sha256` or `sha512`.
    public var algorithm: String { (core.oath?.algorithm ?? .sha1).rawValue.lowercased() }
    /// The counter of the next code.
    public var counter: UInt64 {
        if case .counter(let next) = core.oath?.factor { next } else { 0 }
    }

    /// The next code. Its counter is used up, and that is stored, before the code is returned: a code may be skipped when
    /// something fails, and is never given twice.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store does
    ///   not take the counter: nothing is used up then.
    public func generateCode() throws -> OathTokenCode {
        try LegacyEngine.of(held.origin).generateCode(self)
    }

    /// The mechanism as JSON text, in the form of the legacy iOS SDK. It holds the secret.
    public func toJson() -> String? { LegacyJSON.text(of: core.legacyMembers) }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(core.legacyMembers).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`; also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .hotp) }
        self.init(value, origin: nil)
    }
}
