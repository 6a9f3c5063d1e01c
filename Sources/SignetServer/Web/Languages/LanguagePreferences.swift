import SignetCore

/// The languages that a user prefers, best first.
struct LanguagePreferences: Sendable, Hashable {
    /// The maximum number of languages of one source that are read, and the maximum length of its text in bytes.
    private static let (maxCount, maxLength) = (16, 1024)

    private var uiLocales: String
    /// The query of the request, which may contain `ui_locales`.
    private var query: String?
    private let acceptLanguage: [String]
    /// The tag of the configuration's language, which is read when a text is chosen.
    private let standard: String

    /// Creates preferences.
    /// - Parameters:
    ///   - uiLocales: The parameter `ui_locales` of the authorization request: tags with spaces between them, best first (OpenID
    ///     Connect Core 1.0 section 3.1.2.1).
    ///   - acceptLanguage: The values of the header `Accept-Language` (RFC 9110 section 12.5.4).
    ///   - standard: The language of the configuration, which comes last, before English.
    init(uiLocales: String = "", acceptLanguage: [String] = [], standard: LanguageTag = .english) {
        (self.uiLocales, query, self.acceptLanguage, self.standard) = (uiLocales, nil, acceptLanguage, standard.text)
    }

    /// Creates the preferences of a request, which is decoded when a text is chosen.
    ///
    /// `ui_locales` is a parameter of the address, or of the authorization request in its parameter `goto`, to which the login page
    /// leads back.
    /// - Parameters:
    ///   - query: The query of the address, without the question mark.
    ///   - acceptLanguage: The values of the header `Accept-Language`.
    ///   - configuration: The configuration, with the standard language.
    init(query: String?, acceptLanguage: [String], _ configuration: ServerConfiguration) {
        (uiLocales, self.query, self.acceptLanguage) = ("", query, acceptLanguage)
        standard = configuration.defaultLanguage
    }

    /// Returns the preferences of a request with `ui_locales` in its body, in the place of the query.
    /// - Parameter uiLocales: The parameter.
    /// - Returns: The preferences.
    func asking(for uiLocales: String) -> LanguagePreferences {
        var preferences = self
        (preferences.uiLocales, preferences.query) = (uiLocales, nil)
        return preferences
    }

    private var tags: [LanguageTag] {
        let query = query ?? ""
        let asked =
            FormCoding.value(of: "ui_locales", in: query)
            ?? FormCoding.value(of: "goto", in: query).flatMap {
                FormCoding.value(of: "ui_locales", in: FormCoding.queryText(of: $0))
            }
        return Self.tags(uiLocales: asked ?? uiLocales) + Self.tags(accepted: acceptLanguage.joined(separator: ","))
            + [LanguageTag(standard) ?? .english, .english]
    }

    private static func tags(uiLocales text: String) -> [LanguageTag] {
        guard text.utf8.count <= maxLength else { return [] }
        return text.split(separator: " ").prefix(maxCount).compactMap { LanguageTag($0) }
    }

    /// Returns the languages of `Accept-Language`, sorted by their weights.
    ///
    /// A weight of zero excludes a language. `*` names none.
    private static func tags(accepted text: String) -> [LanguageTag] {
        guard text.utf8.count <= maxLength else { return [] }
        let weighted = text.split(separator: ",").prefix(maxCount).compactMap { range -> (tag: LanguageTag, weight: Double)? in
            let parts = range.split(separator: ";").map { $0.trimming(" \t") }
            guard let tag = parts.first.flatMap({ LanguageTag($0) }) else { return nil }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return weight > 0 && weight <= 1 ? (tag, weight) : nil
        }
        // The order of the request decides between equal weights.
        return weighted.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.tag)
    }

    /// Returns the best of several languages.
    ///
    /// Each preferred language is looked up, shortened part by part (RFC 4647 section 3.4). If none of these is available, another
    /// form of the same language is used: `de-DE` for `de` and for `de-AT`.
    /// - Parameter available: The available languages.
    /// - Returns: One of them; nil when the user prefers none, and neither the standard language nor English is available.
    func best(of available: [LanguageTag]) -> LanguageTag? {
        for preferred in tags {
            var language = preferred
            while !available.contains(language), let shorter = language.shortened { language = shorter }
            if let best = available.first(where: { $0 == language }) ?? available.first(where: { $0.isPart(of: language) }) {
                return best
            }
        }
        return nil
    }
}
