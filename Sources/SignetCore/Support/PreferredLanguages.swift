/// The languages in which a user wants to read the server's texts, and the header field that states them.
package enum PreferredLanguages {
    /// The maximum number of languages in a header field.
    private static let maxCount = 9

    /// Returns the language tags of an environment in order of preference: `LANGUAGE`, or else the locale of messages.
    ///
    /// A language without its country follows after all others. The locales `C` and `POSIX` have no language.
    package static func tags(environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let own = tag(locale) else { return [] }
        let listed = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap(tag)
        let tags = listed.isEmpty ? [own] : listed
        var all: [String] = []
        for tag in tags + tags.map({ String($0.prefix { $0 != "-" }) }) where !all.contains(tag) { all.append(tag) }
        return Array(all.prefix(maxCount))
    }

    /// Returns the value of the field `Accept-Language` (RFC 9110 section 12.5.4); nil for no languages.
    package static func header(_ tags: [String]) -> String? {
        guard !tags.isEmpty else { return nil }
        return tags.prefix(maxCount).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ",")
    }

    /// Returns true for a text with the form of a language tag, or for `*`.
    package static func isTag(_ text: String) -> Bool {
        text == "*"
            || (1...35).contains(text.utf8.count) && text.utf8.first?.isASCIILetterOrDigit == true
                && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
    }

    /// Returns the language tag of a locale such as `de_AT.UTF-8`; nil for one without a language.
    private static func tag(_ locale: some StringProtocol) -> String? {
        let name = String(locale.prefix { $0 != "." && $0 != "@" }).replacing("_", with: "-")
        return isTag(name) && name != "C" && name != "POSIX" ? name : nil
    }
}
