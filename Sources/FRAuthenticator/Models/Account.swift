import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An account in the authenticator: who, how it looks, and whether it is locked.
///
/// It is an object, as in the original SDK, and may be shared between tasks. What is changed in it is stored only by
/// ``FRAClient/updateAccount(account:)`` and its like.
public final class Account: Sendable, Codable {
    private let state: Mutex<State>

    private struct State {
        var value: SignetCore.Account
        /// The account as it was read or stored, without what the app has changed in this object since.
        var stored: SignetCore.Account
        /// Whether ``mechanisms`` were read when the account was.
        var areMechanismsRead: Bool
        /// The policy that locks the account, as it was found when the account was read. It is never stored.
        var violatedPolicy: String?
        var mechanisms: [Mechanism]
        var origin: Origin?
    }

    init(_ value: SignetCore.Account, violatedPolicy: String? = nil, mechanisms: [Mechanism] = [], origin: Origin? = nil) {
        state = Mutex(
            State(
                value: value, stored: value, areMechanismsRead: origin != nil, violatedPolicy: violatedPolicy,
                mechanisms: mechanisms, origin: origin))
    }

    /// The account as the engine knows it.
    var core: SignetCore.Account { state.withLock { $0.value } }
    /// The account as it was read, its mechanisms, and where they came from, as they belong together. There are no mechanisms
    /// where they were not read at the same time.
    var snapshot: (stored: SignetCore.Account, mechanisms: [Mechanism]?, origin: Origin?) {
        state.withLock { ($0.stored, $0.areMechanismsRead ? $0.mechanisms : nil, $0.origin) }
    }

    /// The organisation, as it was enrolled.
    public var issuer: String { core.id.issuer }
    /// The person's name there, as it was enrolled.
    public var accountName: String { core.id.accountName }
    /// `issuer-accountName`, by which ``FRAClient/getAccount(identifier:)`` finds the account.
    public var identifier: String { core.id.legacyIdentifier }
    /// The address of a logo.
    public var imageUrl: String? { core.imageURL }
    /// A colour, `#` and hexadecimal digits.
    public var backgroundColor: String? { core.backgroundColor }
    /// When the account was enrolled.
    public var timeAdded: Date { core.timeAdded }
    /// The issuer's policies: the text of a JSON object, names and parameters; nil when there are none.
    public var policies: String? {
        let policies = core.policies
        return policies.isEmpty ? nil : JSON.text(of: .object(policies))
    }
    /// The issuer to show; the enrolled one unless another was set.
    public var displayIssuer: String? {
        get { core.displayIssuer ?? issuer }
        set { state.withLock { $0.value.displayIssuer = newValue } }
    }
    /// The name to show; the enrolled one unless another was set.
    public var displayAccountName: String? {
        get { core.displayAccountName ?? accountName }
        set { state.withLock { $0.value.displayAccountName = newValue } }
    }
    /// What the account can do, the oldest first, and of a client of ``FRAClientBuilder`` push last; empty for an object that did not come from ``FRAClient``.
    public var mechanisms: [Mechanism] { state.withLock { $0.mechanisms } }
    /// Whether the account is locked: by hand, or by a policy that was not met when the account was read.
    public var lock: Bool { lockingPolicy != nil }
    /// The policy that locks the account; nil when it is not locked.
    public var lockingPolicy: String? { state.withLock { $0.value.lockingPolicy ?? $0.violatedPolicy } }

    /// Locks this object. ``FRAClient/lockAccount(account:policy:)`` locks the account and stores it.
    public func lock(policy: any FRAPolicy) {
        let name = policy.name
        state.withLock { $0.value.lockingPolicy = name }
    }

    /// Unlocks this object, whoever locked it. ``FRAClient/unlockAccount(account:)`` unlocks the account and stores it.
    public func unlock() {
        state.withLock { state in
            state.value.lockingPolicy = nil
            state.violatedPolicy = nil
        }
    }

    /// Takes over what was stored.
    func take(_ value: SignetCore.Account, origin: Origin?) {
        state.withLock { state in
            state.value = value
            state.stored = value
            state.areMechanismsRead = false
            state.origin = origin
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

    private convenience init(_ members: JSONMembers) throws {
        var policies: [String: JSONValue] = [:]
        if let text = try members.optionalText("policies"), !text.isEmpty {
            guard let object = try JSON.value(of: text.utf8).object else { throw JSONMemberError(name: "policies") }
            policies = object
        }
        var value = SignetCore.Account(
            id: AccountID(issuer: try members.text("issuer"), accountName: try members.text("accountName")),
            displayIssuer: try members.optionalText("displayIssuer"),
            displayAccountName: try members.optionalText("displayAccountName"), imageURL: try members.optionalText("imageURL"),
            backgroundColor: try members.optionalText("backgroundColor"),
            // Android's SDK knows no time of an account that came from a URI: it stands before all others.
            timeAdded: try members.optionalMoment("timeAdded") ?? Date(timeIntervalSince1970: 0), policies: policies)
        // The original counts an account as locked only when both are there.
        if try members.optionalTruth("lock") == true { value.lockingPolicy = try members.optionalText("lockingPolicy") }
        self.init(value)
    }

    /// The account as JSON text, in the form of the legacy iOS SDK.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads what ``toJson()`` of either legacy SDK's form wrote.
    /// - Throws: `DecodingError`, which names the member that is missing or wrong and never what is in it.
    public static func fromJson(_ json: String) throws -> Account {
        try LegacyJSON.read("account", json) { try Account($0) }
    }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        let account = try LegacyJSON.read("account", from: decoder) { try Account($0) }
        self.init(account.core)
    }
}
