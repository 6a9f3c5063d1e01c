import Foundation
import SignetCore
import SignetTransfer

/// The report of a synchronization, as text for the user or as JSON.
struct SyncDescription {
    let report: SyncReport
    let state: SyncState

    func lines(json: Bool) -> [TerminalText] { json ? [JSONText.line(self.json)] : lines }

    private var lines: [TerminalText] {
        var lines: [TerminalText] = ["Synchronized with \(report.machineCount.of("other machine"))."]
        lines += report.added.map { "  new here: \($0.shown)" }
        lines += report.changed.map { change in
            "  changed here: \(change.account.shown): \(change.groups.map(\.words).joined(separator: ", "))"
        }
        lines += report.removed.map { "  removed here: \($0.shown)" }
        lines += report.sent.map { "  sent: \($0.shown)" }
        lines += report.sentRemovals.map { "  sent the removal of: \($0.shown)" }
        for counter in report.movedCounters {
            lines.append("  codes on \(counter.owner): \(counter.account.shown)")
            if counter.mayRepeat {
                lines.append("    this machine used codes that \(counter.owner) does not know of, so a code may have repeated")
            }
        }
        lines += report.unreadable.map { "  of a newer Signet, left as it is: \($0.shown)" }
        if !report.conflicts.isEmpty {
            lines.append("Changed on two machines; the other values are in 'signet sync conflicts':")
            lines += report.conflicts.map { "  " + ConflictDescription($0, number: nil, in: state).line }
        }
        if report.pushCount > 0 {
            let form = report.pushCount == 1 ? "is" : "are"
            lines.append("\(report.pushCount.of("push mechanism")) \(form) not synchronized: enroll each device by itself.")
        }
        if report.isVaultOlder {
            lines.append("This vault was older than its file in the folder: it was restored, or copied to a second machine.")
            lines.append("A copy needs an identity of its own: 'signet sync leave', then 'signet sync init'.")
        }
        for file in report.olderFiles {
            let numbers: TerminalText = "number \(file.sequence), and \(file.newest) was read before"
            lines.append("\(file.name) is an older copy of the file of \(file.machine): \(numbers). Nothing was taken back.")
        }
        for file in report.skippedFiles { lines.append("\(file.name) was not read: \(file.reason)") }
        return lines
    }

    private var json: JSONValue {
        .object([
            "machines": .integer(Int64(report.machineCount)), "added": .array(report.added.map(\.json)),
            "changed": .array(
                report.changed.map { change in
                    .object(change.account.members.merging(["groups": .names(change.groups)]) { first, _ in first })
                }),
            "removed": .array(report.removed.map(\.json)), "sent": .array(report.sent.map(\.json)),
            "sentRemovals": .array(report.sentRemovals.map(\.json)),
            "counters": .array(
                report.movedCounters.map { counter -> JSONValue in
                    let members: [String: JSONValue] = [
                        "owner": .string(counter.owner), "mayRepeat": .bool(counter.mayRepeat),
                    ]
                    return .object(counter.account.members.merging(members) { first, _ in first })
                }),
            "unreadable": .array(report.unreadable.map(\.json)),
            "conflicts": .array(report.conflicts.map { ConflictDescription($0, number: nil, in: state).json }),
            "pushNotSynchronized": .integer(Int64(report.pushCount)), "vaultWasOlder": .bool(report.isVaultOlder),
            "olderFiles": .array(
                report.olderFiles.map { file in
                    .object([
                        "file": .string(file.name), "machine": .string(file.machine),
                        "sequence": .integer(Int64(file.sequence)), "newest": .integer(Int64(file.newest)),
                    ])
                }),
            "skippedFiles": .array(
                report.skippedFiles.map { file in
                    .object(["file": .string(file.name), "code": .string(file.code), "reason": .string(file.reason)])
                }),
            "wrote": .bool(report.hasWritten),
        ])
    }
}

/// A conflict, as text for the user or as JSON.
///
/// Neither contains a secret or a note.
struct ConflictDescription {
    private let conflict: SyncConflict
    private let number: Int?
    private let state: SyncState

    /// Creates the description of a conflict.
    /// - Parameters:
    ///   - conflict: The conflict.
    ///   - number: The number by which the user names it; nil in a report.
    ///   - state: The state with the names of the machines.
    init(_ conflict: SyncConflict, number: Int?, in state: SyncState) {
        self.conflict = conflict
        self.number = number
        self.state = state
    }

    var line: TerminalText {
        let (kept, lost) = (state.name(of: conflict.winner.machine), state.name(of: conflict.loser.machine))
        let head: TerminalText = number.map { "\($0)  \(Self.time(conflict).text)  " } ?? ""
        let body: TerminalText
        if let group = conflict.group {
            let value: TerminalText = shownValue.map { " (\(JSON.text(of: $0)))" } ?? ""
            body = "\(group.words) of \(kept) stand, those of \(lost) were lost\(value)"
        } else if conflict.lost.json == .null {
            body = "changed on \(kept), so the removal on \(lost) was lost"
        } else {
            body = "removed on \(kept), so a change on \(lost) was lost"
        }
        return "\(head)\(conflict.account.shown): \(body)"
    }

    var json: JSONValue {
        let others = JSONText.object([
            "number": number.map { .integer(Int64($0)) }, "what": .string(conflict.group?.rawValue ?? "account"),
            "kept": .string(state.name(of: conflict.winner.machine)), "lost": .string(state.name(of: conflict.loser.machine)),
            "time": .string(Self.time(conflict).text), "value": shownValue,
        ])
        return .object(conflict.account.members.merging(others.object ?? [:]) { first, _ in first })
    }

    /// The lost value, if it is not sensitive: the names.
    private var shownValue: JSONValue? { conflict.group == .names ? conflict.lost.json : nil }

    private static func time(_ conflict: SyncConflict) -> Date { Date(timeIntervalSince1970: Double(conflict.time)) }
}

/// The state of a synchronization, as text for the user or as JSON.
struct SyncStatusDescription {
    private let settings: SyncSettings
    private let isThere: Bool
    private let live: [AccountID: SyncEntry]
    private let removed: [AccountID: SyncRemoval]

    /// Creates the description of the settings in a vault.
    ///
    /// It looks whether the folder is there.
    init(_ settings: SyncSettings) {
        self.settings = settings
        isThere = (try? SyncFolder(path: settings.folder).fileNames()) != nil
        live = settings.state.entries.filter { $0.value.isLive }
        removed = settings.state.entries.compactMapValues { $0.isLive ? nil : $0.removal }
    }

    func lines(json: Bool) -> [TerminalText] { json ? [JSONText.line(self.json)] : lines }

    private var machines: [(id: String, machine: SyncMachine)] {
        settings.state.machines.map { (id: $0.key, machine: $0.value) }
            .sorted { ($0.machine.name, $0.id) < ($1.machine.name, $1.id) }
    }

    private var elsewhere: [(account: AccountID, owner: String)] {
        live.keys.sorted(by: Self.isBefore).compactMap { id -> (account: AccountID, owner: String)? in
            guard let owner = live[id]?.owner, owner != settings.state.machine else { return nil }
            return (account: id, owner: settings.state.name(of: owner))
        }
    }

    private var lines: [TerminalText] {
        let state = settings.state
        var lines: [TerminalText] = [
            "Folder: \(settings.folder)" + (isThere ? "" : "  (not there now)"),
            "This machine: \(state.name)  (\(SyncFolder.fileName(of: state.machine)), number \(state.sequence))",
        ]
        lines += machines.map { other in
            "Other machine: \(other.machine.name)  (\(SyncFolder.fileName(of: other.id)), number \(other.machine.sequence))"
        }
        lines.append("\(live.count.of("account")), \(state.conflicts.count.of("conflict"))")
        lines += elsewhere.map { "Codes on \($0.owner): \($0.account.shown)" }
        lines += settings.held.sorted(by: Self.isBefore).map { "Of a newer Signet, left as it is: \($0.shown)" }
        lines += removed.keys.sorted(by: Self.isBefore).compactMap { id -> TerminalText? in
            guard let removal = removed[id] else { return nil }
            let machine = state.name(of: removal.version.machine)
            return "Removed on \(machine): \(id.shown)  (\(Self.date(removal).text), forgotten after \(Self.end(removal).text))"
        }
        return lines
    }

    private var json: JSONValue {
        let state = settings.state
        return .object([
            "folder": .string(settings.folder), "isThere": .bool(isThere),
            "machine": .object(Self.members(state.machine, state.name, state.sequence)),
            "machines": .array(machines.map { .object(Self.members($0.id, $0.machine.name, $0.machine.sequence)) }),
            "accounts": .integer(Int64(live.count)), "conflicts": .integer(Int64(state.conflicts.count)),
            "counters": .array(
                elsewhere.map { counter in
                    .object(counter.account.members.merging(["owner": .string(counter.owner)]) { first, _ in first })
                }),
            "unreadable": .array(settings.held.sorted(by: Self.isBefore).map(\.json)),
            "removals": .array(
                removed.keys.sorted(by: Self.isBefore).compactMap { id -> JSONValue? in
                    guard let removal = removed[id] else { return nil }
                    let members: [String: JSONValue] = [
                        "machine": .string(state.name(of: removal.version.machine)), "time": .string(Self.date(removal).text),
                        "keptUntil": .string(Self.end(removal).text),
                    ]
                    return .object(id.members.merging(members) { first, _ in first })
                }),
        ])
    }

    private static func members(_ id: String, _ name: String, _ sequence: Int) -> [String: JSONValue] {
        ["id": .string(id), "name": .string(name), "number": .integer(Int64(sequence))]
    }

    private static func date(_ removal: SyncRemoval) -> Date { Date(timeIntervalSince1970: Double(removal.time)) }

    private static func end(_ removal: SyncRemoval) -> Date {
        Date(timeIntervalSince1970: Double(removal.time + SyncRemoval.lifetime))
    }

    private static func isBefore(_ left: AccountID, _ right: AccountID) -> Bool {
        (left.issuer, left.accountName) < (right.issuer, right.accountName)
    }
}

extension AccountID {
    fileprivate var shown: TerminalText { "\(issuer): \(accountName)" }

    fileprivate var members: [String: JSONValue] { ["issuer": .string(issuer), "account": .string(accountName)] }

    fileprivate var json: JSONValue { .object(members) }
}

extension SyncGroup {
    /// The group in a sentence: in the plural.
    fileprivate var words: String {
        switch self {
        case .added: "the times"
        case .names: "the names"
        case .details: "the groups, note and icon"
        case .lock: "the lock and policies"
        case .totp: "the settings of the time-based codes"
        case .hotp: "the settings of the counter-based codes"
        case .owner: "the owners of the counter"
        default: "other values"
        }
    }
}

extension JSONValue {
    fileprivate static func names(_ groups: [SyncGroup]) -> JSONValue { .array(groups.map { .string($0.rawValue) }) }
}
