public import Foundation
import SignetCore
import Synchronization

/// A way to authenticate: a ``TOTPMechanism``, an ``HOTPMechanism`` or a ``PushMechanism``.
///
/// The ForgeRock documentation uses this name. It stands for `any MechanismObject`, so that code from the documentation compiles
/// in every language mode of Swift.
public typealias Mechanism = any MechanismObject

/// A ``TOTPMechanism`` or an ``HOTPMechanism``.
public typealias OathMechanism = any OathMechanismObject

/// The members that every mechanism has.
///
/// Only this module's classes conform.
public protocol MechanismObject: AnyObject, Sendable, Encodable {
    /// The mechanism's identifier on the server.
    var mechanismUUID: String { get }
    /// `totp`, `hotp` or `push`.
    var type: String { get }
    /// The issuer from the enrollment.
    var issuer: String { get }
    /// The user's name from the enrollment.
    var accountName: String { get }
    /// The time of the enrollment.
    var timeAdded: Date { get }
    /// The user's identifier on the server, if the server sent one.
    var uid: String? { get }
    /// The device's identifier on the server, if the server sent one.
    var resourceId: String? { get }
    /// `issuer-accountName-type`, which is unique because an account has one mechanism of each type.
    var identifier: String { get }
    /// The identifier of the account that the mechanism belongs to.
    var accountIdentifier: String { get }
    /// Returns the mechanism as JSON text, in the form of the ForgeRock SDK for iOS. The text contains the secret.
    func toJson() -> String?
}

extension MechanismObject {
    /// The engine's value.
    ///
    /// Nil for no object, because only this module's classes conform.
    private var value: SignetCore.Mechanism? { (self as? any MechanismState)?.core }

    /// The mechanism's identifier on the server.
    public var mechanismUUID: String { value?.uid ?? "" }
    /// `totp`, `hotp` or `push`.
    public var type: String { value?.kindName.rawValue ?? "" }
    /// The issuer from the enrollment.
    public var issuer: String { value?.account.issuer ?? "" }
    /// The user's name from the enrollment.
    public var accountName: String { value?.account.accountName ?? "" }
    /// The time of the enrollment.
    public var timeAdded: Date { value?.timeAdded ?? .distantPast }
    /// The user's identifier on the server, if the server sent one.
    public var uid: String? { value?.userID }
    /// The device's identifier on the server, if the server sent one.
    public var resourceId: String? { value?.resourceID }
    /// `issuer-accountName-type`, which is unique because an account has one mechanism of each type.
    public var identifier: String { value?.legacyIdentifier ?? "" }
    /// The identifier of the account that the mechanism belongs to.
    public var accountIdentifier: String { value?.account.legacyIdentifier ?? "" }

    /// Returns the mechanism as JSON text, in the form of the ForgeRock SDK for iOS.
    ///
    /// The text contains the secret.
    public func toJson() -> String? { value.map { LegacyJSON.text(of: $0.legacyMembers) } }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws {
        try value.map { JSONValue.object($0.legacyMembers) }.encode(to: encoder)
    }
}

/// A mechanism that generates one-time codes.
public protocol OathMechanismObject: MechanismObject {
    /// The number of digits in a code.
    var digits: Int { get }
    /// `sha1`, `sha256` or `sha512`.
    var algorithm: String { get }
    /// Returns the current code; see ``TOTPMechanism/generateCode()`` and ``HOTPMechanism/generateCode()``.
    func generateCode() throws -> OathTokenCode
}

extension OathMechanismObject {
    private var settings: OATHSettings? { (self as? any MechanismState)?.core.oath }

    /// The number of digits in a code.
    public var digits: Int { (settings?.digits ?? .six).count }
    /// `sha1`, `sha256` or `sha512`.
    public var algorithm: String { (settings?.algorithm ?? .sha1).rawValue.lowercased() }
}

/// Functions that read mechanisms of any type.
public enum Mechanisms {
    /// Reads a mechanism from the output of `toJson()`, in the iOS or the Android form.
    /// - Throws: `DecodingError`, which names the missing or invalid member but never its content.
    public static func fromJson(_ json: String) throws -> Mechanism {
        try LegacyJSON.read("mechanism", json) { object(for: try SignetCore.Mechanism(forgeRock: $0)) }
    }

    /// Returns the object for a mechanism of the engine.
    static func object(for value: SignetCore.Mechanism, _ token: CacheToken? = nil) -> any MechanismState {
        switch value.kindName {
        case .totp: TOTPMechanism(value, token)
        case .hotp: HOTPMechanism(value, token)
        case .push: PushMechanism(value, token)
        }
    }
}

/// The internal interface of a mechanism's object.
protocol MechanismState: MechanismObject {
    var box: Box<SignetCore.Mechanism> { get }
}

extension MechanismState {
    var core: SignetCore.Mechanism { box.value }
}

/// The engine's value inside an object of this module, with its cache token.
final class Box<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, token: CacheToken?)>

    init(_ value: Value, _ token: CacheToken?) {
        state = Mutex((value, token))
    }

    /// The value and its cache token, in a consistent state.
    var content: (value: Value, token: CacheToken?) { state.withLock { $0 } }
    var value: Value { content.value }
    var token: CacheToken? { content.token }

    /// Takes over the stored value.
    func take(_ value: Value, _ token: CacheToken) { state.withLock { $0 = (value, token) } }
}

extension SignetCore.Mechanism {
    /// `issuer-accountName-type`.
    var legacyIdentifier: String { "\(account.legacyIdentifier)-\(kindName.rawValue)" }
}
