import SignetCore
import YAMLText

extension ConfigurationReader {
    /// Reads the section `languages`: sentences of the pages and emails, by language and name.
    mutating func readLanguages(_ value: MarkedValue?) {
        guard let value else { return }
        guard let entries = value.mapping else {
            problems.append(
                ConfigurationProblem(
                    .wrongType, at: value.position, "languages",
                    "`languages` must be sentences by language, `{de: {signIn: Anmelden}}`, not \(value.kind)"))
            return
        }
        for entry in entries {
            guard let tag = LanguageTag(entry.key) else {
                problems.append(
                    ConfigurationProblem(
                        .invalidValue, at: entry.position, "languages",
                        "`\(entry.key.shortened)` must be the tag of a language, such as `de` or `pt-BR`"))
                continue
            }
            var reader = ConfigurationDecoder(entry.value, subject: "language `\(tag.text)`")
            let texts = reader.pageTexts()
            if configuration.languages.contains(where: { $0.tag == tag }) {
                reader.report(.duplicate, at: entry.position, "there is already a language `\(tag.text)`")
            }
            configuration.languages.append(PageLanguage(tag: tag, texts: texts))
            finish(reader, .language)
        }
    }
}

extension ConfigurationDecoder {
    /// Decodes the sentences of a language.
    fileprivate mutating func pageTexts() -> [PageText: String] {
        var texts: [PageText: String] = [:]
        for text in PageText.allCases {
            let name = text.rawValue
            guard let sentence = optionalString(name, kind: "a sentence", default: "`\(text.english)`") else { continue }
            check(name, sentence, "a sentence, and not empty") { !$0.isEmpty }
            let known = text.placeholders
            for placeholder in PageText.placeholders(in: sentence).subtracting(known).sorted() {
                let valid = known.isEmpty ? "it has none" : "it has " + known.sorted().map { "`{\($0)}`" }.joined(separator: ", ")
                report(.unknownName, in: name, "`\(name)` has no placeholder `{\(placeholder.shortened)}`: \(valid)")
            }
            texts[text] = sentence
        }
        return texts
    }
}
