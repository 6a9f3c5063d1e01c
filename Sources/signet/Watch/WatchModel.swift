import Foundation
import SignetCore

/// The effect of a key that the caller of the model has to bring about.
enum WatchAction: Sendable, Hashable {
    /// Copy the code of an account. The code of a counter is used up.
    case copy(account: String)
    case approve(message: String, number: Int?)
    case deny(message: String)
    /// Draw the whole screen again.
    case redraw
    /// Stop the process until the shell continues it.
    case suspend
    case end
    /// End as after Ctrl-C.
    case interrupt
}

/// The state of `signet watch`: a pure value, which reads no clock, no terminal and no vault.
///
/// Its time, its size and its contents come from the caller, and its keys cause actions that the caller performs.
struct WatchModel: Sendable {
    /// The part of the screen that has the selection.
    enum Section: Sendable {
        case accounts
        case messages
    }

    /// A question that is answered before other keys have their meaning.
    enum Question: Sendable, Hashable {
        /// The question before the code of a counter is used up.
        case counter(account: String)
        /// The word that confirms the presence of the user, as far as it is typed.
        case presence(message: String, typed: String)
    }

    /// A line about what has happened.
    struct Status: Sendable, Hashable {
        let text: CellText
        let isError: Bool
        /// The time at which it disappears.
        let end: Date
    }

    /// The seconds without a key after which codes are hidden and not read any more, so that they are not on a screen that the
    /// user has left, and an agent that is not used can lock the vault.
    static let pauseSeconds: Double = 600
    /// The seconds for which a status is shown.
    static let statusSeconds: Double = 15
    /// The most characters of a search.
    static let filterLimit = 100

    private(set) var contents = WatchContents()
    /// The widest texts of the columns, over all accounts.
    private(set) var widths = WatchWidths()
    /// The time at which the first of the codes ends; nil without a code.
    private(set) var firstCodeEnd: Date?
    /// The reason why the codes cannot be read; nil when they can.
    private(set) var problem: CellText?

    private(set) var filter: String
    /// The positions of the accounts that are similar to the filter, the most similar first.
    private(set) var matches: [Int] = []
    /// The filter for which ``matches`` were found.
    private var matchedFilter: String?
    /// The position of the selected account in ``matches``.
    private(set) var selection = 0
    /// The position of the account in the first row of the list.
    private(set) var firstRow = 0

    var section = Section.accounts
    /// The ID of the selected message.
    var selectedID: String?
    /// The digits of the number that are typed for the selected message.
    var typedNumber = ""
    var question: Question?
    /// False when the agent checks the presence of the user, so that the view does not ask for a word.
    var asksForPresence = true
    private(set) var status: Status?
    /// The IDs of the messages whose answer is being sent.
    private(set) var answering: Set<String> = []

    private(set) var size: TerminalSize
    private(set) var now: Date
    private(set) var lastKey: Date

    /// Creates a view without contents.
    init(size: TerminalSize, now: Date, filter: String = "") {
        self.size = size
        self.now = now
        self.filter = String(filter.prefix(Self.filterLimit))
        lastKey = now
    }

    // MARK: What is shown

    /// True when no key came for a while, so that codes are hidden.
    var isPaused: Bool { now.timeIntervalSince(lastKey) >= Self.pauseSeconds }

    /// True when a code has ended, so that the next ones must be read.
    var needsCodes: Bool { !isPaused && (firstCodeEnd.map { $0 <= now } ?? false) }

    /// The selected account; nil without an account that is similar to the filter.
    var selectedAccount: WatchAccount? {
        matches.indices.contains(selection) ? contents.accounts[matches[selection]] : nil
    }

    /// The selected message; nil when the accounts have the selection.
    var selectedMessage: WatchMessage? {
        section == .messages ? contents.messages.first { $0.id == selectedID } : nil
    }

    /// The number of rows for accounts.
    var rowCount: Int { max(1, size.rows - WatchMessageLines(self).lines.count - (size.rows >= 3 ? 2 : size.rows - 1)) }

    // MARK: Contents

    /// Takes what was read.
    ///
    /// The selection stays on the same account and the same message.
    mutating func take(_ contents: WatchContents) {
        let selected = selectedAccount?.id
        self.contents = contents
        contentsHaveChanged()
        matchedFilter = nil
        match()
        if let selected, let position = matches.firstIndex(where: { contents.accounts[$0].id == selected }) {
            selection = position
        }
        dropLostMessage("The selected login does not wait any more.")
        keepSelectionVisible()
    }

    /// Takes the current codes, by the ID of the mechanism.
    mutating func take(_ codes: [String: OneTimeCode]) {
        for index in contents.accounts.indices {
            switch contents.accounts[index].content {
            case .code?, nil:
                let code = codes[contents.accounts[index].id]
                contents.accounts[index].content = code.map { .code($0) }
            case .counter?, .elsewhere?, .locked?: break
            }
        }
        contentsHaveChanged()
    }

    /// Notes that the vault or the agent could not be read.
    /// - Parameters:
    ///   - reason: The error.
    ///   - isLocked: True when the codes must not be shown any more.
    mutating func fail(_ reason: String, isLocked: Bool) {
        problem = CellText(reason)
        guard isLocked else { return }
        for index in contents.accounts.indices {
            if case .code? = contents.accounts[index].content { contents.accounts[index].content = nil }
        }
        firstCodeEnd = nil
    }

    private mutating func contentsHaveChanged() {
        problem = nil
        widths = WatchWidths(contents.accounts)
        firstCodeEnd = nil
        for account in contents.accounts {
            guard case .code(let code)? = account.content, case .time(_, let end) = code.basis else { continue }
            firstCodeEnd = firstCodeEnd.map { min($0, end) } ?? end
        }
    }

    // MARK: Time and size

    /// Sets the time, so that messages that have expired and an old status disappear.
    mutating func advance(to date: Date) {
        now = date
        if let status, status.end <= now { self.status = nil }
        guard contents.messages.contains(where: { $0.expiresAt < date }) else { return }
        contents.messages.removeAll { $0.expiresAt < date }
        dropLostMessage("The selected login has expired.")
        keepSelectionVisible()
    }

    /// Sets the size of the terminal.
    mutating func resize(to size: TerminalSize) {
        self.size = size
        keepSelectionVisible()
    }

    /// Shows a line about what has happened.
    mutating func show(_ text: String, isError: Bool = false) {
        status = Status(text: CellText(text), isError: isError, end: now.addingTimeInterval(Self.statusSeconds))
    }

    /// Notes that a key was pressed, so that the line about what happened before disappears.
    mutating func noteKey() {
        lastKey = now
        status = nil
    }

    // MARK: Answers

    /// Notes that the answer to a message is being sent.
    mutating func beginAnswer(_ id: String) { answering.insert(id) }

    /// Notes that the server has accepted the answer to a message, or that the answer has failed.
    mutating func endAnswer(_ id: String, isAccepted: Bool) {
        answering.remove(id)
        guard isAccepted else { return }
        contents.messages.removeAll { $0.id == id }
        dropLostMessage(nil)
        keepSelectionVisible()
    }

    /// Gives the selection back to the accounts when the selected message is not there any more.
    ///
    /// Another message is not selected, so that a key that the user presses just now never answers it.
    private mutating func dropLostMessage(_ reason: String?) {
        guard section == .messages, selectedMessage == nil else { return }
        section = .accounts
        (selectedID, typedNumber) = (nil, "")
        if case .presence = question { question = nil }
        if let reason { show(reason, isError: true) }
    }

    // MARK: Search and selection

    /// Sets the text of the search, and selects the most similar account.
    mutating func search(_ text: String) {
        filter = String(text.prefix(Self.filterLimit))
        match()
        (selection, firstRow) = (0, 0)
    }

    /// Selects the account at a position of ``matches``, or the nearest one.
    mutating func select(_ position: Int) {
        selection = max(0, min(position, matches.count - 1))
        keepSelectionVisible()
    }

    /// Finds the accounts that are similar to the filter.
    ///
    /// All accounts that are similar to a longer text are similar to its beginning, so only those are compared again.
    private mutating func match() {
        guard filter != matchedFilter else { return }
        if filter.isEmpty {
            matches = Array(contents.accounts.indices)
        } else {
            let isLonger = matchedFilter.map { !$0.isEmpty && filter.hasPrefix($0) } ?? false
            let candidates = isLonger ? matches.sorted() : Array(contents.accounts.indices)
            let accounts = contents.accounts
            matches = NameMatch.ranked(candidates, by: filter) { accounts[$0].names }.map(\.candidate)
        }
        matchedFilter = filter
        selection = max(0, min(selection, matches.count - 1))
    }

    /// Scrolls the list so that the selected account is in it.
    mutating func keepSelectionVisible() {
        let rows = rowCount
        firstRow = min(firstRow, selection)
        firstRow = max(firstRow, selection - rows + 1)
        firstRow = max(0, min(firstRow, matches.count - rows))
    }
}

/// The widest texts of the columns of `signet watch`.
struct WatchWidths: Sendable, Hashable {
    private(set) var issuer = 0
    private(set) var name = 0
    private(set) var title = 0
    private(set) var content = 6

    /// Creates the widths for no accounts.
    init() {}

    /// Measures all accounts.
    init(_ accounts: [WatchAccount]) {
        for account in accounts {
            issuer = max(issuer, account.issuer.width)
            name = max(name, account.name.width)
            title = max(title, account.title.width)
            content = max(content, account.contentText.displayWidth)
        }
    }
}
