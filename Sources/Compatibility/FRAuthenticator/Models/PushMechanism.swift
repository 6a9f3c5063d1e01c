import SignetCore

/// A mechanism that answers push messages for an account.
public final class PushMechanism: MechanismObject, MechanismState, Codable {
    let box: Box<SignetCore.Mechanism>

    init(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil, notifications: [PushNotification] = []) {
        box = Box(value, token)
        self.notifications = notifications
    }

    /// The received notifications, in the order of ``FRAClient/getAllNotifications(mechanism:)``.
    ///
    /// Empty for an object that did not come from ``FRAClient``.
    public let notifications: [PushNotification]
    /// The ``notifications`` that are neither answered nor expired.
    public var pendingNotifications: [PushNotification] { notifications.filter { $0.isPending && !$0.isExpired } }

    /// Reads the members of ``MechanismObject/toJson()``.
    /// - Throws: `DecodingError`, also for a mechanism of another type.
    public convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0, .push) }
        self.init(value)
    }
}
