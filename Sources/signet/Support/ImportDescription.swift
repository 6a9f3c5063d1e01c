import SignetCore
import SignetTransfer

/// The report of an import, as text for the user or as JSON.
struct ImportDescription {
    let report: ImportReport
    let formats: [ImportFormat]
    let isDryRun: Bool

    func lines(json: Bool) -> [TerminalText] { json ? [JSONText.line(self.json)] : lines }

    private var lines: [TerminalText] {
        let action = isDryRun ? "Would import" : "Imported"
        let accounts = Set(report.imported.map(\.account) + report.bareAccounts).count
        var lines: [TerminalText] = [
            "\(action) \(report.imported.count.of("mechanism")) of \(accounts.of("account"))"
                + (report.notificationCount > 0 ? " and \(report.notificationCount.of("message"))" : "")
                + " (\(Self.titles(formats)))"
        ]
        let details = Dictionary(report.details.map { ($0.account, $0.text) }) { first, _ in first }
        lines += report.imported.map { $0.line + (details[$0.account] ?? "") }
        lines += report.bareAccounts.map { "  \($0.issuer): \($0.accountName)  []" + (details[$0] ?? "") }
        lines += report.restrictions.map(\.line)
        lines += report.skipped.lines
        return lines + report.leftOut.lines(for: "here")
    }

    private static func titles(_ formats: [ImportFormat]) -> String {
        var titles: [String] = []
        for format in formats where !titles.contains(format.title) { titles.append(format.title) }
        return titles.joined(separator: ", ")
    }

    private var json: JSONValue {
        .object([
            "dryRun": .bool(isDryRun),
            "formats": .array(formats.map { .string($0.rawValue) }),
            "imported": .array(
                report.imported.map { entry in
                    JSONText.object([
                        "issuer": .string(entry.account.issuer), "account": .string(entry.account.accountName),
                        "type": .string(entry.kind.rawValue), "assumesSHA1": .bool(entry.assumesSHA1),
                        "encoding": .string(entry.isSteam ? "steam" : nil), "renamedFrom": .string(entry.renamedFrom),
                    ])
                }),
            "details": .array(report.details.map(\.json)),
            "bareAccounts": .array(
                report.bareAccounts.map {
                    .object(["issuer": .string($0.issuer), "account": .string($0.accountName)])
                }),
            "restrictions": .array(report.restrictions.map(\.json)),
            "notifications": .integer(Int64(report.notificationCount)),
            "skipped": report.skipped.json,
            "leftOut": report.leftOut.json,
        ])
    }
}

extension ImportReport.Entry {
    fileprivate var line: TerminalText {
        let name = renamedFrom.map { "  renamed: \($0) has another secret" } ?? ""
        let algorithm = assumesSHA1 ? "  SHA1 assumed: no hash function is named" : ""
        let encoding = isSteam ? "  codes of Steam" : ""
        return "  \(account.issuer): \(account.accountName)  [\(kind.rawValue)]\(encoding)\(name)\(algorithm)"
    }
}

extension ImportReport.Details {
    /// The end of the line of an account.
    ///
    /// A note is as sensitive as a secret: the line only says that there is one.
    fileprivate var text: TerminalText {
        let place: TerminalText = groups.isEmpty ? "" : "  in \(groups.joined(separator: ", "))"
        let things = (hasNote ? ["a note"] : []) + (hasIcon ? ["an icon"] : [])
        let rest: TerminalText = things.isEmpty ? "" : "  with \(things.joined(separator: " and "))"
        return place + rest
    }

    fileprivate var json: JSONValue {
        .object([
            "issuer": .string(account.issuer), "account": .string(account.accountName),
            "groups": .array(groups.map { .string($0) }), "note": .bool(hasNote), "icon": .bool(hasIcon),
        ])
    }
}

extension ImportReport.Restriction {
    fileprivate var line: TerminalText {
        let parts =
            (lock.map { ["locked (\($0))"] } ?? [])
            + (policies.isEmpty ? [] : ["only on a device that meets these policies: \(policies.joined(separator: ", "))"])
        return
            "Restricted: \(account.issuer): \(account.accountName) with its codes and messages: \(parts.joined(separator: "; "))"
    }

    fileprivate var json: JSONValue {
        JSONText.object([
            "issuer": .string(account.issuer), "account": .string(account.accountName), "lock": .string(lock),
            "policies": .array(policies.map { .string($0) }),
        ])
    }
}

extension [SkippedEntry] {
    /// The lines for the user; empty for an empty list.
    var lines: [TerminalText] {
        isEmpty ? [] : ["Skipped \(count):"] + map { "  \($0.name)  [\($0.type)]  \($0.reason.rawValue): \($0.detail)" }
    }

    /// The list as JSON.
    var json: JSONValue {
        .array(
            map { entry in
                .object([
                    "name": .string(entry.name), "type": .string(entry.type), "reason": .string(entry.reason.rawValue),
                    "detail": .string(entry.detail),
                ])
            })
    }
}

/// The number of values that the destination cannot store, by the name of the value.
extension [String: Int] {
    /// Returns the lines for the user; empty without any such value.
    func lines(for destination: String) -> [TerminalText] {
        guard !isEmpty else { return [] }
        let names = sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
        return ["Left out, because it cannot be stored \(destination): \(names.joined(separator: ", "))"]
    }

    /// The numbers as JSON.
    var json: JSONValue { .object(mapValues { .integer(Int64($0)) }) }
}

extension Int {
    /// Returns the number with a noun in singular or plural.
    func of(_ thing: String) -> String { "\(self) \(thing)\(self == 1 ? "" : "s")" }
}
