import SignetCore

/// Asks the user questions.
///
/// It uses the answers from the arguments first, and then asks at the terminal.
struct PromptSession {
    private var answers: Answers
    /// True when a user is at the terminal.
    private let canAsk = Console.canAsk
    /// True when a program reads standard error.
    ///
    /// It then gets only messages that the user has to act on.
    private let isQuiet: Bool

    init(_ options: [AnswerOption], json: Bool) {
        answers = Answers(options)
        isQuiet = json && !Console.canAsk
    }

    /// Prints an informative message, unless a program reads standard error.
    func report(_ text: TerminalText) {
        if !isQuiet { Console.error(text) }
    }

    var unusedAnswers: [String] { answers.unused }
    var hasUser: Bool { canAsk }

    /// True when the arguments contain the answer to a question.
    func hasAnswer(_ question: Question) -> Bool { answers.has(question) }

    /// Asks for a secret.
    /// - Parameters:
    ///   - question: The question.
    ///   - isNew: True if the user must type it twice.
    /// - Returns: The answer from the arguments or the terminal.
    /// - Throws: ``Failure`` without an answer and a terminal, and when an argument is the secret itself; `CancellationError`
    ///   when the input ends.
    mutating func secret(_ question: Question, isNew: Bool = false) async throws -> Secret {
        var question = question
        (question.isSecret, question.isHidden) = (true, true)
        if let given = try await given(question) { return Secret(given) }
        while true {
            let first = try await typed(question, "\(question.prompt): ")
            guard isNew else { return Secret(first) }
            let second = try await typed(question, "Repeat password: ")
            if first == second { return Secret(first) }
            Console.error("The passwords are different. Enter the new password again:")
        }
    }

    /// Asks for a line of text.
    /// - Parameters:
    ///   - question: The question.
    ///   - defaultValue: The value for empty input.
    /// - Returns: The answer from the arguments or the terminal.
    /// - Throws: ``Failure`` without an answer and a terminal, and for an answer that is not UTF-8; `CancellationError` when the
    ///   input ends.
    mutating func text(_ question: Question, default defaultValue: String = "") async throws -> String {
        if let given = try await given(question) { return try Self.text(given, question) }
        let hint = defaultValue.isEmpty ? "" : " [\(defaultValue)]"
        let text = try Self.text(try await typed(question, "\(question.prompt)\(hint): "), question)
        return text.isEmpty ? defaultValue : text
    }

    /// Asks for a text that `read` accepts.
    ///
    /// After a wrong answer the user is asked again; a wrong answer in the arguments is an error.
    private mutating func text<Value>(
        _ question: Question, _ prompt: TerminalText, _ expected: String, _ read: (String) -> Value?
    ) async throws -> Value {
        if let given = try await given(question) {
            guard let value = read(try Self.text(given, question).trimmingWhitespace()) else {
                throw Failure(.badInput, "answer.invalid", "the answer to '\(question.prompt)' must be \(expected)")
            }
            return value
        }
        while true {
            let text = try Self.text(try await typed(question, prompt), question).trimmingWhitespace()
            if let value = read(text) { return value }
            Console.error("Please answer with \(expected).")
        }
    }

    /// Asks for one of several options, by its number or name.
    ///
    /// Doesn't ask if there is only one.
    /// - Returns: The index of the option, from 0.
    mutating func choice(_ question: Question, of options: [String], default defaultValue: Int? = nil) async throws -> Int {
        guard !options.isEmpty else {
            throw Failure(.protocolBroken, "nothingToChoose", "the server asks for a choice and offers none")
        }
        if options.count == 1, !answers.has(question) { return 0 }
        let options = options.map(\.pageLine)
        if canAsk {
            for (index, option) in options.enumerated() { Console.error("  \(index + 1)) \(option)") }
        }
        let hint = defaultValue.map { " [\($0 + 1)]" } ?? ""
        let expected = "a number from 1 to \(options.count), or " + options.map { "'\($0)'" }.joined(separator: ", ")
        return try await text(question, "\(question.prompt)\(hint): ", expected) { text in
            if text.isEmpty { return defaultValue }
            if let exact = options.firstIndex(of: text) { return exact }
            if let number = Int(text) { return options.indices.contains(number - 1) ? number - 1 : nil }
            let alike = options.indices.filter { options[$0].lowercased() == text.lowercased() }
            return alike.count == 1 ? alike[0] : nil
        }
    }

    /// Asks for yes or no.
    mutating func agreement(_ question: Question, default defaultValue: Bool? = nil) async throws -> Bool {
        let hint = defaultValue.map { $0 ? " [Y/n]" : " [y/N]" } ?? " [y/n]"
        return try await text(question, "\(question.prompt)\(hint): ", "yes or no") { text in
            switch text.lowercased() {
            case "": defaultValue
            case "y", "yes", "true": true
            case "n", "no", "false": false
            default: nil
            }
        }
    }

    /// Asks for a number.
    /// - Parameters:
    ///   - question: The question.
    ///   - defaultValue: The value for empty input; nil if the user must type a number.
    /// - Returns: A finite number.
    /// - Throws: ``Failure`` without an answer and a terminal, and for an argument that is not a number; `CancellationError` when
    ///   the input ends.
    mutating func number(_ question: Question, default defaultValue: Double? = nil) async throws -> Double {
        let hint = defaultValue.map { value in " [\(Int64(exactly: value).map { String($0) } ?? String(value))]" } ?? ""
        return try await text(question, "\(question.prompt)\(hint): ", "a number") { text in
            text.isEmpty ? defaultValue : Double(text).flatMap { $0.isFinite ? $0 : nil }
        }
    }

    // MARK: Sources of answers

    private mutating func given(_ question: Question) async throws -> [UInt8]? {
        guard let answer = answers.take(question) else { return nil }
        if let value = answer.value {
            guard !question.isSecret else {
                throw Failure(
                    .usage, "answer.secret",
                    "the answer to '\(question.prompt)' is a secret, and arguments can be read by others: say"
                        + " --answer \(answer.name)=- and give it on standard input")
            }
            return Array(value.utf8)
        }
        // At a terminal, the user types the line, with a prompt.
        if canAsk { return try await typed(question, "\(question.prompt): ") }
        guard let line = try await TerminalInput.line() else {
            throw Failure(
                .usage, "answer.missing", "standard input ended before there was a line for '\(question.prompt)'",
                part: answer.name)
        }
        return line
    }

    private func typed(_ question: Question, _ prompt: TerminalText) async throws -> [UInt8] {
        guard canAsk else {
            let name = question.names.first ?? question.prompt
            throw Failure(
                .usage, "answer.missing",
                "the server asks for '\(question.prompt)', and there is no terminal to ask at: use --answer \(name)=- and give it on"
                    + " standard input" + (question.isSecret ? "" : ", or --answer \(name)=VALUE"), part: name)
        }
        guard let line = try await TerminalInput.line(prompt, isHidden: question.isHidden) else { throw CancellationError() }
        return line
    }

    private static func text(_ bytes: [UInt8], _ question: Question) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badInput, "answer.invalid", "the answer to '\(question.prompt)' is not UTF-8")
        }
        return text
    }
}
