import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Time-based one-time codes of one account.
public final class TOTPMechanism: OathMechanismObject, MechanismState, Codable {
    let held: Held<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, origin: Origin?) {
        held = Held(value, origin: origin)
    }

    /// The id by which the server knows the mechanism.
    public var mechanismUUID: String { core.uid }
    /// Always `totp`.
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
    /// `issuer-accountName-totp`.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that it belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }
    /// How many digits a code has.
    public var digits: Int { core.oath?.digits.count ?? OTPDigits.six.count }
    /// `sha1`, `sha256` or `sha512`.
    public var algorithm: String { (core.oath?.algorithm ?? .sha1).rawValue.lowercased() }
    /// How many seconds a code is good for.
    public var period: Int {
        if case .time(let period) = core.oath?.factor { period.seconds } else { OTPPeriod.thirtySeconds.seconds }
    }

    /// The code of this moment.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``FRAError`` when the store cannot be asked.
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
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .totp) }
        self.init(value, origin: nil)
    }
}
