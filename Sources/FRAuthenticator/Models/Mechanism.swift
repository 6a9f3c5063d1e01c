import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One way of proving who one is: a ``TOTPMechanism``, an ``HOTPMechanism`` or a ``PushMechanism``.
///
/// The documents' word. It is a name for "any of these", so that code which takes it from the documents compiles in every
/// language mode of Swift.
public typealias Mechanism = any MechanismObject

/// A ``TOTPMechanism`` or an ``HOTPMechanism``.
public typealias OathMechanism = any OathMechanismObject

/// What every mechanism tells of itself. Only this module's classes conform.
public protocol MechanismObject: AnyObject, Sendable, Encodable {
    /// The id by which the server knows the mechanism.
    var mechanismUUID: String { get }
    /// `totp`, `hotp` or `push`.
    var type: String { get }
    /// The organisation.
    var issuer: String { get }
    /// The person's name there.
    var accountName: String { get }
    /// When it was enrolled.
    var timeAdded: Date { get }
    /// The user's id on the server, if the server told.
    var uid: String? { get }
    /// The device's id on the server, if the server told.
    var resourceId: String? { get }
    /// `issuer-accountName-type`: an account has one mechanism of a type.
    var identifier: String { get }
    /// The identifier of the account that it belongs to.
    var accountIdentifier: String { get }
    /// The mechanism as JSON text, in the form of the legacy iOS SDK. It holds the secret.
    func toJson() -> String?
}

/// What makes one-time codes.
public protocol OathMechanismObject: MechanismObject {
    /// How many digits a code has.
    var digits: Int { get }
    /// `sha1`, `sha256` or `sha512`.
    var algorithm: String { get }
    /// The code to show now; see ``TOTPMechanism/generateCode()`` and ``HOTPMechanism/generateCode()``.
    func generateCode() throws -> OathTokenCode
}

/// Reads mechanisms of whatever type.
public enum Mechanisms {
    /// Reads what `toJson()` of a mechanism wrote, of either legacy SDK's form.
    /// - Throws: `DecodingError`, which names the member that is missing or wrong and never what is in it.
    public static func fromJson(_ json: String) throws -> Mechanism {
        try LegacyJSON.read("mechanism", json) { object(for: try SignetCore.Mechanism(legacy: $0)) }
    }

    /// The object for a mechanism of the engine.
    static func object(for value: SignetCore.Mechanism, origin: Origin? = nil) -> any MechanismState {
        switch value.kindName {
        case .totp: TOTPMechanism(value, origin: origin)
        case .hotp: HOTPMechanism(value, origin: origin)
        case .push: PushMechanism(value, origin: origin)
        }
    }
}

/// The inside of a mechanism's object.
protocol MechanismState: MechanismObject {
    var held: Held<SignetCore.Mechanism> { get }
}

extension MechanismState {
    var core: SignetCore.Mechanism { held.value }
}

/// A value of the engine inside an object of this module, and where it came from.
final class Held<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, origin: Origin?)>

    init(_ value: Value, origin: Origin?) {
        state = Mutex((value, origin))
    }

    var value: Value { state.withLock { $0.value } }
    var origin: Origin? { state.withLock { $0.origin } }
    /// Both, as they belong together.
    var snapshot: (value: Value, origin: Origin?) { state.withLock { $0 } }

    /// Takes over what was stored.
    func take(_ value: Value, origin: Origin?) {
        state.withLock { $0 = (value, origin) }
    }
}

extension SignetCore.Mechanism {
    /// `issuer-accountName-type`.
    var legacyIdentifier: String { "\(account.legacyIdentifier)-\(kindName.rawValue)" }
}
