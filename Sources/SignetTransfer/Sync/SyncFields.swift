import Foundation
import SignetAuthenticator
package import SignetCore

/// The account and the mechanisms of one account of a vault, as far as they are synchronized, divided into groups of fields.
///
/// Push mechanisms are left out: a server sends the messages of one registration to one device.
package struct SyncFields: Sendable, Hashable {
    /// The values by the name of the group, without ``SyncGroup/owner``.
    package private(set) var values: [SyncGroup: SyncValue] = [:]
    /// The counter of the next HOTP code; nil without such codes.
    package private(set) var counter: UInt64?
    /// The name of the machine that generates the HOTP codes; nil when it is this machine, and without such codes.
    package private(set) var counterOwner: String?

    /// Creates the fields of an account.
    /// - Parameters:
    ///   - account: The account.
    ///   - mechanisms: The mechanisms of the account. Push mechanisms are ignored.
    package init(_ account: Account, _ mechanisms: [Mechanism]) {
        var members = account.storedMembers
        members["id"] = nil
        members["timeAdded"] = nil
        var times = [Self.accountTime: SyncTime.value(account.timeAdded)]
        values[.names] = Self.take(Self.nameMembers, from: &members)
        values[.lock] = Self.take(Self.lockMembers, from: &members)
        values[.details] = SyncValue(Self.canonical(.object(members)))
        for mechanism in mechanisms where mechanism.oath != nil {
            add(mechanism)
            times[mechanism.kindName.rawValue] = SyncTime.value(mechanism.timeAdded)
        }
        values[.added] = SyncValue(.object(times))
    }

    /// The name of the account's time in ``SyncGroup/added``, which also has the times of the mechanisms.
    static let accountTime = "account"

    /// The value of a group; ``SyncValue/absent`` for a mechanism that the account does not have.
    func value(_ group: SyncGroup) -> SyncValue { values[group] ?? .absent }

    static let nameMembers = ["displayIssuer", "displayAccountName"]
    static let lockMembers = ["lockingPolicy", "policies"]

    private static func take(_ names: [String], from members: inout [String: JSONValue]) -> SyncValue {
        var taken: [String: JSONValue] = [:]
        for name in names { taken[name] = members.removeValue(forKey: name) }
        return SyncValue(canonical(.object(taken)))
    }

    private mutating func add(_ mechanism: Mechanism) {
        var mechanism = mechanism
        counterOwner = mechanism.counterOwner ?? counterOwner
        mechanism.counterOwner = nil
        var members = mechanism.storedMembers
        members["uid"] = nil
        members["account"] = nil
        members["timeAdded"] = nil
        guard case .counter(let next) = mechanism.oath?.factor else {
            values[.totp] = SyncValue(Self.canonical(.object(members)))
            return
        }
        counter = next
        for (name, value) in members where mechanism.unknownMembers.values[name] == nil {
            guard var settings = value.object, settings["counter"] != nil else { continue }
            settings["counter"] = Self.noCounter
            members[name] = .object(settings)
        }
        values[.hotp] = SyncValue(Self.canonical(.object(members)))
    }

    /// The counter in the settings of a group, whose position has no version.
    private static let noCounter = JSONValue.string("")

    /// Returns the settings of a mechanism with a counter in its place.
    static func settings(_ value: SyncValue, with counter: UInt64) -> SyncValue {
        guard var members = value.json.object else { return value }
        for (name, member) in members {
            guard var settings = member.object, settings["counter"] == noCounter else { continue }
            settings["counter"] = .string(String(counter))
            members[name] = .object(settings)
        }
        return SyncValue(.object(members))
    }

    /// Returns a value as it is after it was written and read again, so that it equals the value in a file.
    ///
    /// Only a number with a fraction of zero changes: `3.0` is read as `3`.
    private static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number(let number): Int64(exactly: number).map { JSONValue.integer($0) } ?? (number.isFinite ? value : .null)
        case .array(let elements): .array(elements.map(canonical))
        case .object(let members): .object(members.mapValues(canonical))
        default: value
        }
    }
}

/// A time in a group of fields: the seconds since January 1, 2001, 00:00 UTC, as text, which keeps all digits.
private enum SyncTime {
    static func value(_ date: Date) -> JSONValue { .string(date.timeIntervalSinceReferenceDate.description) }

    /// Returns the stored form of the time with a name; that of the account for a name without one.
    static func stored(_ name: String, in value: SyncValue) -> JSONValue {
        let times = value.json.object ?? [:]
        let text = (times[name] ?? times[SyncFields.accountTime])?.string
        guard let seconds = text.flatMap({ Double($0) }), seconds.isFinite else { return .number(0) }
        return .number(seconds)
    }
}

// MARK: Accounts of an entry

/// An account and its mechanisms, made from the values of an entry.
///
/// The mechanisms have no id of the vault yet.
struct SyncedAccount {
    let account: Account
    /// The time-based mechanism; nil without one.
    let totp: Mechanism?
    /// The counter-based mechanism; nil without one.
    let hotp: Mechanism?

    /// Creates the account of an entry.
    ///
    /// Encryption does not make the content trusted: all texts must be safe to show, as those of a backup.
    /// - Throws: An error when this version cannot read a value, or must not show it.
    init(_ id: AccountID, _ entry: SyncEntry) throws {
        var members = entry.value(.details).json.object ?? [:]
        for (group, names) in [(SyncGroup.names, SyncFields.nameMembers), (SyncGroup.lock, SyncFields.lockMembers)] {
            let values = entry.value(group).json.object ?? [:]
            for name in names { members[name] = values[name] }
        }
        if members["policies"] == nil { members["policies"] = .object([:]) }
        members["id"] = .object(id.storedMembers)
        members["timeAdded"] = SyncTime.stored(SyncFields.accountTime, in: entry.value(.added))
        account = try Account(stored: JSONMembers(members))
        guard account.isSafeToShow else { throw UndecodableRecord() }
        totp = try Self.mechanism(entry.value(.totp), .totp, of: id, entry)
        hotp = try Self.mechanism(
            SyncFields.settings(entry.value(.hotp), with: entry.counter?.next ?? 0), .hotp, of: id, entry)
    }

    /// The id in the stored form until the mechanism gets an id of the vault.
    private static let noID = "-"

    /// Creates the mechanism of a group, whose counter is in its place; nil for ``SyncValue/absent``.
    private static func mechanism(
        _ value: SyncValue, _ kind: Mechanism.KindName, of id: AccountID, _ entry: SyncEntry
    ) throws -> Mechanism? {
        guard value != .absent else { return nil }
        guard var members = value.json.object else { throw UndecodableRecord() }
        members["uid"] = .string(noID)
        members["account"] = .object(id.storedMembers)
        members["timeAdded"] = SyncTime.stored(kind.rawValue, in: entry.value(.added))
        let mechanism = try Mechanism(stored: JSONMembers(members))
        guard mechanism.kindName == kind, mechanism.counterOwner == nil else { throw UndecodableRecord() }
        guard [mechanism.userID, mechanism.resourceID].allSatisfy({ $0?.isSafeToShow ?? true }) else {
            throw UndecodableRecord()
        }
        return mechanism
    }
}

extension Mechanism {
    /// Returns this mechanism under another id.
    func withID(_ uid: String) -> Mechanism {
        var mechanism = Mechanism(
            uid: uid, account: account, kind: kind, timeAdded: timeAdded, userID: userID, resourceID: resourceID)
        mechanism.counterOwner = counterOwner
        mechanism.unknownMembers = unknownMembers
        return mechanism
    }
}
