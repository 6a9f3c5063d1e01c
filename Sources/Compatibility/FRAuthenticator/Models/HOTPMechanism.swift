import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A mechanism that generates counter-based one-time codes (HOTP) for an account.
public final class HOTPMechanism: OathMechanismObject, MechanismState, Codable {
    let box: Box<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil) {
        box = Box(value, token)
    }

    /// The mechanism's identifier on the server.
    public var mechanismUUID: String { core.uid }
    /// Always `hotp`.
    public var type: String { core.kindName.rawValue }
    /// The issuer from the enrollment.
    public var issuer: String { core.account.issuer }
    /// The user's name from the enrollment.
    public var accountName: String { core.account.accountName }
    /// The time of the enrollment.
    public var timeAdded: Date { core.timeAdded }
    /// The user's identifier on the server, if the server sent one.
    public var uid: String? { core.userID }
    /// The device's identifier on the server, if the server sent one.
    public var resourceId: String? { core.resourceID }
    /// `issuer-accountName-hotp`.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that the mechanism belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }
    /// The number of digits in a code.
    public var digits: Int { core.oath?.digits.count ?? OTPDigits.six.count }
    /// `sha1`, `sha256` or `sha512`.
    public var algorithm: String { (core.oath?.algorithm ?? .sha1).rawValue.lowercased() }
    /// The counter of the next code.
    public var counter: UInt64 {
        if case .counter(let next) = core.oath?.factor { next } else { 0 }
    }

    /// Returns the next code. The incremented counter is stored before the code is returned. After a failure a code may be
    /// skipped, but no code is returned twice.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store fails: the
    ///   counter is then unchanged; ``FRAError`` when the SDK has not started.
    public func generateCode() throws -> OathTokenCode {
        try LegacyEngine.of(box.token).generateCode(self)
    }

    /// Returns the mechanism as JSON text, in the form of the ForgeRock SDK for iOS. The text contains the secret.
    public func toJson() -> String? { LegacyJSON.text(of: core.legacyMembers) }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(core.legacyMembers).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`, also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .hotp) }
        self.init(value)
    }
}
