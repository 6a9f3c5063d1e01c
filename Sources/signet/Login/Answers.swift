import ArgumentParser
import SignetCore

/// What is asked, and how an answer to it can be named on the command line.
struct Question {
    /// What a person reads.
    let prompt: String
    /// What `--answer` may call it, the plainest first.
    let names: [String]
    /// Whether it may not stand in an argument, which everybody on the machine can read: a password, and a one-time code, which
    /// logs in whoever is quicker.
    var isSecret = false
    /// Whether it is not shown while it is typed.
    var isHidden = false
}

/// An answer that was given beforehand: `NAME=VALUE`, or `NAME=-` for a line of standard input.
struct AnswerOption: ExpressibleByArgument, Sendable {
    let name: String
    /// Nil for a line of standard input.
    let value: String?

    /// Whatever was written: a complaint of the parser's would repeat it.
    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        value = parts.count < 2 ? "" : parts[1] == "-" ? nil : String(parts[1])
        isComplete = parts.count == 2 && !parts[0].isEmpty
    }

    private let isComplete: Bool

    /// What is a secret whoever asks for it. A link or an address that a journey goes on at logs in whoever has it.
    private static let secrets: Set<String> = ["password", "passphrase", "token", "link", "address"]

    /// What is wrong with it, without repeating it.
    var problem: String? {
        guard isComplete else { return "--answer takes NAME=-, for a line of standard input, or NAME=VALUE." }
        guard value != nil, Self.secrets.contains(name.plainWord) || name.asksForOneTimeCode else { return nil }
        return "--answer \(name)=… would show a secret to everybody who can list processes; say --answer \(name)=-"
            + " and give it on standard input."
    }
}

/// The answers that were given beforehand. Each is used once; of several that fit the one with the plainest name, and of those the
/// first.
struct Answers {
    private var left: [AnswerOption]

    init(_ options: [AnswerOption]) { left = options }

    /// The names of those that nobody has asked for.
    var unused: [String] { left.map(\.name) }

    /// The next answer to a question.
    mutating func take(_ question: Question) -> AnswerOption? {
        index(of: question).map { left.remove(at: $0) }
    }

    /// Whether there is an answer to a question.
    func has(_ question: Question) -> Bool { index(of: question) != nil }

    private func index(of question: Question) -> Int? {
        question.names.lazy.compactMap { name in left.firstIndex { $0.name.plainWord == name.plainWord } }.first
    }
}

extension String {
    /// The letters and digits, in lower case: `User Name:` and `username` are one name.
    var plainWord: String { lowercased().filter { $0.isLetter || $0.isNumber } }

    /// The text without what could steer a terminal; lines stay lines.
    var shown: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\n" || String($0).isSafeToShow ? $0 : "\u{FFFD}" }))
    }
}
