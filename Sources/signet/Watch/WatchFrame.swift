import Foundation
import SignetCore

/// The lines of `signet watch` for a state: pending messages, the search, the accounts with their codes, and a line about keys.
///
/// It reads only the accounts that have a row, so its cost does not depend on the number of accounts.
struct WatchFrame {
    private let model: WatchModel
    private let layout: WatchColumns

    /// Returns the lines of the whole screen.
    /// - Parameters:
    ///   - model: The state.
    ///   - colors: True to use the control sequences SGR; without them the lines have no control characters.
    /// - Returns: As many lines as the terminal has, each exactly as wide as the terminal.
    static func lines(_ model: WatchModel, colors: Bool) -> [String] {
        let frame = WatchFrame(model: model, layout: WatchColumns(model.widths, columns: model.size.columns))
        let lines = frame.lines.prefix(model.size.rows)
        return lines.map { $0.text(columns: model.size.columns, colors: colors) }
    }

    private var lines: [WatchLine] {
        var lines = WatchMessageLines(model).lines
        if model.size.rows >= 3 { lines.append(search) }
        let rowCount = model.rowCount
        var rows = self.rows(rowCount)
        while rows.count < rowCount { rows.append(WatchLine()) }
        lines += rows
        if model.size.rows >= 2 { lines.append(bottom) }
        return lines
    }

    // MARK: The search

    private var search: WatchLine {
        let hasCursor = model.section == .accounts && model.question == nil
        let (found, all) = (model.matches.count, model.contents.accounts.count)
        let count = model.filter.isEmpty ? all.of("code") : "\(found) of \(all)"
        let label = "Search: "
        let room = max(1, model.size.columns - label.count - count.count - 2)
        var line = WatchLine(label, .faint)
        line.add(Self.end(of: CellText(model.filter).text, columns: room), .bold)
        if hasCursor { line.add("_") }
        line.addRight(count, .faint, columns: model.size.columns)
        return line
    }

    /// Returns the end of a text, which is where the user types.
    private static func end(of text: String, columns: Int) -> String {
        guard text.displayWidth > columns else { return text }
        var rest = text[...]
        while !rest.isEmpty, String(rest).displayWidth > columns - 1 { rest.removeFirst() }
        return "…\(rest)"
    }

    // MARK: The accounts

    private func rows(_ count: Int) -> [WatchLine] {
        guard !model.contents.accounts.isEmpty else {
            return text("No account makes codes yet. Add one with 'signet enroll FILE'.", count)
        }
        guard !model.matches.isEmpty else {
            return text("No account is similar to '\(CellText(model.filter).text)'. Esc clears the search.", count)
        }
        return model.matches.dropFirst(model.firstRow).prefix(count).enumerated().map { offset, position in
            let isSelected = model.section == .accounts && model.firstRow + offset == model.selection
            return row(model.contents.accounts[position], isSelected: isSelected)
        }
    }

    private func text(_ text: String, _ limit: Int) -> [WatchLine] {
        let width = max(2, model.size.columns - 2)
        return text.wrapped(to: width, limit: limit).map { WatchLine("  \($0)") }
    }

    private func row(_ account: WatchAccount, isSelected: Bool) -> WatchLine {
        var line = WatchLine(isSelected ? "> " : "  ")
        line.isSelected = isSelected
        if layout.isSplit {
            line.add(account.issuer.text.filling(layout.issuer) + "  ")
            line.add(account.name.text.filling(layout.name) + "  ")
        } else {
            line.add(account.title(columns: layout.title) + " ")
        }
        guard let code = account.code(at: model.now), let seconds = code.secondsLeft(at: model.now), !model.isPaused else {
            line.add(otherContent(account).filling(layout.content), .faint)
            return line
        }
        let isEnding = seconds <= WatchColumns.endingSeconds
        line.add(account.contentText.filling(layout.content), .bold)
        if layout.bar > 0 {
            let inside = layout.bar - 2
            let filled = min(inside, (seconds * inside + code.period - 1) / code.period)
            let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: inside - filled)
            line.add("\(layout.gap)[\(bar)]", isEnding ? .alert : .plain)
        }
        if layout.hasSeconds {
            let number = String(seconds)
            line.add(String(repeating: " ", count: max(1, 4 - number.count)) + number + " s", isEnding ? .alert : .plain)
        }
        if isEnding { line.add("!", .alert) }
        return line
    }

    /// The text in the place of a code: of an account without one, of a code that has ended, and while codes are hidden.
    private func otherContent(_ account: WatchAccount) -> String {
        switch account.content {
        case .code?: model.isPaused ? "hidden" : WatchAccount.missing
        case .counter?, .elsewhere?, .locked?, nil: account.contentText
        }
    }

    // MARK: The last line

    private var bottom: WatchLine {
        switch model.question {
        case .counter(let id)?:
            let account = model.contents.accounts.first { $0.id == id }
            return WatchLine("y or n: use up the next code of \(account?.title.text ?? "this account")?", .warning)
        case .presence(_, let typed)?:
            var line = WatchLine("Type '\(WatchModel.confirmation)' to approve: \(CellText(typed).text)_", .warning)
            line.add("  This machine has no sensor: the check is simulated and recognizes no user.")
            return line
        case nil: break
        }
        if let status = model.status { return WatchLine(status.text.text, status.isError ? .alert : .plain) }
        if let problem = model.problem { return WatchLine(problem.text, .alert) }
        guard !model.isPaused else { return WatchLine("Codes are hidden. Press a key to show them.", .warning) }
        if model.contents.damagedCount > 0 {
            return WatchLine(
                "\(model.contents.damagedCount.of("record")) cannot be read; see 'signet accounts'. Esc ends.", .alert)
        }
        let escape = model.filter.isEmpty && model.section == .accounts ? "Esc ends" : "Esc goes back"
        guard model.section == .accounts else { return WatchLine("Up and Down select, \(escape)", .faint) }
        return WatchLine(model.matches.isEmpty ? escape : "Enter copies, \(escape)", .faint)
    }
}

extension OneTimeCode {
    /// The whole seconds from the start to the end of a time-based code; 1 for another code.
    fileprivate var period: Int {
        guard case .time(let start, let end) = basis else { return 1 }
        return max(1, Int(end.timeIntervalSince(start).rounded()))
    }
}

/// The columns of the accounts in `signet watch`, which depend on the width of the terminal.
struct WatchColumns: Sendable, Hashable {
    /// A code is about to end when it is valid for so many seconds or fewer.
    static let endingSeconds = 5

    /// True when the issuer and the name have a column each; otherwise they share one.
    let isSplit: Bool
    private(set) var issuer = 0
    private(set) var name = 0
    private(set) var title = 0
    /// The width of the code.
    let content: Int
    /// The width of the bar with its brackets; 0 for none, also where the names need its room.
    private(set) var bar: Int
    /// True when the seconds are shown.
    let hasSeconds: Bool

    /// The space before the bar.
    var gap: String { isSplit ? "  " : " " }

    /// Divides a line.
    /// - Parameters:
    ///   - widths: The widest texts.
    ///   - columns: The width of the terminal.
    init(_ widths: WatchWidths, columns: Int) {
        isSplit = columns >= 60
        bar = columns >= 60 ? 12 : columns >= 40 ? 6 : 0
        hasSeconds = columns >= 26
        content = min(widths.content, isSplit ? 20 : 10)
        // The mark of the selection, the code, the bar, the seconds, and the mark of a code that ends.
        let fixed = 2 + content + (bar > 0 ? bar + (isSplit ? 2 : 1) : 0) + (hasSeconds ? 6 : 0) + 1
        guard isSplit else {
            let room = columns - fixed - 1
            guard bar > 0, room < widths.title else {
                title = max(0, min(widths.title, room))
                return
            }
            title = min(widths.title, room + bar + 1)
            bar = 0
            return
        }
        let room = max(0, columns - fixed - 4)
        issuer = min(widths.issuer, max(room / 2, room - widths.name))
        name = min(widths.name, room - issuer)
    }
}
