import SignetCore

/// The rule that finds new passphrases which an attacker guesses soon.
///
/// It leads to a warning and refuses nothing. It knows only short passphrases, a few common ones, repeated characters and runs such
/// as `abcdef`; a passphrase that it accepts may still be easy to guess.
enum PassphraseStrength {
    /// The number of characters below which a passphrase is weak.
    static let minLength = 12

    private static let advice: TerminalText = "Use \(minLength) characters or more, such as four unrelated words"

    /// Returns the reason why a passphrase is easy to guess, as a phrase about `it`; nil when the rule finds none.
    static func weakness(of passphrase: [UInt8]) -> String? {
        let text = String(decoding: passphrase, as: UTF8.self).lowercased()
        if isCommon(text) { return "it is one of the most common passwords" }
        if text.count < minLength { return "it has only \(text.count.of("character"))" }
        if Set(text).count < 5 { return "it repeats a few characters" }
        return isRun(text) ? "it is a run of neighboring letters, digits or keys" : nil
    }

    /// Prints a warning on standard error when a new passphrase is easy to guess; with `--json` as a line of JSON.
    /// - Parameters:
    ///   - passphrase: The passphrase. Nothing is printed about an empty one, which is refused elsewhere.
    ///   - thing: The thing that it protects, such as `the vault`.
    static func warn(about passphrase: Secret, of thing: TerminalText) {
        guard passphrase.count > 0, let weakness = weakness(of: passphrase.bytes) else { return }
        let message: TerminalText =
            "the passphrase of \(thing) is easy to guess: \(weakness). \(advice)"
        guard CommandLine.arguments.contains("--json") else { return Console.error("signet: warning: \(message)") }
        let members: [String: JSONValue] = ["code": .string("weakPassphrase"), "message": .string(message.description)]
        Console.error(JSONText.line(.object(["warning": .object(members)])))
    }

    // MARK: Rules

    /// Returns true for a common password, also with at most four digits or other signs before or after it.
    private static func isCommon(_ text: String) -> Bool {
        if commonPasswords.contains(text) { return true }
        var core = text[...]
        var removed = 0
        while removed < 4, let last = core.last, !last.isLetter {
            core.removeLast()
            removed += 1
        }
        while removed < 4, let first = core.first, !first.isLetter {
            core.removeFirst()
            removed += 1
        }
        return commonPasswords.contains(String(core))
    }

    /// Returns true when at least three of four pairs of characters are equal or neighbors in the alphabet or on a keyboard.
    private static func isRun(_ text: String) -> Bool {
        let runs = zip(text, text.dropFirst()).filter { first, second in
            first == second || neighbors.contains("\(first)\(second)")
        }
        return 4 * runs.count >= 3 * (text.count - 1)
    }

    /// Each two neighbors in a row, in both orders.
    private static let neighbors = Set(rows.flatMap(pairs))

    private static func pairs(in row: String) -> [String] {
        zip(row, row.dropFirst()).flatMap { first, second in ["\(first)\(second)", "\(second)\(first)"] }
    }

    private static let rows = [
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop",
    ]

    /// Passwords at the top of published lists, in lower case.
    private static let commonPasswords: Set<String> = [
        "000000", "111111", "112233", "121212", "123123", "123321", "1234", "12345", "123456", "1234567", "12345678",
        "123456789", "1234567890", "123456789012", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "654321", "666666",
        "987654321", "abc", "admin", "administrator", "asdfgh", "asdfghjkl", "azerty", "baseball", "batman",
        "changeme", "computer", "correcthorsebatterystaple", "debian", "default", "dragon", "football", "freedom",
        "google", "guest", "hello", "hunter", "iloveyou", "internet", "letmein", "linux", "login", "master",
        "michael", "monkey", "opensesame", "p@ssw0rd", "p@ssword", "pass", "passphrase", "passw0rd", "password",
        "passwordpassword", "passwort", "pokemon", "princess", "qazwsx", "qwerty", "qwertyuiop", "qwertz", "root",
        "secret", "shadow", "signet", "starwars", "sunshine", "superman", "test", "test1234", "trustno1", "ubuntu",
        "user", "welcome", "whatever", "zxcvbnm",
    ]
}
