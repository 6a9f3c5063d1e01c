public import Foundation
import SignetCore

/// A way to authenticate: a ``TOTPMechanism``, an ``HOTPMechanism`` or a ``PushMechanism``.
///
/// It is an object, as in the ForgeRock SDK, and tasks may share it. Two objects are equal when they are the same object.
///
/// A decoder or an unarchiver that is asked for a `Mechanism` gives an object of the class for the mechanism's type. The JSON and
/// the archive contain the secret.
public class Mechanism: NSObject, NSSecureCoding, Codable, @unchecked Sendable {
    // `@unchecked`, because the compiler accepts only final classes. Each stored property of the hierarchy is a constant that is
    // `Sendable`.
    let box: Box<SignetCore.Mechanism>

    /// Creates the object for a mechanism of the engine.
    ///
    /// Use ``make(_:_:)``, which picks the class.
    init(_ value: SignetCore.Mechanism, _ token: CacheToken?) {
        box = Box(value, token)
        super.init()
    }

    /// Returns the object for a mechanism of the engine.
    static func make(_ value: SignetCore.Mechanism, _ token: CacheToken? = nil) -> Mechanism {
        switch value.kindName {
        case .totp: TOTPMechanism(value, token)
        case .hotp: HOTPMechanism(value, token)
        case .push: PushMechanism(value, token)
        }
    }

    /// The mechanism as this object has it.
    var core: SignetCore.Mechanism { box.value }

    /// Takes over the stored value, and keeps the app's changes to this object.
    func take(_ value: SignetCore.Mechanism, _ token: CacheToken) { box.take(value, token) }

    /// The mechanism's identifier on the server.
    public var mechanismUUID: String { core.uid }
    /// `totp`, `hotp` or `push`.
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
    /// `issuer-accountName-type`, which is unique because an account has one mechanism of each type.
    public var identifier: String { core.legacyIdentifier }
    /// The identifier of the account that the mechanism belongs to.
    public var accountIdentifier: String { core.account.legacyIdentifier }

    /// Returns the mechanism as JSON text, in the form of the ForgeRock SDK for iOS.
    ///
    /// The text contains the secret.
    public func toJson() -> String? { LegacyJSON.text(of: core.legacyMembers) }

    // MARK: Codable

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(core.legacyMembers).encode(to: encoder) }

    /// Reads the members of ``toJson()``, in the iOS or the Android form.
    /// - Throws: `DecodingError`, also for a mechanism of another type than this class has.
    public required convenience init(from decoder: any Decoder) throws {
        let value = try LegacyJSON.read("mechanism", from: decoder) { try SignetCore.Mechanism(legacy: $0) }
        guard let object = Self.made(value) else { throw LegacyJSON.unreadable("mechanism", "it has another type") }
        self.init(same: object)
    }

    // MARK: NSSecureCoding

    /// True: an unarchiver can require the class.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the mechanism under the keys of the ForgeRock SDK for iOS.
    public func encode(with coder: NSCoder) {
        let value = core
        var members = value.legacyMembers
        members["type"] = .string(value.oathType)
        members["version"] = .integer(1)
        LegacyArchive.mechanism.write(members, [("timeAdded", value.timeAdded)], to: coder)
    }

    /// Reads a mechanism from an archive of this SDK or of the ForgeRock SDK for iOS; nil when a value is missing or damaged, or
    /// when the mechanism has another type than this class.
    public required convenience init?(coder: NSCoder) {
        let members = JSONMembers(LegacyArchive.mechanism.read(coder))
        guard let value = try? SignetCore.Mechanism(legacy: members), let object = Self.made(value) else { return nil }
        self.init(same: object)
    }

    /// Returns the object for a value; nil when it isn't of this class.
    private class func made(_ value: SignetCore.Mechanism) -> Self? { make(value) as? Self }
}

/// An initializer that answers with an object of a subclass.
private protocol Substituted {}

extension Substituted {
    init(same object: Self) { self = object }
}

extension Mechanism: Substituted {}

/// A ``TOTPMechanism`` or an ``HOTPMechanism``.
public class OathMechanism: Mechanism, @unchecked Sendable {
    private var settings: OATHSettings? { core.oath }

    /// The number of digits in a code.
    ///
    /// A new value, from 4 to 8, is for the codes of this object only: another number changes nothing, and the SDK stores what was
    /// enrolled.
    public var digits: Int {
        get { (settings?.digits ?? .six).count }
        set { if newValue <= 8, let digits = OTPDigits(newValue) { change { $0.digits = digits } } }
    }

    /// The hash algorithm of the codes.
    public var algorithm: OathAlgorithm { OathAlgorithm(rawValue: (settings?.algorithm ?? .sha1).rawValue.lowercased()) }

    /// Returns the current code; see ``TOTPMechanism/generateCode()`` and ``HOTPMechanism/generateCode()``.
    public func generateCode() throws -> OathTokenCode {
        if let engine = box.token?.engine { return try engine.generateCode(self) }
        return try FRAProcess.current.generateCode(self)
    }

    override func take(_ value: SignetCore.Mechanism, _ token: CacheToken) {
        let shown = settings
        super.take(value, token)
        if let shown { change { $0 = $0.shown(as: shown) } }
    }

    /// Changes the settings that this object shows.
    func change(_ body: (inout OATHSettings) -> Void) {
        box.change { value in
            guard var settings = value.oath else { return }
            body(&settings)
            value.kind = .oath(settings)
        }
    }
}

/// A mechanism that generates counter-based one-time codes (HOTP) for an account.
public final class HOTPMechanism: OathMechanism, @unchecked Sendable {
    /// The counter of the next code.
    public var counter: UInt64 {
        if case .counter(let next) = core.oath?.factor { next } else { 0 }
    }

    /// Returns the next code.
    ///
    /// The incremented counter is stored before the code is returned. After a failure a code may be skipped, but no code is
    /// returned twice. A mechanism that was decoded and isn't stored yet is stored, with its account if that is missing.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store fails: the
    ///   counter is then unchanged; ``FRAError`` when the SDK has not started and its store can't be opened.
    public override func generateCode() throws -> OathTokenCode { try super.generateCode() }
}

/// A mechanism that generates time-based one-time codes (TOTP) for an account.
public final class TOTPMechanism: OathMechanism, @unchecked Sendable {
    /// The number of seconds that a code is valid.
    ///
    /// A new value is for the codes of this object only: a period that no code can have changes nothing, and the SDK stores what
    /// was enrolled.
    public var period: Int {
        get { if case .time(let period) = core.oath?.factor { period.seconds } else { OTPPeriod.thirtySeconds.seconds } }
        set { if let period = OTPPeriod(seconds: newValue) { change { $0.factor = .time(period: period) } } }
    }

    /// Returns the code for the current time.
    ///
    /// A mechanism that was decoded gives codes without being stored. Its account's lock applies when the store has the account.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/failedToUpdateInformation(_:)`` when the store can't be
    ///   read.
    public override func generateCode() throws -> OathTokenCode { try super.generateCode() }
}

/// A mechanism that answers push messages for an account.
public final class PushMechanism: Mechanism, @unchecked Sendable {
    private let received: Mutex<[PushNotification]>

    /// Creates the object for a mechanism of the engine.
    init(_ value: SignetCore.Mechanism, _ token: CacheToken?, notifications: [PushNotification]) {
        received = Mutex(notifications)
        super.init(value, token)
    }

    override convenience init(_ value: SignetCore.Mechanism, _ token: CacheToken?) {
        self.init(value, token, notifications: [])
    }

    /// The received notifications, in the order of ``FRAClient/getAllNotifications(mechanism:)``.
    ///
    /// Empty for an object that did not come from ``FRAClient``. A new value changes this object only.
    public var notifications: [PushNotification] {
        get { received.withLock { $0 } }
        set { received.withLock { $0 = newValue } }
    }

    /// The ``notifications`` that are not answered, as in the ForgeRock SDK: also those that have expired.
    ///
    /// Use ``PushNotification/isExpired`` to leave those out.
    public var pendingNotifications: [PushNotification] { notifications.filter(\.isPending) }
}

/// Functions that read mechanisms of any type.
public enum Mechanisms {
    /// Reads a mechanism from the output of ``Mechanism/toJson()``, in the iOS or the Android form.
    ///
    /// The ForgeRock SDK for Android stores no time with some mechanisms; such a mechanism sorts before all others.
    /// - Throws: `DecodingError`, which names the missing or invalid member but never its content.
    public static func fromJson(_ json: String) throws -> Mechanism {
        try LegacyJSON.read("mechanism", json) { Mechanism.make(try SignetCore.Mechanism(legacy: $0)) }
    }
}
