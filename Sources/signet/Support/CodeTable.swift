import Foundation
import SignetCore

/// The lines of `signet codes`: issuer, account, code, and the seconds that are left, in columns.
struct CodeTable {
    private let entries: [CodeEntry]

    /// Creates the table of some entries.
    init(_ entries: [CodeEntry]) { self.entries = entries }

    /// Returns one line for each entry.
    /// - Parameters:
    ///   - date: The time for the seconds that are left.
    ///   - columns: The width of a terminal, in which long names are shortened so that the codes are seen; nil for whole names.
    /// - Returns: The lines, in which values of others are escaped.
    func lines(at date: Date, columns: Int? = nil) -> [TerminalText] {
        let rows = entries.map { Self.cells(of: $0, at: date) }
        var widths = (0..<4).map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
        if let columns { Self.shorten(&widths, to: columns) }
        widths.removeLast()
        return rows.map { cells in
            let columns = cells.enumerated().map { column, cell in
                column < widths.count ? cell.filling(widths[column]) : cell
            }
            var line = columns.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            // The cells are escaped already.
            return TerminalText(verbatim: line)
        }
    }

    /// The fewest columns for the issuer and the account; in a narrower terminal the lines are cut at their ends.
    private static let minNameWidth = 8

    /// Divides what the code and the seconds leave of a line between the issuer and the account.
    private static func shorten(_ widths: inout [Int], to columns: Int) {
        let room = columns - widths[2] - widths[3] - 3 * 2
        guard room >= minNameWidth, widths[0] + widths[1] > room else { return }
        widths[0] = min(widths[0], max(room / 2, room - widths[1]))
        widths[1] = min(widths[1], room - widths[0])
    }

    /// Returns what replaces the contents of a terminal.
    /// - Parameters:
    ///   - date: The time for the seconds that are left.
    ///   - columns: The width of the terminal; long names are shortened, and lines that are longer still are cut.
    ///   - rows: The height of the terminal, 1 or more; entries that have no row are counted in the last line.
    /// - Returns: Control sequences and lines, without a line feed at the end, which would scroll the terminal.
    func frame(at date: Date, columns: Int, rows: Int) -> TerminalText {
        let all = lines(at: date, columns: columns)
        let shown = all.prefix(max(rows - 1, 0))
        let hidden = all.count - shown.count
        let status: TerminalText =
            hidden > 0
            ? "\(hidden.of("more line")): give a part of the name, or make the window higher. Ctrl-C ends." : "Ctrl-C ends."
        let cut = (Array(shown) + [status]).map { TerminalText(verbatim: $0.description.prefix(columns: columns)) }
        // The cursor moves to the first column, each line replaces the old one, and the rest of the screen is cleared.
        return "\u{1B}[H" + cut.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J"
    }

    private static func cells(of entry: CodeEntry, at date: Date) -> [String] {
        let names = [entry.shownIssuer, entry.shownAccountName].map { TerminalText($0).description }
        switch entry.content {
        case .code(let code): return names + [code.digits, "\(code.secondsLeft(at: date) ?? 0) s left"]
        case .counter(let next): return names + ["counter \(next)", ""]
        case .elsewhere(let owner): return names + [TerminalText("codes on \(owner)").description, ""]
        case .locked: return names + ["locked", ""]
        }
    }
}

/// Shows the table on a terminal and refreshes it each second.
struct CodeScreen: Sendable {
    private let codes: AccountCodes
    private let query: String?

    /// Creates the screen for the accounts with a name similar to `query`; nil for all.
    init(_ codes: AccountCodes, query: String?) {
        self.codes = codes
        self.query = query
    }

    /// Shows the table until the task is canceled.
    ///
    /// It uses the terminal's second screen, so the codes are not in the scrolled text afterwards. The vault is read again when a
    /// code has ended.
    /// - Parameter entries: The entries to begin with.
    /// - Throws: `StoreError`; `CancellationError`. The terminal is as before in each case.
    func run(_ entries: [CodeEntry]) async throws {
        var entries = entries
        Console.write(SecondScreen.beginning, to: STDOUT_FILENO)
        defer { Console.write(SecondScreen.end, to: STDOUT_FILENO) }
        while true {
            try Task.checkCancellation()
            var now = codes.now
            if entries.contains(where: { !$0.isCurrent(at: now) }) {
                entries = try await codes.list(matching: query).entries
                now = codes.now
            }
            let size = TerminalSize(of: STDOUT_FILENO) ?? .usual
            Console.write(CodeTable(entries).frame(at: now, columns: size.columns, rows: size.rows), to: STDOUT_FILENO)
            let second = now.timeIntervalSince1970
            try await Task.sleep(for: .seconds(second.rounded(.down) + 1 - second))
        }
    }
}
