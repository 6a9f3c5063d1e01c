package import SignetCore

/// The name of a group of fields of an account.
///
/// The fields of a group have one version together.
///
/// It is a struct, so that a group of a later version is kept and passed on.
package struct SyncGroup: RawRepresentable, Sendable, Hashable, Comparable {
    /// The times at which the account and its mechanisms were added.
    package static let added = SyncGroup(rawValue: "added")
    /// The names that the user chose.
    package static let names = SyncGroup(rawValue: "names")
    /// The groups, the note, the icon, the logo, the color, and members of a later version.
    package static let details = SyncGroup(rawValue: "details")
    /// The manual lock and the policies of the issuer.
    package static let lock = SyncGroup(rawValue: "lock")
    /// The secret and the settings of the time-based codes; null when the account has none.
    package static let totp = SyncGroup(rawValue: "totp")
    /// The secret and the settings of the counter-based codes, without the counter; null when the account has none.
    package static let hotp = SyncGroup(rawValue: "hotp")
    /// The id of the machine that generates the counter-based codes.
    package static let owner = SyncGroup(rawValue: "owner")

    /// The groups whose lost values become a ``SyncConflict``, which is reported to the user and stored with the value.
    static let told: [SyncGroup] = [.names, .details, .lock, .totp, .hotp]

    /// The name of the group in files.
    package let rawValue: String

    /// Creates a group from its name.
    package init(rawValue: String) { self.rawValue = rawValue }

    package static func < (left: SyncGroup, right: SyncGroup) -> Bool { left.rawValue < right.rawValue }
}

/// The value of a group of fields, as JSON.
///
/// It may contain a secret, so no text form of it shows the content.
package struct SyncValue: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value.
    package let json: JSONValue

    /// The value of a group that an account does not have.
    static let absent = SyncValue(.null)

    /// Creates a value.
    package init(_ json: JSONValue) { self.json = json }

    /// True when the value nests at most two levels deeper than a policy of an account may, which a group contains.
    var isStorable: Bool {
        json.isStorable || json.object.map { $0.values.allSatisfy(Self.isStorablePart) } ?? false
    }

    private static func isStorablePart(_ part: JSONValue) -> Bool {
        part.isStorable || part.object.map { $0.values.allSatisfy(\.isStorable) } ?? false
    }

    package var description: String { "<synchronized value>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The newest known value of a group of fields, with its version.
package struct SyncRegister: Sendable, Hashable {
    /// The version of the value.
    package let version: SyncVersion
    /// The newest version that the machine knew when it made the change; nil for the first value.
    ///
    /// A value that loses against this one, and is newer than the base, was set by a machine that did not know this one: a
    /// conflict.
    package let base: SyncVersion?
    /// The value.
    package let value: SyncValue

    /// Creates a register.
    package init(version: SyncVersion, base: SyncVersion?, value: SyncValue) {
        self.version = version
        self.base = base
        self.value = value
    }

    /// Returns the newer one of two registers.
    ///
    /// Two different values with the same version exist only when a vault was copied to a second machine. Then the order of their
    /// texts decides, so that all machines choose the same one.
    static func newer(_ left: SyncRegister, _ right: SyncRegister) -> SyncRegister {
        if left.version != right.version { return left.version < right.version ? right : left }
        return left == right || left.orderedText > right.orderedText ? left : right
    }

    private var orderedText: String { JSON.text(of: value.json) + (base?.text ?? "") }
}

/// The position of an HOTP counter.
///
/// It belongs to one secret: a new secret has a counter of its own. For one secret the higher position counts, because a counter
/// never moves back.
package struct SyncCounter: Sendable, Hashable, Comparable {
    /// The version of the group ``SyncGroup/hotp`` whose counter it is.
    package let secret: SyncVersion
    /// The counter of the next code.
    package let next: UInt64

    /// Creates a position.
    package init(secret: SyncVersion, next: UInt64) {
        self.secret = secret
        self.next = next
    }

    package static func < (left: SyncCounter, right: SyncCounter) -> Bool {
        (left.secret, left.next) < (right.secret, right.next)
    }
}

/// The mark that an account was removed.
package struct SyncRemoval: Sendable, Hashable {
    /// The version of the removal.
    package let version: SyncVersion
    /// The newest version of a group of the account that the machine knew when the account was removed.
    package let base: SyncVersion?
    /// The time of the removal in seconds since 1970, by the clock of the machine.
    package let time: Int

    /// The seconds for which a removal is kept: 365 days.
    ///
    /// A machine that synchronizes for the first time after that brings back the accounts that were removed meanwhile.
    package static let lifetime = 365 * 86_400

    /// Creates a removal.
    package init(version: SyncVersion, base: SyncVersion?, time: Int) {
        self.version = version
        self.base = base
        self.time = time
    }

    static func newer(_ left: SyncRemoval, _ right: SyncRemoval) -> SyncRemoval {
        left.isBefore(right) ? right : left
    }

    private func isBefore(_ other: SyncRemoval) -> Bool {
        if version != other.version { return version < other.version }
        return (time, base?.text ?? "") < (other.time, other.base?.text ?? "")
    }
}

/// The knowledge about one account: the newest value of each group of fields, and its removal.
///
/// Entries form a join-semilattice: ``joined(with:)`` is commutative, associative and idempotent, so machines that have read the
/// same files have the same entries, in whatever order they read them.
package struct SyncEntry: Sendable, Hashable {
    /// The values by the name of the group.
    package var registers: [SyncGroup: SyncRegister] = [:]
    /// The position of the HOTP counter.
    package var counter: SyncCounter?
    /// The newest removal.
    package var removal: SyncRemoval?

    /// Creates an empty entry.
    package init() {}

    /// The version of the newest change of a value; nil when the entry has no value.
    package var lastEdit: SyncVersion? { registers.values.lazy.map(\.version).max() }

    /// True when the account exists: it was never removed, or was changed by a newer change than the removal.
    package var isLive: Bool {
        guard let lastEdit else { return false }
        return removal.map { $0.version < lastEdit } ?? true
    }

    /// The value of a group; ``SyncValue/absent`` without one.
    func value(_ group: SyncGroup) -> SyncValue { registers[group]?.value ?? .absent }

    /// The id of the machine that generates the counter-based codes; nil for an account without them.
    package var owner: String? { value(.hotp) == .absent ? nil : value(.owner).json.string }

    /// Returns the newest values and the newest removal of both entries.
    package func joined(with other: SyncEntry) -> SyncEntry {
        var joined = self
        joined.registers.merge(other.registers, uniquingKeysWith: SyncRegister.newer)
        if let theirs = other.counter { joined.counter = counter.map { max($0, theirs) } ?? theirs }
        if let theirs = other.removal { joined.removal = removal.map { SyncRemoval.newer($0, theirs) } ?? theirs }
        return joined
    }
}
