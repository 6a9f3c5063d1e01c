import Foundation

/// The second screen of a terminal, which leaves the scrolled text as it was, with the cursor hidden.
enum SecondScreen {
    /// The control sequences of xterm that show the second screen.
    static let beginning: TerminalText = "\u{1B}[?1049h\u{1B}[?25l"
    /// The control sequences that show the first screen again.
    ///
    /// They clear the second one before: after a change of the window's size, tmux leaves a part of it in the scrolled text.
    static let end: TerminalText = "\u{1B}[H\u{1B}[2J\u{1B}[?25h\u{1B}[?1049l"
}

/// The size of a terminal in characters.
struct TerminalSize: Sendable, Hashable {
    let columns: Int
    let rows: Int

    /// The size of a terminal that does not know its own.
    static let usual = TerminalSize(columns: 80, rows: 24)

    /// Creates a size.
    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Reads the size of a terminal; nil when the descriptor is not a terminal or its size is unknown.
    init?(of descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
