public import Foundation
import SignetCore

/// An account in the authenticator: its names, its appearance and its lock.
///
/// It is an object, as in the ForgeRock SDK, and tasks may share it. Two objects are equal when they are the same object. Changes
/// to the object are stored only by ``FRAClient/updateAccount(account:)`` and similar functions.
public final class Account: NSObject, NSSecureCoding, Codable, Sendable {
    private let state: Mutex<State>

    private struct State {
        var value: SignetCore.Account
        /// The account as it was read or stored, without the app's later changes to this object.
        var stored: SignetCore.Account
        /// True when ``mechanisms`` were read together with the account.
        var areMechanismsRead: Bool
        /// The policy that locked the account at the time it was read.
        ///
        /// It is never stored.
        var violatedPolicy: String?
        var mechanisms: [Mechanism]
        var token: CacheToken?
    }

    init(_ value: SignetCore.Account, violatedPolicy: String? = nil, mechanisms: [Mechanism] = [], token: CacheToken? = nil) {
        state = Mutex(
            State(
                value: value, stored: value, areMechanismsRead: token != nil, violatedPolicy: violatedPolicy,
                mechanisms: mechanisms, token: token))
        super.init()
    }

    /// The account as a value of the engine.
    var core: SignetCore.Account { state.withLock { $0.value } }
    /// The account as it was read, its mechanisms and their cache token, in a consistent state.
    ///
    /// The mechanisms are nil when they were not read together with the account.
    var snapshot: (stored: SignetCore.Account, mechanisms: [Mechanism]?, token: CacheToken?) {
        state.withLock { ($0.stored, $0.areMechanismsRead ? $0.mechanisms : nil, $0.token) }
    }

    /// The issuer from the enrollment.
    public var issuer: String { core.id.issuer }
    /// The user's name from the enrollment.
    public var accountName: String { core.id.accountName }
    /// `issuer-accountName`, which ``FRAClient/getAccount(identifier:)`` takes.
    public var identifier: String { core.id.legacyIdentifier }
    /// The URL of a logo.
    public var imageUrl: String? { core.imageURL }
    /// The background color, as `#` and hexadecimal digits.
    public var backgroundColor: String? { core.backgroundColor }
    /// The time of the enrollment.
    public var timeAdded: Date { core.timeAdded }
    /// The issuer's policies as JSON text: an object with names and parameters.
    ///
    /// Nil when the account has no policies.
    public var policies: String? {
        let policies = core.policies
        return policies.isEmpty ? nil : JSON.text(of: .object(policies))
    }
    /// The issuer to show.
    ///
    /// The default is the enrolled issuer.
    public var displayIssuer: String? {
        get { core.displayIssuer ?? issuer }
        set { state.withLock { $0.value.displayIssuer = newValue } }
    }
    /// The name to show.
    ///
    /// The default is the enrolled name.
    public var displayAccountName: String? {
        get { core.displayAccountName ?? accountName }
        set { state.withLock { $0.value.displayAccountName = newValue } }
    }
    /// The mechanisms of the account, oldest first; for a client of ``FRAClientBuilder``, push is last.
    ///
    /// Empty for an object that did not come from ``FRAClient``.
    public var mechanisms: [Mechanism] { state.withLock { $0.mechanisms } }
    /// True when the account is locked, manually or by a policy that was not met when the account was read.
    public var lock: Bool { lockingPolicy != nil }
    /// The policy that locks the account; nil when the account is not locked.
    public var lockingPolicy: String? { state.withLock { $0.value.lockingPolicy ?? $0.violatedPolicy } }

    /// Locks this object only.
    ///
    /// ``FRAClient/lockAccount(account:policy:)`` locks the account and stores the lock.
    public func lock(policy: any FRAPolicy) {
        let name = policy.name
        state.withLock { $0.value.lockingPolicy = name }
    }

    /// Unlocks this object only, whatever locked it.
    ///
    /// ``FRAClient/unlockAccount(account:)`` unlocks the account and stores the change.
    public func unlock() {
        state.withLock { state in
            state.value.lockingPolicy = nil
            state.violatedPolicy = nil
        }
    }

    /// Takes over the stored value.
    func take(_ value: SignetCore.Account, token: CacheToken) {
        state.withLock { state in
            state.value = value
            state.stored = value
            state.areMechanismsRead = false
            state.token = token
        }
    }

    // MARK: JSON

    private var members: [String: JSONValue] {
        let (value, policy) = state.withLock { ($0.value, $0.value.lockingPolicy ?? $0.violatedPolicy) }
        var members = Dictionary(textsOrNull: [
            "id": value.id.legacyIdentifier, "issuer": value.id.issuer, "accountName": value.id.accountName,
            "displayIssuer": value.displayIssuer, "displayAccountName": value.displayAccountName, "imageURL": value.imageURL,
            "backgroundColor": value.backgroundColor, "policies": policies, "lockingPolicy": policy,
        ])
        members["timeAdded"] = .milliseconds(value.timeAdded)
        members["lock"] = .bool(policy != nil)
        return members
    }

    /// Returns the account as JSON text, in the form of the ForgeRock SDK for iOS.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads an account from the output of ``toJson()``, in the iOS or the Android form.
    /// - Throws: `DecodingError`, which names the missing or invalid member but never its content.
    public static func fromJson(_ json: String) throws -> Account {
        Account(try LegacyJSON.read("account", json) { try SignetCore.Account(forgeRock: $0) })
    }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try LegacyJSON.read("account", from: decoder) { try SignetCore.Account(forgeRock: $0) })
    }

    // MARK: NSSecureCoding

    /// True: an unarchiver can require the class.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the account under the keys of the ForgeRock SDK for iOS.
    public func encode(with coder: NSCoder) { LegacyArchive.account.write(members, [("timeAdded", timeAdded)], to: coder) }

    /// Reads an account from an archive of this SDK or of the ForgeRock SDK for iOS; nil when a value is missing or damaged.
    public convenience init?(coder: NSCoder) {
        let members = JSONMembers(LegacyArchive.account.read(coder))
        guard let value = try? SignetCore.Account(forgeRock: members) else { return nil }
        self.init(value)
    }
}
