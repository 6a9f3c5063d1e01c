import Foundation
import SignetCore
import TestSupport
import Testing

@testable import signet

@Suite("The screen of signet watch")
struct WatchFrameTests {
    /// Returns the lines without the spaces at their ends, and without empty lines.
    private static func shown(_ model: WatchModel) -> [String] {
        WatchFrame.lines(model, colors: false).map { line in
            var line = line
            while line.last == " " { line.removeLast() }
            return line
        }.filter { !$0.isEmpty }
    }

    /// Returns a line with a text at its left and one at its right end.
    private static func line(_ left: String, _ right: String, columns: Int) -> String {
        left + String(repeating: " ", count: columns - left.count - right.count) + right
    }

    /// The code of the first account in two groups.
    private static var digits: String {
        get throws { WatchAccount.grouped(try WatchSample.code.digits) }
    }

    // MARK: Accounts

    @Test("A terminal of 80 or 120 columns shows issuer, account, code, bar and seconds in columns", arguments: [80, 120])
    func drawsWideScreen(columns: Int) throws {
        let model = WatchSample.model(try WatchSample.accounts, columns: columns)
        let digits = try Self.digits
        let expected = [
            Self.line("Search: _", "3 codes", columns: columns),
            "> Harbor Bank  mira              \(digits)    [====      ]  10 s", "  Library      4711              counter 7",
            "  Ferry        mira@example.com  locked", "Enter copies, Esc ends",
        ]
        #expect(Self.shown(model) == expected)
    }

    @Test("A terminal of 40 columns shows issuer and account in one column, and no bar where the names need its room")
    func drawsNarrowScreen() throws {
        let model = WatchSample.model(try WatchSample.accounts, columns: 40, rows: 12)
        let digits = try Self.digits
        let expected = [
            Self.line("Search: _", "3 codes", columns: 40), "> Harbor Bank: mira     \(digits)    10 s",
            "  Library: 4711         counter 7", "  Ferry: mira@example.… locked", "Enter copies, Esc ends",
        ]
        #expect(Self.shown(model) == expected)
    }

    @Test("A narrow terminal shows a short bar beside short names")
    func drawsNarrowBar() throws {
        let accounts = Array(try WatchSample.accounts.prefix(1))
        let model = WatchSample.model(accounts, columns: 42, rows: 12)
        let digits = try Self.digits
        #expect(Self.shown(model)[1] == "> Harbor Bank: mira \(digits) [==  ]  10 s")
    }

    @Test("Accounts of one issuer are told apart in a terminal of 40 columns")
    func distinguishesAccounts() throws {
        let code = try WatchSample.code
        let accounts = [112, 126].map { number in
            WatchAccount(
                id: "n\(number)", issuer: "A Very Long Name of a Bank", name: "user\(number)@example.com", content: .code(code))
        }
        let lines = Self.shown(WatchSample.model(accounts, columns: 40, rows: 12))
        #expect(lines[1].hasPrefix("> A Very Lo…: user112@ex… "))
        #expect(lines[2].hasPrefix("  A Very Lo…: user126@ex… "))
    }

    @Test("A terminal of 20 columns shows the names, as far as they have room, and the codes")
    func drawsTinyScreen() throws {
        let model = WatchSample.model(try WatchSample.accounts, columns: 20, rows: 10)
        let digits = try Self.digits
        let expected = [
            "Search: _    3 codes", "> Harbor… \(digits)", "  Librar… counter 7", "  Ferry:… locked", "Enter copies, Esc e…",
        ]
        #expect(Self.shown(model) == expected)
    }

    @Test("An empty vault and a search without a similar account say what to do")
    func drawsEmptyList() throws {
        let empty = Self.shown(WatchSample.model([]))
        #expect(
            empty == [
                Self.line("Search: _", "0 codes", columns: 80),
                "  No account makes codes yet. Add one with 'signet enroll FILE'.",
                "Esc ends",
            ])
        let none = Self.shown(WatchSample.model(try WatchSample.accounts, filter: "zebra"))
        #expect(
            none == [
                Self.line("Search: zebra_", "0 of 3", columns: 80),
                "  No account is similar to 'zebra'. Esc clears the search.", "Esc goes back",
            ])
    }

    @Test("One account of 500 is found by its name, and the number of similar ones is shown")
    func drawsFoundAccount() throws {
        let model = WatchSample.model(try WatchSample.many(500), rows: 10, filter: "user499")
        let lines = Self.shown(model)
        #expect(lines.count == 3)
        #expect(lines[0] == Self.line("Search: user499_", "1 of 500", columns: 80))
        let isFound = lines[1].hasPrefix("> Service 49  user499  ")
        #expect(isFound, "\(lines[1])")
    }

    @Test("A long list is scrolled to the selected account")
    func scrollsList() throws {
        var model = WatchSample.model(try WatchSample.many(500), rows: 10)
        _ = model.press([.end])
        let lines = Self.shown(model)
        let (isFirst, isLast) = (lines[1].contains("user492 "), lines[8].hasPrefix("> ") && lines[8].contains("user499 "))
        #expect(lines.count == 10 && isFirst && isLast)
    }

    @Test("The end of a long search is shown, where the user types")
    func showsEndOfSearch() throws {
        let model = WatchSample.model(try WatchSample.accounts, columns: 30, filter: "abcdefghijklmnopqrstuvwxyz")
        #expect(Self.shown(model)[0] == "Search: …nopqrstuvwxyz_ 0 of 3")
    }

    // MARK: Time

    /// The seconds after the start of the test's time, and the end of the first account's line.
    private static let ends: [(seconds: Double, end: String)] = [
        (0, "[====      ]  10 s"), (1, "[===       ]   9 s"), (4, "[==        ]   6 s"), (5, "[==        ]   5 s!"),
        (9, "[=         ]   1 s!"), (10, "  ..."), (700, "  hidden"),
    ]

    @Test("A bar and the seconds show how long a code is valid, and a mark that it ends soon", arguments: ends)
    func countsDown(end: (seconds: Double, end: String)) throws {
        var model = WatchSample.model(try WatchSample.accounts)
        model.advance(to: WatchSample.now.addingTimeInterval(end.seconds))
        let line = Self.shown(model)[1]
        #expect(line.hasSuffix(end.end), "\(line)")
        let digits = try Self.digits
        #expect(line.contains(digits) == (end.seconds < 10))
    }

    // MARK: Messages

    private static let messages = [
        WatchMessage(
            id: "m1", title: "Harbor: mira", text: "Log in?", unsignedText: "Harbor says hello",
            context: "address 203.0.113.9, browser Firefox on Linux", kind: .number(choices: [34, 56, 82]),
            expiresAt: WatchSample.now.addingTimeInterval(90)),
        WatchMessage(
            id: "m2", title: "Ferry: mira", text: "Approve?", kind: .tap, expiresAt: WatchSample.now.addingTimeInterval(10)),
    ]

    @Test("Messages that wait are above the accounts, one line each, and the selected one with its numbers and its context")
    func drawsMessages() throws {
        var model = WatchSample.model(try WatchSample.accounts, Self.messages, columns: 120, rows: 50)
        let digits = try Self.digits
        let accounts = [
            "Harbor Bank  mira              \(digits)    [====      ]  10 s", "  Library      4711              counter 7",
            "  Ferry        mira@example.com  locked",
        ]
        let unselected = [
            "2 logins wait  Tab selects one", Self.line("  Harbor: mira  Log in?", "1:30", columns: 120),
            Self.line("  Ferry: mira  Approve?", "0:10", columns: 120), Self.line("Search: _", "3 codes", columns: 120),
            "> " + accounts[0], accounts[1], accounts[2], "Enter copies, Esc ends",
        ]
        #expect(Self.shown(model) == unselected)
        _ = model.press([.tab, .text("5")])
        let selected = [
            "2 logins wait  d denies, Tab goes back", Self.line("> Harbor: mira", "1:30", columns: 120), "    Log in?",
            "    not signed: “Harbor says hello”", "    address 203.0.113.9, browser Firefox on Linux",
            "    Number: 34  56  82  5_",
            Self.line("  Ferry: mira  Approve?", "0:10", columns: 120), Self.line("Search:", "3 codes", columns: 120),
            "  " + accounts[0], accounts[1], accounts[2], "Up and Down select, Esc goes back",
        ]
        #expect(Self.shown(model) == selected)
        _ = model.press([.down])
        let second = Self.shown(model)
        #expect(second[2] == Self.line("> Ferry: mira", "0:10", columns: 120) && second[4] == "    a approves")
        _ = model.press([.text("a")])
        #expect(Self.shown(model)[4] == "    Sending the answer...")
    }

    @Test(
        "Many messages leave a third of the screen to the accounts, and the selected one is always shown", arguments: [0, 10, 29])
    func limitsMessageLines(position: Int) throws {
        let messages = (0..<30).map { WatchSample.message("m\($0)") }
        var model = WatchSample.model(try WatchSample.accounts, messages)
        _ = model.press([.tab] + Array(repeating: WatchKey.down, count: position))
        let lines = Self.shown(model)
        let isShown = lines.contains { $0.hasPrefix("> Harbor: m\(position) ") }
        let (hasAnswer, hasCodes) = (lines.contains("    a approves"), lines.contains { $0.hasPrefix("  Harbor Bank  mira ") })
        #expect(isShown && hasAnswer && hasCodes && model.rowCount == 8)
    }

    // MARK: The last line

    @Test("Questions, states and errors are in the last line, in words")
    func drawsLastLine() throws {
        func last(_ change: (inout WatchModel) -> Void) throws -> String {
            var model = WatchSample.model(
                try WatchSample.accounts, [WatchSample.message("m1", .biometric, seconds: 900)], columns: 120)
            change(&model)
            return Self.shown(model).last ?? ""
        }
        let counter = try last { _ = $0.press([.down, .enter]) }
        #expect(counter == "y or n: use up the next code of Library: 4711?")
        let presence = try last { _ = $0.press([.tab, .text("a"), .text("y"), .text("e")]) }
        #expect(
            presence == "Type 'yes' to approve: ye_  This machine has no sensor: the check is simulated and recognizes no user.")
        let status = try last { $0.show("Copied\u{1B}[31m.") }
        #expect(status == "Copied\\u{1B}[31m.")
        let problem = try last { $0.fail("The agent is locked.", isLocked: true) }
        #expect(problem == "The agent is locked.")
        let paused = try last { $0.advance(to: WatchSample.now.addingTimeInterval(WatchModel.pauseSeconds)) }
        #expect(paused == "Codes are hidden. Press a key to show them.")
        let damaged = try last { model in
            var contents = model.contents
            contents.damagedCount = 2
            model.take(contents)
        }
        #expect(damaged == "2 records cannot be read; see 'signet accounts'. Esc ends.")
    }

    // MARK: Any size and any text

    /// States with names and messages that are long, wide, or hostile.
    private static var models: [WatchModel] {
        get throws {
            let long = String(repeating: "long name ", count: 30)
            let names = [
                "", "東京銀行株式会社", "한국은행", "🏦⚓👩‍👩‍👧❤\u{FE0F}", long, "\u{1B}[2J\u{1B}]0;x\u{07}", "a\r\nb\u{85}", "\u{202E}gnirts",
                "e\u{301}e\u{301}",
                "\u{301}\u{301}", "otpauth://totp/a?secret=GEZDGNBV",
            ]
            let code = try WatchSample.code
            let accounts = names.enumerated().map { index, name in
                WatchAccount(id: "a\(index)", issuer: name, name: names[names.count - 1 - index], content: .code(code))
            }
            let messages = names.enumerated().map { index, name in
                WatchMessage(
                    id: "m\(index)", title: name, text: name + name, unsignedText: name, context: name,
                    kind: .number(choices: Array(repeating: 12_345_678, count: 40)),
                    expiresAt: WatchSample.now.addingTimeInterval(90))
            }
            var withStatus = WatchSample.model(accounts)
            withStatus.show(long)
            var selected = WatchSample.model(accounts, messages)
            _ = selected.press([.tab, .down, .down])
            let counter = accounts + [WatchAccount(id: "c", issuer: long, name: long, content: .counter(.max))]
            return [
                WatchSample.model([]), withStatus, selected, WatchSample.model(accounts, messages, filter: "東e\u{301}"),
                WatchSample.model(counter, filter: "long"), WatchSample.model([], messages),
            ]
        }
    }

    @Test(
        "A frame fills a terminal of any size exactly, without control characters",
        arguments: [1, 2, 3, 9, 12, 13, 20, 25, 26, 39, 40, 59, 60, 80, 120, 300])
    func fillsTerminal(columns: Int) throws {
        for model in try Self.models {
            var model = model
            for rows in [1, 2, 3, 4, 5, 6, 12, 24, 50] {
                model.resize(to: TerminalSize(columns: columns, rows: rows))
                let lines = WatchFrame.lines(model, colors: false)
                let widths = Set(lines.map(\.displayWidth))
                #expect(lines.count == rows && widths == [columns], "\(columns) x \(rows): \(lines)")
                let hasControl = lines.contains { $0.unicodeScalars.contains { !$0.isVisible } }
                #expect(!hasControl)
            }
        }
    }

    @Test("With colors the lines have the same text, and each style ends in its line")
    func drawsColors() throws {
        let usual = WatchSample.model(try WatchSample.accounts, Self.messages)
        for model in try Self.models + [usual] {
            let (plain, styled) = (WatchFrame.lines(model, colors: false), WatchFrame.lines(model, colors: true))
            let stripped = styled.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
            #expect(stripped == plain)
            let ends = styled.allSatisfy { line in
                line.components(separatedBy: "\u{1B}[0m").count * 2 == line.components(separatedBy: "\u{1B}[").count + 1
            }
            #expect(ends)
        }
        let model = WatchSample.model(try WatchSample.accounts)
        let selected = WatchFrame.lines(model, colors: true)[1]
        #expect(selected.hasPrefix("\u{1B}[7m> \u{1B}[0m"))
    }

    @Test(
        "Colors are used unless NO_COLOR has a value or the terminal is called dumb",
        arguments: [
            ([:], true), (["TERM": "xterm"], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false),
            (["TERM": "dumb"], false),
        ] as [([String: String], Bool)])
    func decidesAboutColors(environment: [String: String], hasColors: Bool) {
        #expect(WatchScreen.hasColors(environment) == hasColors)
    }

    @Test("Only lines that have changed are drawn, and all of them on an empty screen or one of another height")
    func drawsChanges() {
        let old = ["one  ", "two  ", "three"]
        #expect(WatchScreen.changes(from: old, to: old) == "")
        #expect(WatchScreen.changes(from: old, to: ["one  ", "2    ", "three"]) == "\u{1B}[2;1H2    ")
        let whole = "\u{1B}[2J\u{1B}[1;1Hone  \u{1B}[2;1Htwo  \u{1B}[3;1Hthree"
        #expect(WatchScreen.changes(from: [], to: old) == whole)
        #expect(WatchScreen.changes(from: ["one  "], to: old) == whole)
    }

    // MARK: Speed

    @Test("A frame of 5,000 accounts takes about as long as one of 50")
    func drawsManyAccounts() throws {
        func time(_ count: Int) throws -> Duration {
            let model = WatchSample.model(try WatchSample.many(count))
            let clock = ContinuousClock()
            var best = Duration.seconds(1)
            for _ in 0..<20 { best = min(best, clock.measure { _ = WatchFrame.lines(model, colors: true) }) }
            return best
        }
        let (few, many) = (try time(50), try time(5000))
        #expect(many < few * 4 + .milliseconds(2), "\(few) and \(many)")
    }
}
