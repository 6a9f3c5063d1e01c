import SignetCore

/// The lines about pending messages at the top of `signet watch`: a heading, a line for each message, and more lines for the selected
/// one.
///
/// They take at most two thirds of the screen. When there are more messages, the selected one is always among the lines.
struct WatchMessageLines {
    /// The lines.
    private(set) var lines: [WatchLine] = []

    private let model: WatchModel
    private let columns: Int

    /// The margin of the lines below the title of a message.
    private static let margin = "    "

    /// Creates the lines for the state of a view.
    init(_ model: WatchModel) {
        self.model = model
        columns = model.size.columns
        let messages = model.contents.messages
        let limit = model.size.rows < 4 ? 0 : (model.size.rows - 2) * 2 / 3
        guard !messages.isEmpty, limit > 0 else { return }
        lines = [heading]
        let selected = model.selectedMessage
        var first = 0
        if let selected, let position = messages.firstIndex(of: selected) {
            // Messages above the selected one have a line each, as far as all of its lines have room.
            first = max(0, position - max(0, limit - 1 - block(selected, isSelected: true).count))
        }
        for message in messages[first...] where lines.count < limit {
            lines += block(message, isSelected: message.id == selected?.id)
        }
        lines = Array(lines.prefix(limit))
    }

    private var heading: WatchLine {
        let count = model.contents.messages.count
        let subject = "\(count.of("login")) \(count == 1 ? "waits" : "wait")"
        var line = WatchLine(subject, .warning)
        let isSelected = model.selectedMessage != nil
        line.add(isSelected ? "  d denies, Tab goes back" : "  Tab selects \(count == 1 ? "it" : "one")")
        return line
    }

    private func block(_ message: WatchMessage, isSelected: Bool) -> [WatchLine] {
        var title = WatchLine(isSelected ? "> " : "  ")
        title.isSelected = isSelected
        title.add(message.title.text, .bold)
        if !isSelected { title.add("  \(message.text.text)") }
        let seconds = message.secondsLeft(at: model.now)
        let left = "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        title.addRight(left, seconds <= 10 ? .alert : .plain, columns: columns)
        guard isSelected else { return [title] }
        var below = wrapped(message.text.text, limit: 3, .bold)
        if let text = message.unsignedText { below += wrapped("not signed: “\(text.text)”", limit: 2) }
        below += wrapped(message.context.text, limit: 3)
        return [title] + below + [answerLine(message)]
    }

    /// The line that says how the selected message is answered.
    private func answerLine(_ message: WatchMessage) -> WatchLine {
        var line = WatchLine(Self.margin)
        guard !model.answering.contains(message.id) else {
            line.add("Sending the answer...", .faint)
            return line
        }
        switch message.kind {
        case .tap: line.add("a approves", .warning)
        case .biometric: line.add("a approves, after a question", .warning)
        case .number(let choices):
            let numbers = choices.prefix(10).map(String.init).joined(separator: "  ")
            line.add(numbers.isEmpty ? "Number, and Enter: " : "Number: ", .warning)
            if !numbers.isEmpty { line.add("\(numbers)  ", .bold) }
            line.add("\(model.typedNumber)_", .bold)
        }
        return line
    }

    private func wrapped(_ text: String, limit: Int, _ style: WatchLine.Style = .plain) -> [WatchLine] {
        let width = max(2, columns - Self.margin.count)
        return text.wrapped(to: width, limit: limit).map { text in
            var line = WatchLine(Self.margin)
            line.add(text, style)
            return line
        }
    }
}
