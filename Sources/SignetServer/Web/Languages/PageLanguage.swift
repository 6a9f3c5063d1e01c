import HTTPTypes
import Hummingbird

/// A language of the pages, with its sentences.
struct PageLanguage: Sendable, Hashable {
    let tag: LanguageTag
    /// The sentences of the configuration; others are English.
    let texts: [PageText: String]
    /// The languages that the user prefers, for texts that have other languages than the pages.
    var preferences = LanguagePreferences()

    static let english = PageLanguage(tag: .english, texts: [:])

    /// The language of the request that the present task answers.
    ///
    /// ``LanguageMiddleware`` sets it.
    @TaskLocal static var current = PageLanguage.english

    /// Returns a sentence.
    /// - Parameters:
    ///   - text: The sentence.
    ///   - values: The values of its placeholders.
    /// - Returns: The sentence in this language, or else in English.
    func sentence(_ text: PageText, _ values: [String: String] = [:]) -> String {
        PageText.filled(texts[text] ?? text.english, values)
    }

    /// Returns a standard text of AM's nodes in this language.
    ///
    /// The texts of nodes are English on the wire, because clients recognize fields by them.
    /// - Parameter text: A text of a callback.
    /// - Returns: The text in this language; the same text when it is not a standard one.
    func nodeText(_ text: String) -> String {
        texts.isEmpty ? text : PageText.ofNodes[text].flatMap { texts[$0] } ?? text
    }
}

/// Returns a sentence of the pages in the language of the request that the present task answers.
/// - Parameters:
///   - text: The sentence.
///   - values: The values of its placeholders.
/// - Returns: The sentence, not escaped for HTML.
func localized(_ text: PageText, _ values: [String: String] = [:]) -> String {
    PageLanguage.current.sentence(text, values)
}

extension ServerConfiguration {
    /// Returns the language of the pages for a user.
    func pageLanguage(for preferences: LanguagePreferences) -> PageLanguage {
        var language = PageLanguage.english
        if !languages.isEmpty {
            let available = Set(languages.map(\.tag)).union([.english]).sorted { $0.text < $1.text }
            let best = preferences.best(of: available)
            language = languages.first { $0.tag == best } ?? .english
        }
        language.preferences = preferences
        return language
    }
}

extension ServerContext {
    /// Runs an operation with the language of the pages for which the form in the body of a request asks.
    ///
    /// ``LanguageMiddleware`` knows the query only.
    /// - Parameters:
    ///   - form: The form; nil for a request without one.
    ///   - body: The operation.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws. One of OAuth 2.0 keeps what the form asks for, for the page with the error.
    func inLanguage<R>(of form: Parameters?, _ body: () async throws -> R) async throws -> R {
        guard let uiLocales = form?["ui_locales"] else { return try await body() }
        do {
            return try await PageLanguage.$current.withValue(language(for: uiLocales)) { try await body() }
        } catch let error as OAuthErrorResponse {
            var refusal = error
            refusal.uiLocales = uiLocales
            throw refusal
        }
    }

    /// Runs an operation with the language of the pages for `ui_locales` of a form; nil for that of the present request.
    func inLanguage<R>(for uiLocales: String?, _ body: () throws -> R) rethrows -> R {
        guard let uiLocales else { return try body() }
        return try PageLanguage.$current.withValue(language(for: uiLocales)) { try body() }
    }

    private func language(for uiLocales: String) -> PageLanguage {
        configuration.pageLanguage(for: PageLanguage.current.preferences.asking(for: uiLocales))
    }
}

/// Selects the language of the pages for each request.
struct LanguageMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        let configuration = server.configuration
        guard context.family != .console else { return try await next(request, context) }
        let preferences = LanguagePreferences(
            query: request.uri.query, acceptLanguage: request.headers[values: .acceptLanguage], configuration)
        return try await PageLanguage.$current.withValue(configuration.pageLanguage(for: preferences)) {
            try await next(request, context)
        }
    }
}
