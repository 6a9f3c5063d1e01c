import AgentWire
import SignetCore

/// A numbered list, from which the user picks one entry by its number or by a part of its name.
struct PickList {
    /// An entry of the list.
    struct Entry: Sendable, Hashable {
        /// The text that is shown.
        let title: String
        /// The names that the user may type.
        let names: [String]
    }

    /// The effect of a line that the user typed.
    enum Step: Equatable {
        /// The user picked the entry with this position in the whole list.
        case picked(Int)
        /// The list is shorter now.
        case narrowed
        /// The line picks no entry, and no entry of the list is similar to it.
        case notFound
        /// The line is empty, and the list has several entries.
        case unchanged
    }

    /// The most entries that are shown.
    static let limit = 20

    private let entries: [Entry]
    /// The positions of the entries that are left.
    private var left: [Int]

    /// Creates a list with all entries.
    init(_ entries: [Entry]) {
        self.entries = entries
        left = Array(entries.indices)
    }

    /// True when the user can be asked: at a terminal that shows the list.
    static var isPossible: Bool { AccountChoice.isPossible }

    /// The lines to show: the entries with their numbers, and the number of those that have no line.
    var lines: [TerminalText] {
        let width = String(min(left.count, Self.limit)).count
        var lines: [TerminalText] = left.prefix(Self.limit).enumerated().map { number, position in
            let text = String(number + 1)
            let margin = String(repeating: " ", count: width - text.count)
            return "  \(margin)\(text)  \(entries[position].title)"
        }
        if left.count > Self.limit {
            lines.append("  and \((left.count - Self.limit).of("more account")); type more of the name")
        }
        return lines
    }

    /// The question below the list.
    var question: TerminalText {
        left.count == 1 ? "Enter takes it; or another part of the name: " : "Number, or more of the name: "
    }

    /// Takes a line that the user typed.
    ///
    /// A number of the list picks that entry. Another text leaves the entries whose names are similar to it, and picks the entry
    /// when it is the only one. An empty line picks the only entry of a list.
    /// - Parameter line: The line.
    /// - Returns: The effect.
    mutating func take(_ line: String) -> Step {
        let text = line.trimmingWhitespace()
        guard !text.isEmpty else { return left.count == 1 ? .picked(left[0]) : .unchanged }
        if let number = Int(text), number >= 1, number <= min(left.count, Self.limit) { return .picked(left[number - 1]) }
        // A text that no entry of the shorter list has may be a second try: then it is looked for in the whole list.
        for positions in [left, Array(entries.indices)] {
            let found = NameMatch.ranked(positions, by: text) { entries[$0].names }.map(\.candidate)
            guard let first = found.first else { continue }
            left = found
            return found.count == 1 ? .picked(first) : .narrowed
        }
        return .notFound
    }

    /// Shows the list on standard error and reads lines of standard input until the user has picked an entry.
    /// - Returns: The position of the entry in the list.
    /// - Throws: `CancellationError` at the end of the input, and when the task is canceled; ``Failure`` for a line that is too
    ///   long.
    func pick() async throws -> Int {
        var list = self
        var isShown = false
        while true {
            if !isShown { for line in list.lines { Console.error(line) } }
            guard let bytes = try await TerminalInput.line(list.question) else { throw CancellationError() }
            let line = String(decoding: bytes, as: UTF8.self)
            switch list.take(line) {
            case .picked(let position):
                Console.error(TerminalText(entries[position].title))
                return position
            case .narrowed: isShown = false
            case .unchanged: isShown = true
            case .notFound:
                isShown = true
                Console.error("No account here is similar to '\(line)'.")
            }
        }
    }
}
