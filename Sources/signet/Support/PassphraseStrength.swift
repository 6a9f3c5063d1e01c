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
    static func weakness(of passphrase: Secret) -> String? { passphrase.withUnsafeBytes(weakness) }

    /// Prints a warning on standard error when a new passphrase is easy to guess; with `--json` as a line of JSON.
    /// - Parameters:
    ///   - passphrase: The passphrase. Nothing is printed about an empty one, which is refused elsewhere.
    ///   - thing: The thing that it protects, such as `the vault`.
    static func warn(about passphrase: Secret, of thing: TerminalText) {
        guard passphrase.count > 0, let weakness = weakness(of: passphrase) else { return }
        let message: TerminalText =
            "the passphrase of \(thing) is easy to guess: \(weakness). \(advice)"
        guard CommandLine.arguments.contains("--json") else { return Console.error("signet: warning: \(message)") }
        let members: [String: JSONValue] = ["code": .string("weakPassphrase"), "message": .string(message.description)]
        Console.error(JSONText.line(.object(["warning": .object(members)])))
    }

    // MARK: Rules

    // The rules read the secret's own memory, because a copy of a passphrase in a `String` or an array is not wiped.

    private static func weakness(of passphrase: UnsafeRawBufferPointer) -> String? {
        if isCommon(passphrase) { return "it is one of the most common passwords" }
        let length = passphrase.count { !isContinuation($0) }
        if length < minLength { return "it has only \(length.of("character"))" }
        if hasFewBytes(passphrase) { return "it repeats a few characters" }
        return isRun(passphrase) ? "it is a run of neighboring letters, digits or keys" : nil
    }

    /// Returns true for a common password, also with at most four digits or other signs before or after it.
    private static func isCommon(_ passphrase: UnsafeRawBufferPointer) -> Bool {
        if isListed(passphrase[...]) { return true }
        var core = passphrase[...]
        var removed = 0
        while removed < 4, let last = core.last, !isLetter(last) {
            core.removeLast()
            removed += 1
        }
        while removed < 4, let first = core.first, !isLetter(first) {
            core.removeFirst()
            removed += 1
        }
        return isListed(core)
    }

    private static func isListed(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        commonPasswords.contains { password in
            password.utf8.count == text.count && zip(password.utf8, text).allSatisfy { $0 == lowercase($1) }
        }
    }

    private static func hasFewBytes(_ passphrase: UnsafeRawBufferPointer) -> Bool {
        let distinct = (UInt8.min...UInt8.max).count { byte in passphrase.contains { lowercase($0) == byte } }
        return distinct < 5
    }

    /// Returns true when at least three of four pairs of characters are equal or neighbors in the alphabet or on a keyboard.
    private static func isRun(_ passphrase: UnsafeRawBufferPointer) -> Bool {
        let runs = zip(passphrase, passphrase.dropFirst()).count { areNeighbors(lowercase($0), lowercase($1)) }
        return 4 * runs >= 3 * (passphrase.count - 1)
    }

    private static func areNeighbors(_ first: UInt8, _ second: UInt8) -> Bool {
        first == second
            || rows.contains { row in
                zip(row.utf8, row.utf8.dropFirst()).contains { ($0, $1) == (first, second) || ($1, $0) == (first, second) }
            }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
    }

    /// Returns true for a letter of ASCII and for each byte of a character beyond ASCII.
    private static func isLetter(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercase(byte))
    }

    /// Returns true for a byte of UTF-8 that does not begin a character.
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    private static let rows = [
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop",
    ]

    /// Passwords at the top of published lists, in lower case.
    private static let commonPasswords: [String] = [
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
