import SignetCore

/// A text of a node, in one language or in several ones.
struct LocalizedText: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text in one of several languages.
    struct Translation: Sendable, Hashable {
        let language: LanguageTag
        let text: String
    }

    /// The text for users that prefer none of the languages: the English one, or else the first.
    let standard: String
    /// The text by language; empty when the file has only one text.
    private let translations: [Translation]

    /// Creates a text that is the same in every language.
    init(_ text: String) { (standard, translations) = (text, []) }

    init(stringLiteral text: String) { self.init(text) }

    /// Creates a text from its translations; nil without any.
    init?(_ translations: [Translation]) {
        guard let first = translations.first else { return nil }
        let english =
            translations.first { $0.language == .english } ?? translations.first { $0.language.isPart(of: .english) }
        (standard, self.translations) = ((english ?? first).text, translations)
    }

    /// Reads a text from JSON: a string, or strings by language; nil for another value.
    init?(_ value: JSONValue) {
        if let text = value.string {
            self.init(text)
            return
        }
        // The members of an object have no order.
        self.init(
            (value.object ?? [:]).sorted { $0.key < $1.key }.compactMap { key, value in
                guard let tag = LanguageTag(key.replacing("_", with: "-")), let text = value.string else { return nil }
                return Translation(language: tag, text: text)
            })
    }

    /// Returns the text in the best language.
    func text(for preferences: @autoclosure () -> LanguagePreferences) -> String {
        guard !translations.isEmpty, let best = preferences().best(of: translations.map(\.language)) else { return standard }
        return translations.first { $0.language == best }?.text ?? standard
    }
}

extension ServerTransaction {
    /// Returns a text of a node in the language of the present request.
    func text(_ text: LocalizedText) -> String { text.text(for: languages) }

    /// The languages that the user of the present request prefers.
    private var languages: LanguagePreferences {
        LanguagePreferences(
            query: request?.query, acceptLanguage: request?.values("accept-language") ?? [], time.configuration)
    }

    /// The language of texts that the server itself writes for the user of the present request.
    var pageLanguage: PageLanguage { time.configuration.pageLanguage(for: languages) }
}
