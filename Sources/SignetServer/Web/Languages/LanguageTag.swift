import SignetCore

/// A language tag (RFC 5646), for example `de` or `pt-BR`.
struct LanguageTag: Sendable, Hashable {
    /// The tag in the usual case: `zh-Hant-TW`.
    let text: String

    static let english = LanguageTag(normal: "en")

    /// The longest accepted tag, in bytes.
    private static let maxLength = 35

    private init(normal text: String) { self.text = text }

    /// Creates a tag; nil for other texts.
    ///
    /// A tag has parts of at most eight letters and digits, joined with hyphens, and begins with two or more letters.
    init?(_ text: some StringProtocol) {
        let parts = text.utf8.count <= Self.maxLength ? text.split(separator: "-", omittingEmptySubsequences: false) : []
        guard let first = parts.first, (2...8).contains(first.utf8.count), first.utf8.allSatisfy({ $0.isASCIILetterOrDigit }),
            !first.contains(where: \.isNumber),
            parts.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy { $0.isASCIILetterOrDigit } })
        else { return nil }
        self.text = parts.enumerated().map { index, part in
            switch part.utf8.count {
            case 2 where index > 0: part.uppercased()
            case 4 where index > 0 && !part.contains(where: \.isNumber):
                part.prefix(1).uppercased() + part.dropFirst().lowercased()
            default: part.lowercased()
            }
        }.joined(separator: "-")
    }

    /// The tag without its last part, and without a part of one letter before it, as a lookup shortens it (RFC 4647 section 3.4);
    /// nil for a language alone.
    var shortened: LanguageTag? {
        var parts = text.split(separator: "-").dropLast()
        if let last = parts.last, last.count == 1 { parts = parts.dropLast() }
        return parts.isEmpty ? nil : LanguageTag(normal: parts.joined(separator: "-"))
    }

    /// Returns true when the tag is more specific than another one: `de-AT` for `de`.
    func isPart(of other: LanguageTag) -> Bool { text.hasPrefix("\(other.text)-") }

    /// True when the language is written from right to left.
    var isRightToLeft: Bool {
        let parts = text.split(separator: "-")
        if let script = parts.dropFirst().first(where: { $0.count == 4 && $0.first?.isUppercase == true }) {
            return Self.rightToLeftScripts.contains(String(script))
        }
        return parts.first.map { Self.rightToLeftLanguages.contains(String($0)) } ?? false
    }

    private static let rightToLeftScripts: Set = ["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"]
    private static let rightToLeftLanguages: Set = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]
}
