import ArgumentParser
import SignetCore

/// A question to the user, with the names under which `--answer` can answer it.
struct Question {
    /// The text that the user reads.
    let prompt: String
    /// The names that `--answer` may use, the simplest first.
    let names: [String]
    /// True when the answer must not be in an argument, which all users of the machine can read.
    ///
    /// That is so for passwords and for one-time codes, with which another user could log in first.
    var isSecret = false
    /// True when the terminal doesn't show the answer while the user types it.
    var isHidden = false
}

/// An answer in an argument: `NAME=VALUE`, or `NAME=-` for a line of standard input.
struct AnswerOption: ExpressibleByArgument, Sendable {
    let name: String
    /// The value; nil for a line of standard input.
    let value: String?

    /// Accepts any argument.
    ///
    /// An error of the argument parser would repeat the argument, which may be a secret.
    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        value = parts.count < 2 ? "" : parts[1] == "-" ? nil : String(parts[1])
        isComplete = parts.count == 2 && !parts[0].isEmpty
    }

    private let isComplete: Bool

    /// The names that are always secret.
    ///
    /// A link or an address at which a journey resumes logs in any client that has it.
    private static let secrets: Set<String> = ["password", "passphrase", "token", "link", "address"]

    /// True for a name that is always secret, and for the position of a password in a journey, such as `password2`.
    private var namesSecret: Bool {
        let word = name.plainWord
        return Self.secrets.contains(word) || name.asksForOneTimeCode
            || word.hasPrefix("password") && word.dropFirst("password".count).allSatisfy(\.isNumber)
    }

    /// A description of the error in the option, which doesn't repeat the value; nil if the option is valid.
    var problem: String? {
        guard isComplete else { return "--answer takes NAME=-, for a line of standard input, or NAME=VALUE." }
        guard value != nil, namesSecret else { return nil }
        return "--answer \(name)=… would show a secret in the list of processes; use --answer \(name)=-"
            + " and give it on standard input."
    }
}

/// The answers from the arguments.
///
/// Each is used once. If several match a question, the simplest name has priority, then the first option.
struct Answers {
    private var left: [AnswerOption]

    init(_ options: [AnswerOption]) { left = options }

    /// The names of the answers that haven't been used.
    var unused: [String] { left.map(\.name) }

    /// Removes and returns the next answer to a question.
    mutating func take(_ question: Question) -> AnswerOption? {
        index(of: question).map { left.remove(at: $0) }
    }

    /// True when there is an answer to a question.
    func has(_ question: Question) -> Bool { index(of: question) != nil }

    private func index(of question: Question) -> Int? {
        question.names.lazy.compactMap { name in left.firstIndex { $0.name.plainWord == name.plainWord } }.first
    }
}

extension String {
    /// The letters and digits in lower case: `User Name:` and `username` are equal.
    var plainWord: String { lowercased().filter { $0.isLetter || $0.isNumber } }
}
