import Foundation
import SignetCore
import TestSupport
import Testing

@testable import signet

/// States of `signet watch` for tests.
enum WatchSample {
    /// 10 seconds before the end of a period of 30 seconds.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static var code: OneTimeCode {
        get throws { OATHSettings(secret: try OATHSample.secret).code(at: now) }
    }

    /// An account with a code, one with a counter, and one that is locked.
    static var accounts: [WatchAccount] {
        get throws {
            [
                WatchAccount(id: "a1", issuer: "Harbor Bank", name: "mira", content: .code(try Self.code)),
                WatchAccount(id: "a2", issuer: "Library", name: "4711", content: .counter(7)),
                WatchAccount(id: "a3", issuer: "Ferry", name: "mira@example.com", content: .locked),
            ]
        }
    }

    /// As many accounts as wanted, with different names.
    static func many(_ count: Int) throws -> [WatchAccount] {
        let code = try Self.code
        return (0..<count).map { number in
            WatchAccount(id: "n\(number)", issuer: "Service \(number % 50)", name: "user\(number)", content: .code(code))
        }
    }

    static func message(_ id: String, _ kind: PushKind = .tap, seconds: Double = 90) -> WatchMessage {
        WatchMessage(
            id: id, title: "Harbor: \(id)", text: "Log in?", context: "address 203.0.113.9", kind: kind,
            expiresAt: now.addingTimeInterval(seconds))
    }

    static func model(
        _ accounts: [WatchAccount], _ messages: [WatchMessage] = [], columns: Int = 80, rows: Int = 24, filter: String = ""
    ) -> WatchModel {
        var contents = WatchContents()
        contents.accounts = accounts
        contents.messages = messages
        var model = WatchModel(size: TerminalSize(columns: columns, rows: rows), now: now, filter: filter)
        model.take(contents)
        return model
    }
}

extension WatchModel {
    /// Takes keys, and returns the actions.
    mutating func press(_ keys: [WatchKey]) -> [WatchAction] {
        var actions: [WatchAction] = []
        for key in keys {
            if let action = handle(key) { actions.append(action) }
        }
        return actions
    }

    /// Takes characters, and returns the actions.
    mutating func type(_ text: String) -> [WatchAction] { press(text.map { .text($0) }) }

    /// The names of the accounts that are similar to the search.
    var matchedNames: [String] { matches.map { contents.accounts[$0].name.text } }
}

@Suite("The state of signet watch")
struct WatchModelTests {
    // MARK: Search and selection

    @Test("Letters search, and the search ends with Escape; another Escape ends the view")
    func searches() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        let typed = model.type("lib")
        #expect(typed == [] && model.filter == "lib" && model.matchedNames == ["4711"])
        #expect(model.selectedAccount?.id == "a2")
        let shorter = model.press([.backspace, .backspace])
        #expect(shorter == [] && model.filter == "l")
        let nothing = model.press([.pasted("z"), .pasted("q")])
        #expect(nothing == [] && model.matches == [] && model.selectedAccount == nil)
        let noCopy = model.press([.enter])
        #expect(noCopy == [])
        let cleared = model.press([.escape])
        #expect(cleared == [] && model.filter == "" && model.matches.count == 3)
        let ended = model.press([.escape])
        #expect(ended == [.end])
    }

    @Test("A search that becomes longer finds the same accounts in the same order as a search from the beginning")
    func narrowsSearch() throws {
        let accounts = try WatchSample.many(500)
        for text in ["user4", "service 7", "s7u", "SERVICE 12", "ur49", "e\u{301}", "x", "user499"] {
            var model = WatchSample.model(accounts)
            for (index, character) in text.enumerated() {
                _ = model.handle(.text(character))
                let whole = WatchSample.model(accounts, filter: String(text.prefix(index + 1)))
                #expect(model.filter == whole.filter && model.matches == whole.matches, "\(model.filter)")
            }
        }
    }

    /// Keys, and the position that is selected after them among 500 accounts with 20 rows.
    private static let moves: [(keys: [WatchKey], position: Int)] = [
        ([.down], 1), ([.up], 0), ([.down, .down, .up], 1), ([.end], 499), ([.end, .down], 499), ([.end, .home], 0),
        ([.pageDown], 19), ([.pageDown, .pageUp], 0), ([.pageDown, .pageDown, .pageUp], 19), ([.end, .pageDown], 499),
        ([.end, .pageUp], 480), ([.down, .redraw], 1),
    ]

    @Test("Keys move the selection, and the selected account is always in the list", arguments: moves)
    func movesSelection(move: (keys: [WatchKey], position: Int)) throws {
        var model = WatchSample.model(try WatchSample.many(500), rows: 22)
        #expect(model.rowCount == 20)
        _ = model.press(move.keys)
        #expect(model.selection == move.position)
        let shown = model.firstRow..<(model.firstRow + model.rowCount)
        #expect(shown.contains(model.selection) && shown.upperBound <= 500)
        model.resize(to: TerminalSize(columns: 80, rows: 5))
        let fewer = model.firstRow..<(model.firstRow + model.rowCount)
        #expect(fewer.count == 3 && fewer.contains(model.selection))
    }

    @Test("The selection stays on its account when others come and go")
    func keepsSelection() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        _ = model.press([.down])
        var contents = model.contents
        contents.accounts.insert(contentsOf: try WatchSample.many(5), at: 0)
        model.take(contents)
        #expect(model.selectedAccount?.id == "a2" && model.selection == 6)
        contents.accounts = try WatchSample.many(2)
        model.take(contents)
        #expect(model.selection == 1)
        contents.accounts = []
        model.take(contents)
        #expect(model.selectedAccount == nil && model.selection == 0)
    }

    // MARK: Copying

    @Test("Enter copies a code at once, asks before it uses up the code of a counter, and copies nothing of a locked account")
    func copiesCodes() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        let code = model.press([.enter])
        #expect(code == [.copy(account: "a1")])
        let asked = model.press([.down, .enter, .text("x"), .pasted("y"), .enter])
        #expect(asked == [] && model.question == .counter(account: "a2"))
        let declined = model.press([.text("n")])
        #expect(declined == [] && model.question == nil && model.status?.text.text == "No code was used up.")
        let confirmed = model.press([.enter, .text("y")])
        #expect(confirmed == [.copy(account: "a2")] && model.question == nil)
        let locked = model.press([.down, .enter])
        #expect(locked == [] && model.status?.isError == true)
        let ended = model.press([.interrupt, .suspend])
        #expect(ended == [.interrupt, .suspend])
    }

    // MARK: Messages

    /// The kind of a message, what the user types after Tab, and the actions.
    private static let answers: [(kind: PushKind, keys: [WatchKey], actions: [WatchAction])] = [
        (.tap, [.text("a")], [.approve(message: "m1", number: nil)]), (.tap, [.text("d")], [.deny(message: "m1")]),
        (.tap, [.text("1"), .text("y"), .enter], []), (.tap, [.pasted("a"), .pasted("d")], []),
        (.tap, [.text("a"), .text("a"), .text("d")], [.approve(message: "m1", number: nil)]),
        (.number(choices: [34, 56, 82]), [.text("a")], []),
        (.number(choices: [34, 56, 82]), [.text("5"), .text("6")], [.approve(message: "m1", number: 56)]),
        (
            .number(choices: [34, 56, 82]), [.text("9"), .text("3"), .text("9"), .text("4")],
            [.approve(message: "m1", number: 34)]
        ),
        (.number(choices: [34, 56, 82]), [.text("5"), .enter], []),
        (
            .number(choices: [34, 56, 82]), [.text("5"), .backspace, .text("8"), .text("2")],
            [.approve(message: "m1", number: 82)]
        ),
        (.number(choices: [3, 34]), [.text("3")], []),
        (.number(choices: [3, 34]), [.text("3"), .enter], [.approve(message: "m1", number: 3)]),
        (.number(choices: [3, 34]), [.text("3"), .text("4")], [.approve(message: "m1", number: 34)]),
        (.number(choices: [7, 7]), [.text("7")], [.approve(message: "m1", number: 7)]),
        (.number(choices: []), [.text("4"), .text("2")], []),
        (.number(choices: []), [.text("4"), .text("2"), .enter], [.approve(message: "m1", number: 42)]),
        (.number(choices: [34]), [.text("d")], [.deny(message: "m1")]), (.biometric, [.text("a")], []),
        (.biometric, [.text("a"), .text("y"), .text("e"), .text("s"), .enter], [.approve(message: "m1", number: nil)]),
        (.biometric, [.text("a"), .text("y"), .enter], []), (.biometric, [.text("a"), .escape, .text("y")], []),
        (.biometric, [.text("a"), .pasted("y"), .pasted("e"), .pasted("s"), .enter], []),
        (.biometric, [.text("d")], [.deny(message: "m1")]),
    ]

    @Test("A message is answered by its own keys, and only when it is selected", arguments: answers)
    func answersMessages(answer: (kind: PushKind, keys: [WatchKey], actions: [WatchAction])) throws {
        var model = WatchSample.model(try WatchSample.accounts, [WatchSample.message("m1", answer.kind)])
        let actions = model.press([.tab] + answer.keys)
        #expect(actions == answer.actions)
        #expect(model.answering.isEmpty == answer.actions.isEmpty)

        // Without Tab the same keys search.
        var unselected = WatchSample.model(try WatchSample.accounts, [WatchSample.message("m1", answer.kind)])
        let others = unselected.press(answer.keys)
        let hasAnswer = others.contains { if case .copy = $0 { false } else { $0 != .end } }
        #expect(!hasAnswer && unselected.answering.isEmpty)
    }

    @Test("A biometric message is answered without a word when the agent checks the presence of the user")
    func leavesPresenceToAgent() throws {
        var model = WatchSample.model(try WatchSample.accounts, [WatchSample.message("m1", .biometric)])
        model.asksForPresence = false
        let actions = model.press([.tab, .text("a")])
        #expect(actions == [.approve(message: "m1", number: nil)] && model.question == nil)
    }

    @Test("A counter of another machine is marked with its name, and Enter says how to take it")
    func marksCounterOfOtherMachine() {
        let account = WatchAccount(id: "a1", issuer: "Library", name: "4711", content: .elsewhere(owner: "laptop\n"))
        var model = WatchSample.model([account])
        let row = WatchFrame.lines(model, colors: false).first { $0.contains("Library") }
        #expect(row?.contains("on laptop") == true)
        let actions = model.press([.enter])
        #expect(actions == [] && model.question == nil)
        #expect(model.status?.text.text == "laptop generates the codes of Library: 4711; 'signet sync take' moves them here.")
    }

    @Test("Tab and Escape change between accounts and messages, and arrows select a message")
    func changesSection() throws {
        var model = WatchSample.model(try WatchSample.accounts, [WatchSample.message("m1"), WatchSample.message("m2")])
        _ = model.press([.tab])
        #expect(model.selectedMessage?.id == "m1")
        _ = model.press([.down, .down])
        #expect(model.selectedMessage?.id == "m2")
        let denied = model.press([.up, .down, .text("d")])
        #expect(denied == [.deny(message: "m2")])
        _ = model.press([.tab])
        #expect(model.section == .accounts && model.selectedMessage == nil)
        let back = model.press([.tab, .escape])
        #expect(back == [] && model.section == .accounts)
        let held = model.press([.escape])
        #expect(held == [] && model.status != nil, "An answer is on its way.")
        model.endAnswer("m2", isAccepted: true)
        #expect(model.contents.messages.map(\.id) == ["m1"])
        let ended = model.press([.escape])
        #expect(ended == [.end])
        var empty = WatchSample.model([])
        _ = empty.press([.tab])
        #expect(empty.section == .accounts && empty.status?.text.text == "No login waits.")
    }

    @Test(
        "A new message changes neither the section nor the selected message, and no key answers the one after a message that has gone"
    )
    func keepsMessageSelection() throws {
        let (first, second, third) = (
            WatchSample.message("m1"), WatchSample.message("m2", seconds: 20), WatchSample.message("m3")
        )
        var model = WatchSample.model(try WatchSample.accounts, [second, third])
        _ = model.press([.tab])
        var contents = model.contents
        contents.messages = [first, second, third]
        model.take(contents)
        #expect(model.selectedMessage?.id == "m2")
        model.advance(to: WatchSample.now.addingTimeInterval(21))
        #expect(model.contents.messages.map(\.id) == ["m1", "m3"])
        #expect(model.section == .accounts && model.status?.isError == true)
        let actions = model.press([.text("a"), .text("d")])
        #expect(actions == [] && model.filter == "ad")
    }

    @Test("A question about a message that has gone is not asked any more")
    func dropsQuestion() throws {
        var model = WatchSample.model([], [WatchSample.message("m1", .biometric, seconds: 5)])
        _ = model.press([.tab, .text("a"), .text("y"), .text("e"), .text("s")])
        #expect(model.question == .presence(message: "m1", typed: "yes"))
        model.advance(to: WatchSample.now.addingTimeInterval(6))
        let actions = model.press([.enter])
        #expect(actions == [] && model.question == nil)
    }

    @Test("After an answer that failed, the message can be answered again")
    func answersAgain() throws {
        var model = WatchSample.model([], [WatchSample.message("m1")])
        _ = model.press([.tab, .text("a")])
        model.endAnswer("m1", isAccepted: false)
        let actions = model.press([.text("a")])
        #expect(actions == [.approve(message: "m1", number: nil)])
    }

    // MARK: Time

    @Test("Codes must be read again when one has ended, and not while the view is paused")
    func readsCodesAgain() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        #expect(!model.needsCodes)
        model.advance(to: WatchSample.now.addingTimeInterval(10))
        #expect(model.needsCodes)
        let later = WatchSample.now.addingTimeInterval(WatchModel.pauseSeconds)
        model.advance(to: later)
        #expect(model.isPaused && !model.needsCodes)
        let swallowed = model.press([.enter])
        #expect(swallowed == [] && !model.isPaused && model.needsCodes)
        model.take(["a1": OATHSettings(secret: try OATHSample.secret).code(at: later)])
        #expect(!model.needsCodes)
        let isKnown = model.contents.accounts[0].code(at: later) != nil
        #expect(isKnown && model.contents.accounts[1].content == .counter(7))
    }

    @Test("Ctrl-C ends a view that is paused")
    func endsPausedView() throws {
        var model = WatchSample.model([])
        model.advance(to: WatchSample.now.addingTimeInterval(WatchModel.pauseSeconds))
        let actions = model.press([.interrupt])
        #expect(actions == [.interrupt])
    }

    @Test("Without the agent that held the vault, codes are hidden until they can be read again")
    func hidesCodesOfLockedAgent() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        model.fail("busy", isLocked: false)
        #expect(model.contents.accounts[0].content != nil && model.problem?.text == "busy")
        model.fail("locked", isLocked: true)
        #expect(model.contents.accounts[0].content == nil && model.contents.accounts[1].content == .counter(7))
        #expect(!model.needsCodes)
        var contents = model.contents
        contents.accounts = try WatchSample.accounts
        model.take(contents)
        #expect(model.problem == nil && model.contents.accounts[0].content != nil)
    }

    @Test("A status disappears with the next key, and after a time")
    func hidesStatus() throws {
        var model = WatchSample.model(try WatchSample.accounts)
        model.show("Copied.")
        model.advance(to: WatchSample.now.addingTimeInterval(WatchModel.statusSeconds - 1))
        #expect(model.status != nil)
        model.advance(to: WatchSample.now.addingTimeInterval(WatchModel.statusSeconds))
        #expect(model.status == nil)
        model.show("Copied.")
        _ = model.press([.down])
        #expect(model.status == nil)
    }
}
