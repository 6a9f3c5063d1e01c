import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Answers push messages for one account.
public final class PushMechanism: MechanismObject, MechanismState, Codable {
    private let attached = Mutex<[PushNotification]>([])
    let held: Held<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, origin: Origin?, notifications: [PushNotification] = []) {
        held = Held(value, origin: origin)
        attached.withLock { $0 = notifications }
    }

    /// The id by which the server knows the mechanism.
    public var mechanismUUID: String { core.uid }
    /// Always `push`.
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
    /// `issuer-accountName-push`.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that it belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }
    /// The messages that have come, in the order of ``FRAClient/getAllNotifications(mechanism:)``; empty for an object that did not come from ``FRAClient``.
    public var notifications: [PushNotification] { attached.withLock { $0 } }
    /// Those among ``notifications`` that are neither answered nor expired.
    public var pendingNotifications: [PushNotification] { notifications.filter { $0.isPending && !$0.isExpired } }

    /// The mechanism as JSON text, in the form of the legacy iOS SDK. It holds the secret.
    public func toJson() -> String? { LegacyJSON.text(of: core.legacyMembers) }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(core.legacyMembers).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`; also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .push) }
        self.init(value, origin: nil)
    }
}
