import SignetCore
import YAMLText

/// A setting that was requested from a decoder, for the documentation and the schema.
struct Setting: Sendable, Hashable {
    let name: String
    /// The form of valid values, for ``ConfigurationSchema``.
    var form = SettingForm.any
    var isRequired = false
    /// The description of valid values.
    let kind: String
    /// The description of the default; nil when the setting is required, or when it has no default.
    let defaultValue: String?
}

/// Decodes a mapping of a configuration file, setting by setting.
///
/// Problems are collected, and a usable value is returned in place of a wrong one, so that one pass finds all problems. Settings
/// that were never requested are also problems.
struct ConfigurationDecoder {
    /// The name of the section for messages.
    let subject: String?
    let position: SourcePosition
    /// The requested settings, in the order of the requests.
    private(set) var settings: [Setting] = []
    private(set) var problems: [ConfigurationProblem] = []
    private let entries: [MarkedValue.Entry]
    private var ignoresUnknown = false
    /// True when the settings of absent sections are recorded too, for ``ConfigurationSchema``.
    private let isProbing: Bool

    /// Creates a decoder of a section.
    ///
    /// If the value is nil, all settings have their defaults.
    init(_ value: MarkedValue?, subject: String?, isProbing: Bool = false) {
        self.subject = subject
        self.isProbing = isProbing
        position = value?.position ?? .start
        entries = value?.mapping ?? []
        if let value, value.mapping == nil, !value.isNothing {
            report(.wrongType, at: value.position, "settings belong here, each with a name and a colon, not \(value.kind)")
        }
    }

    // MARK: Problems

    mutating func report(_ code: ConfigurationProblem.Code, at position: SourcePosition, _ message: String) {
        problems.append(ConfigurationProblem(code, at: position, subject, message))
    }

    /// Reports a problem at the position of a setting, or else of the section.
    mutating func report(_ code: ConfigurationProblem.Code, in name: String, _ message: String) {
        report(code, at: entries.first { $0.key == name }?.value.position ?? position, message)
    }

    /// Adds the problems of a decoder of a nested section.
    mutating func report(_ others: [ConfigurationProblem]) {
        problems += others
    }

    /// Reports a value of another type than a setting has.
    ///
    /// The result is always nil, in place of the value.
    private mutating func reportType<Value>(_ value: MarkedValue, _ name: String, _ kind: String) -> Value? {
        report(.wrongType, at: value.position, "`\(name)` must be \(kind), not \(value.kind)")
        return nil
    }

    /// Reports a value that a setting cannot have, and if it would be valid without its quotes.
    private mutating func reportValue(
        _ value: MarkedValue, _ name: String, _ kind: String, isMeant: (String) -> Bool = { _ in false }
    ) {
        let hint = value.isQuoted(isMeant) ? "without quotes" : "not \(value.description)"
        report(.invalidValue, at: value.position, "`\(name)` must be \(kind), \(hint)")
    }

    /// Returns all problems, including the settings that were never requested.
    func finished() -> [ConfigurationProblem] {
        guard !ignoresUnknown else { return problems }
        let names = settings.map(\.name)
        return problems
            + entries.filter { !names.contains($0.key) }.map { entry in
                // If the space after the colon is missing, the key contains the value, which may be a password. Only the
                // characters of a name are shown.
                let name = String(entry.key.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) })
                let shown = name == entry.key ? name.shortened : name + "…"
                return ConfigurationProblem(
                    .unknownSetting, at: entry.position, subject,
                    "there is no setting `\(shown)`" + names.suggestion(for: name, "valid settings:"))
            }
    }

    /// Stops the reporting of settings that were never requested.
    ///
    /// It is used when the node type is unknown, and with it the valid settings.
    mutating func ignoreUnknownSettings() { ignoresUnknown = true }

    // MARK: Settings

    /// Returns a setting of any type; nil when it is absent or empty.
    mutating func value(
        _ name: String, kind: String, default defaultValue: String? = nil, form: SettingForm = .any
    ) -> MarkedValue? {
        if !settings.contains(where: { $0.name == name }) {
            settings.append(Setting(name: name, form: form, kind: kind, defaultValue: defaultValue))
        }
        return entries.first { $0.key == name }.flatMap { $0.value.isNothing ? nil : $0.value }
    }

    /// Returns true when the file has a value for a setting.
    func isGiven(_ name: String) -> Bool { entries.contains { $0.key == name && !$0.value.isNothing } }

    /// The names in the setting `outcomes` of a node, for a node whose outcomes the file itself names; without `default`.
    var outcomeNames: [String] {
        let value = entries.first { $0.key == "outcomes" }?.value
        return (value?.mapping?.map(\.key) ?? value?.list?.compactMap(\.text) ?? []).filter { $0 != "default" }
    }

    /// Returns true when a setting has a scalar as its value.
    func hasString(_ name: String) -> Bool { entries.first { $0.key == name }?.value.text != nil }

    /// Returns a setting as ``value(_:kind:default:)`` does, and reports a problem if it is absent.
    mutating func requiredValue(_ name: String, kind: String, form: SettingForm = .any) -> MarkedValue? {
        let value = value(name, kind: kind, form: form)
        if let index = settings.firstIndex(where: { $0.name == name }) { settings[index].isRequired = true }
        if value == nil {
            let likely = entries.map(\.key).filter { key in !settings.contains { $0.name == key } }.nearest(to: name)
            let hint = likely.map { "; did you mean it by `\($0.shortened)`?" } ?? ""
            report(.missingSetting, at: position, "`\(name)` is missing: it must be \(kind)" + hint)
        }
        return value
    }

    mutating func requiredString(_ name: String, kind: String = "a string") -> String {
        requiredValue(name, kind: kind, form: .string).flatMap { string(of: $0, name, kind) } ?? ""
    }

    mutating func string(_ name: String, _ defaultValue: String) -> String {
        optionalString(name, default: "`\(defaultValue)`") ?? defaultValue
    }

    mutating func optionalString(_ name: String, kind: String = "a string", default defaultValue: String? = nil) -> String? {
        value(name, kind: kind, default: defaultValue, form: .string).flatMap { string(of: $0, name, kind) }
    }

    /// Decodes a text as AM stores it: a string, or strings by language.
    mutating func localizedText(_ name: String, _ defaultValue: LocalizedText) -> LocalizedText {
        optionalLocalizedText(name, default: "`\(defaultValue.standard)`") ?? defaultValue
    }

    mutating func optionalLocalizedText(_ name: String, default defaultValue: String? = nil) -> LocalizedText? {
        let kind = "a string, or strings by language"
        guard let value = value(name, kind: kind, default: defaultValue, form: .localizedString) else { return nil }
        guard let languages = value.mapping else { return string(of: value, name, kind).map { LocalizedText($0) } }
        var texts: [LocalizedText.Translation] = []
        for entry in languages {
            // AM writes the tags of some languages as Java does: `en_US`.
            guard let tag = LanguageTag(entry.key.replacing("_", with: "-")) else {
                report(
                    .invalidValue, at: entry.position,
                    "`\(name)` has a text for `\(entry.key.shortened)`, which must be the tag of a language")
                continue
            }
            guard let text = string(of: entry.value, name, kind) else { continue }
            texts.append(LocalizedText.Translation(language: tag, text: text))
        }
        if languages.isEmpty { report(.missingLanguage, at: value.position, "`\(name)` has no string in any language") }
        return LocalizedText(texts)
    }

    mutating func bool(_ name: String, _ defaultValue: Bool) -> Bool {
        let kind = "`true` or `false`"
        guard let value = value(name, kind: kind, default: "`\(defaultValue)`", form: .bool) else { return defaultValue }
        if let bool = value.bool { return bool }
        reportValue(value, name, kind) { ["true", "false"].contains($0.lowercased()) }
        return defaultValue
    }

    mutating func integer(_ name: String, _ defaultValue: Int, in range: ClosedRange<Int>) -> Int {
        optionalInteger(name, in: range, default: "`\(defaultValue)`") ?? defaultValue
    }

    mutating func optionalInteger(_ name: String, in range: ClosedRange<Int>, default defaultValue: String? = nil) -> Int? {
        let kind = "an integer, \(range.lowerBound) to \(range.upperBound)"
        guard let value = value(name, kind: kind, default: defaultValue, form: .integer(range)) else { return nil }
        if let number = value.integer, range.contains(number) { return number }
        reportValue(value, name, kind) { Int($0).map(range.contains) == true }
        return nil
    }

    /// Decodes one of several keywords.
    mutating func choice<Value>(_ name: String, _ defaultValue: String, _ values: KeyValuePairs<String, Value>) -> Value? {
        optionalChoice(name, values, default: "`\(defaultValue)`") ?? values.first { $0.key == defaultValue }?.value
    }

    mutating func optionalChoice<Value>(
        _ name: String, _ values: KeyValuePairs<String, Value>, default defaultValue: String
    ) -> Value? {
        let kind = "one of " + values.map { "`\($0.key)`" }.joined(separator: ", ")
        guard let value = value(name, kind: kind, default: defaultValue, form: .choice(values.map(\.key))) else { return nil }
        if let pair = values.first(where: { $0.key == value.text }) { return pair.value }
        reportValue(value, name, kind)
        return nil
    }

    /// Decodes a list of keywords, by default all.
    mutating func choices<Value>(
        _ name: String, _ values: KeyValuePairs<String, Value>, default defaults: [String]? = nil
    ) -> [Value]? {
        let names = values.map(\.key)
        let kind = "a list of " + names.map { "`\($0)`" }.joined(separator: ", ")
        let defaultValue = "`[\((defaults ?? names).joined(separator: ", "))]`"
        guard let value = value(name, kind: kind, default: defaultValue, form: .list(.choice(names))) else { return nil }
        guard let elements = value.list else { return reportType(value, name, kind) }
        return elements.compactMap { element in
            if let pair = values.first(where: { $0.key == element.text }) { return pair.value }
            reportValue(element, name, kind)
            return nil
        }
    }

    mutating func strings(_ name: String, _ defaultValue: [String]) -> [String] {
        optionalStrings(name, default: "`[\(defaultValue.joined(separator: ", "))]`") ?? defaultValue
    }

    mutating func optionalStrings(_ name: String, default defaultValue: String? = nil) -> [String]? {
        let kind = "a list of strings"
        guard let value = value(name, kind: kind, default: defaultValue, form: .list(.string)) else { return nil }
        guard let elements = value.list else { return reportType(value, name, "\(kind), `[one, another]`") }
        return elements.compactMap { string(of: $0, name, kind) }
    }

    /// Decodes strings by name.
    mutating func pairs(_ name: String) -> [MarkedValue.Entry] {
        let kind = "strings by name"
        guard let value = value(name, kind: kind, form: .mapping(.string)) else { return [] }
        guard let entries = value.mapping else { return reportType(value, name, "\(kind), `{name: string}`") ?? [] }
        return entries.filter { string(of: $0.value, "\(name).\($0.key)", "a string") != nil }
    }

    /// Decodes values of any type by name.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - kind: The description of valid values.
    ///   - example: An example for messages.
    /// - Returns: The entries; nil when the setting is absent or has a wrong type, which is reported.
    mutating func members(_ name: String, kind: String = "values by name", example: String) -> [MarkedValue.Entry]? {
        guard let value = value(name, kind: kind, form: .mapping(.any)) else { return nil }
        return value.mapping ?? reportType(value, name, "\(kind), `\(example)`")
    }

    /// Decodes a list with elements of any type.
    mutating func elements(_ name: String, kind: String, of form: SettingForm = .any) -> [MarkedValue] {
        guard let value = value(name, kind: kind, form: .list(form)) else { return [] }
        return value.list ?? reportType(value, name, kind) ?? []
    }

    /// Decodes a nested section, or a keyword in place of one.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - kind: The description of valid values.
    ///   - defaultValue: The description of the default.
    ///   - keyword: The keyword, with its meaning.
    ///   - decode: Decodes the settings of the section. Its problems are added to those of this decoder.
    /// - Returns: The value; nil when the section is absent or has a wrong type.
    mutating func section<Value>(
        _ name: String, kind: String, default defaultValue: String? = nil, keyword: (name: String, value: Value)? = nil,
        _ decode: (inout ConfigurationDecoder) -> Value
    ) -> Value? {
        let form = SettingForm.section(isProbing ? Self.settings(decode) : [], keyword: keyword?.name)
        guard let value = value(name, kind: kind, default: defaultValue, form: form) else { return nil }
        if let keyword, value.text == keyword.name { return keyword.value }
        guard value.mapping != nil else { return reportType(value, name, kind) }
        var part = ConfigurationDecoder(value, subject: subject.map { "\($0), \(name)" } ?? name)
        let result = decode(&part)
        report(part.finished())
        return result
    }

    /// Returns the settings that a closure requests.
    static func settings<Value>(_ decode: (inout ConfigurationDecoder) -> Value) -> [Setting] {
        var probe = ConfigurationDecoder(nil, subject: nil, isProbing: true)
        _ = decode(&probe)
        return probe.settings
    }

    private mutating func string(of value: MarkedValue, _ name: String, _ kind: String) -> String? {
        value.text ?? reportType(value, name, kind)
    }
}

extension MarkedValue {
    /// The value in the form that messages contain.
    fileprivate var description: String { text.map { "`\($0.shortened)`" } ?? kind }

    /// Returns true when the value is only a string because it is in quotes, and the string would be valid without them.
    fileprivate func isQuoted(_ isMeant: (String) -> Bool) -> Bool {
        if case .scalar(let text, isQuoted: true) = content { isMeant(text) } else { false }
    }
}
