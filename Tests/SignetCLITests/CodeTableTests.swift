import Foundation
import SignetCore
import TestSupport
import Testing

@testable import signet

@Suite("The table of codes")
struct CodeTableTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func entry(
        _ issuer: String, _ account: String, _ content: CodeEntry.Content, type: String = "totp"
    ) -> CodeEntry {
        CodeEntry(
            id: AccountID(issuer: issuer, accountName: account), shownIssuer: issuer, shownAccountName: account, type: type,
            content: content)
    }

    private static var entries: [CodeEntry] {
        get throws {
            let code = OATHSettings(secret: try OATHSample.secret).code(at: now)
            return [
                entry("Harbor Bank", "mira", .code(code)), entry("Library", "4711", .counter(7), type: "hotp"),
                entry("Ferry", "mira@example.com", .locked),
            ]
        }
    }

    @Test("The columns of the table have the width of their longest text, and nothing follows the last one")
    func alignsColumns() throws {
        let digits = try OATHSettings(secret: OATHSample.secret).code(at: Self.now).digits
        let lines = try CodeTable(Self.entries).lines(at: Self.now).map(\.description)
        #expect(
            lines == [
                "Harbor Bank  mira              \(digits)     10 s left", "Library      4711              counter 7",
                "Ferry        mira@example.com  locked",
            ])
        #expect(CodeTable([]).lines(at: Self.now) == [])
    }

    @Test("A counter of another machine has the name of that machine instead of a counter")
    func marksCounterElsewhere() {
        let entry = Self.entry("Library", "4711", .elsewhere(owner: "lap\u{1B}top"), type: "hotp")
        let lines = CodeTable([entry]).lines(at: Self.now).map(\.description)
        #expect(lines == ["Library  4711  codes on lap\\u{1B}top"])
        let json = entry.json(at: Self.now)
        #expect(json["counterOwner"] == .string("lap\u{1B}top") && json["counter"] == nil)
    }

    @Test("The JSON of an entry has the code and its validity, or the counter, or that the account is locked")
    func describesEntryAsJSON() throws {
        let json = try Self.entries.map { $0.json(at: Self.now) }
        let names = json.map { ($0.object?.keys).map { $0.sorted() } ?? [] }
        #expect(names[0] == ["account", "code", "issuer", "secondsLeft", "type", "validUntil"])
        #expect(json[0]["secondsLeft"] == .integer(10) && json[0]["validUntil"]?.string == "2023-11-14T22:13:30Z")
        #expect(names[1] == ["account", "counter", "issuer", "type"] && json[1]["counter"] == .integer(7))
        #expect(names[2] == ["account", "issuer", "locked", "type"] && json[2]["locked"] == .bool(true))
    }

    @Test("A frame cuts lines at the width of the terminal, and counts the lines below its last row")
    func fitsFrameIntoTerminal() throws {
        let frame = try CodeTable(Self.entries).frame(at: Self.now, columns: 12, rows: 3).description
        let lines = frame.components(separatedBy: "\u{1B}[K\r\n")
        #expect(lines == ["\u{1B}[HHarbor Bank ", "Library     ", "1 more line:\u{1B}[K\u{1B}[J"])
        let whole = try CodeTable(Self.entries).frame(at: Self.now, columns: 80, rows: 24).description
        #expect(whole.contains("counter 7") && whole.hasSuffix("Ctrl-C ends.\u{1B}[K\u{1B}[J"))
        let row = try CodeTable(Self.entries).frame(at: Self.now, columns: 80, rows: 1).description
        #expect(row.hasPrefix("\u{1B}[H3 more lines"))
    }

    @Test("A frame shortens long names, so that the codes are seen in a narrow terminal")
    func shortensNamesInFrame() throws {
        let digits = try OATHSettings(secret: OATHSample.secret).code(at: Self.now).digits
        let frame = try CodeTable(Self.entries).frame(at: Self.now, columns: 40, rows: 24).description
        let lines = frame.components(separatedBy: "\u{1B}[K\r\n")
        #expect(
            lines.prefix(3) == [
                "\u{1B}[HHarbor …  mira      \(digits)     10 s left", "Library   4711      counter 7",
                "Ferry     mira@ex…  locked",
            ])
    }

    @Test("Columns are aligned by the width of their text on a terminal, also below East Asian names")
    func alignsWideColumns() {
        let table = CodeTable([Self.entry("東京銀行", "mira", .counter(0)), Self.entry("Ferry", "e\u{301}a", .counter(1))])
        let lines = table.lines(at: Self.now).map(\.description)
        #expect(lines == ["東京銀行  mira  counter 0", "Ferry     e\u{301}a    counter 1"])
        let frame = table.frame(at: Self.now, columns: 5, rows: 2).description
        #expect(frame.hasPrefix("\u{1B}[H東京\u{1B}[K"))
    }

    @Test("Control characters in the names of accounts are escaped in the table")
    func escapesNamesInTable() {
        let table = CodeTable([Self.entry("\u{1B}]52;c;x\u{07}", "a\nb", .counter(0))])
        #expect(table.lines(at: Self.now).map(\.description) == ["\\u{1B}]52;c;x\\u{7}  a\\nb  counter 0"])
    }

    @Test("An entry is current until its code ends; a counter and a locked account have no end")
    func endsWithCode() throws {
        let entries = try Self.entries
        let later = Self.now.addingTimeInterval(10)
        let (isCurrent, isCurrentLater) = (
            entries.map { $0.isCurrent(at: Self.now) }, entries.map { $0.isCurrent(at: later) }
        )
        #expect(isCurrent == [true, true, true])
        #expect(isCurrentLater == [false, true, true])
    }
}
