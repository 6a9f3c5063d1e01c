import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A mechanism that answers push messages for an account.
public final class PushMechanism: MechanismObject, MechanismState, Codable {
    private let attached = Mutex<[PushNotification]>([])
    let box: Box<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil, notifications: [PushNotification] = []) {
        box = Box(value, token)
        attached.withLock { $0 = notifications }
    }

    /// The mechanism's identifier on the server.
    public var mechanismUUID: String { core.uid }
    /// Always `push`.
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
    /// `issuer-accountName-push`.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that the mechanism belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }
    /// The received notifications, in the order of ``FRAClient/getAllNotifications(mechanism:)``. Empty for an object that did
    /// not come from ``FRAClient``.
    public var notifications: [PushNotification] { attached.withLock { $0 } }
    /// The ``notifications`` that are neither answered nor expired.
    public var pendingNotifications: [PushNotification] { notifications.filter { $0.isPending && !$0.isExpired } }

    /// Returns the mechanism as JSON text, in the form of the ForgeRock SDK for iOS. The text contains the secret.
    public func toJson() -> String? { LegacyJSON.text(of: core.legacyMembers) }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(core.legacyMembers).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`, also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .push) }
        self.init(value)
    }
}
