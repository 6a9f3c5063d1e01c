import SignetCore
import YAMLText

/// A setting that a reader has requested, for the documentation and its tests.
struct Setting: Sendable, Hashable {
    let name: String
    /// The description of valid values.
    let kind: String
    /// The default; nil when the setting is required, or when it has no default.
    let standard: String?
}

/// Reads a mapping, setting by setting. Problems are collected, and a usable value is returned in place of a wrong one, so that
/// one pass finds all problems. Settings that were never requested are also problems.
struct SectionReader {
    /// The name of the section for messages.
    let subject: String?
    let place: SourcePosition
    /// The requested settings, in the order of the requests.
    private(set) var settings: [Setting] = []
    private(set) var problems: [ConfigurationProblem] = []
    private let entries: [MarkedValue.Entry]
    private var isIgnored = false

    /// Creates a reader of a section. If the value is nil, all settings have their defaults.
    init(_ value: MarkedValue?, subject: String?) {
        self.subject = subject
        place = value?.place ?? .start
        entries = value?.mapping ?? []
        if let value, value.mapping == nil, !value.isNothing {
            note(value.place, "settings belong here, each with a name and a colon, not \(value.kind)")
        }
    }

    // MARK: Problems

    mutating func note(_ place: SourcePosition, _ message: String) {
        problems.append(ConfigurationProblem(place, subject, message))
    }

    /// Adds the problems of a reader of a nested section.
    mutating func note(_ others: [ConfigurationProblem]) {
        problems += others
    }

    /// Returns all problems, including the settings that were never requested.
    func finished() -> [ConfigurationProblem] {
        let names = settings.map(\.name)
        let unknown =
            isIgnored
            ? []
            : entries.filter { !names.contains($0.key) }.map { entry -> ConfigurationProblem in
                // If the space after the colon is missing, the key contains the value, which may be a password. Only the
                // characters of a name are shown.
                let name = String(entry.key.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) })
                let isWhole = name == entry.key
                return ConfigurationProblem(
                    entry.place, subject,
                    "there is no setting `\(isWhole ? name.shortened : name + "…")`" + names.advice(for: name, "here are"))
            }
        return problems + unknown
    }

    /// Stops the reporting of settings that were never requested. It is used when the node type is unknown, and with it the valid
    /// settings.
    mutating func ignoreTheRest() { isIgnored = true }

    // MARK: Settings

    /// Returns a setting of any type; nil when it is absent or empty.
    mutating func value(_ name: String, kind: String, standard: String? = nil) -> MarkedValue? {
        if !settings.contains(where: { $0.name == name }) {
            settings.append(Setting(name: name, kind: kind, standard: standard))
        }
        return entries.first { $0.key == name }.flatMap { $0.value.isNothing ? nil : $0.value }
    }

    /// Returns true when the file has a value for a setting.
    func isGiven(_ name: String) -> Bool { entries.contains { $0.key == name && !$0.value.isNothing } }

    /// Returns the position of a setting, or else that of the section.
    func place(of name: String) -> SourcePosition { entries.first { $0.key == name }?.value.place ?? place }

    /// Returns true when a setting has a text as its value.
    func hasText(_ name: String) -> Bool { entries.first { $0.key == name }?.value.text != nil }

    /// Returns a setting as ``value(_:kind:standard:)`` does, and reports a problem if it is absent.
    mutating func requiredValue(_ name: String, kind: String) -> MarkedValue? {
        let value = value(name, kind: kind)
        if value == nil {
            let likely = entries.map(\.key).filter { key in !settings.contains { $0.name == key } }.nearest(to: name)
            note(place, "`\(name)` is missing: it is \(kind)" + (likely.map { "; is `\($0.shortened)` meant to be it?" } ?? ""))
        }
        return value
    }

    mutating func requiredText(_ name: String, kind: String = "a text") -> String {
        requiredValue(name, kind: kind).flatMap { text(of: $0, name, kind) } ?? ""
    }

    mutating func text(_ name: String, _ standard: String) -> String {
        value(name, kind: "a text", standard: "`\(standard)`").flatMap { text(of: $0, name, "a text") } ?? standard
    }

    mutating func optionalText(_ name: String, kind: String = "a text", standard: String? = nil) -> String? {
        value(name, kind: kind, standard: standard).flatMap { text(of: $0, name, kind) }
    }

    /// Reads a text that AM keeps in several languages: a text, or texts by language, of which the English one is used.
    mutating func words(_ name: String, _ standard: String) -> String {
        optionalWords(name, standard: "`\(standard)`") ?? standard
    }

    mutating func optionalWords(_ name: String, standard: String? = nil) -> String? {
        let kind = "a text, or texts by language"
        guard let value = value(name, kind: kind, standard: standard) else { return nil }
        guard let languages = value.mapping else { return text(of: value, name, kind) }
        guard let chosen = languages.first(where: { $0.key == "en" }) ?? languages.first(where: { $0.key.hasPrefix("en") }) else {
            note(value.place, "`\(name)` has no text for `en`: this server speaks English only")
            return nil
        }
        return text(of: chosen.value, name, kind)
    }

    mutating func truth(_ name: String, _ standard: Bool) -> Bool {
        guard let value = value(name, kind: "`true` or `false`", standard: "`\(standard)`") else { return standard }
        if let truth = value.truth { return truth }
        let isQuoted = value.isQuoted { ["true", "false"].contains($0.lowercased()) }
        note(value.place, "`\(name)` is `true` or `false`, " + (isQuoted ? "without quotes" : "not \(value.description)"))
        return standard
    }

    mutating func number(_ name: String, _ standard: Int, in range: ClosedRange<Int>) -> Int {
        optionalNumber(name, in: range, standard: "`\(standard)`") ?? standard
    }

    mutating func optionalNumber(_ name: String, in range: ClosedRange<Int>, standard: String? = nil) -> Int? {
        let kind =
            "a whole number, "
            + (range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)")
        guard let value = value(name, kind: kind, standard: standard) else { return nil }
        if let number = value.wholeNumber, range.contains(number) { return number }
        let isQuoted = value.isQuoted { Int($0).map(range.contains) == true }
        note(value.place, "`\(name)` is \(kind), " + (isQuoted ? "without quotes" : "not \(value.description)"))
        return nil
    }

    /// Reads one of several keywords.
    mutating func choice<Value>(_ name: String, _ standard: String, _ values: KeyValuePairs<String, Value>) -> Value? {
        optionalChoice(name, values, standard: "`\(standard)`") ?? values.first { $0.key == standard }?.value
    }

    mutating func optionalChoice<Value>(_ name: String, _ values: KeyValuePairs<String, Value>, standard: String) -> Value? {
        let kind = "one of " + values.map { "`\($0.key)`" }.joined(separator: ", ")
        guard let value = value(name, kind: kind, standard: standard) else { return nil }
        if let pair = values.first(where: { $0.key == value.text }) { return pair.value }
        note(value.place, "`\(name)` is \(kind), not \(value.description)")
        return nil
    }

    mutating func texts(_ name: String, _ standard: [String]) -> [String] {
        optionalTexts(name, standard: "`[\(standard.joined(separator: ", "))]`") ?? standard
    }

    mutating func optionalTexts(_ name: String, standard: String? = nil) -> [String]? {
        let kind = "a list of texts"
        guard let value = value(name, kind: kind, standard: standard) else { return nil }
        guard let elements = value.list else {
            note(value.place, "`\(name)` is \(kind), `[one, another]`, not \(value.kind)")
            return nil
        }
        return elements.compactMap { text(of: $0, name, "a list of texts") }
    }

    /// Reads texts by name.
    mutating func pairs(_ name: String) -> [MarkedValue.Entry] {
        let kind = "texts by names"
        guard let value = value(name, kind: kind) else { return [] }
        guard let entries = value.mapping else {
            note(value.place, "`\(name)` is \(kind), `{name: text}`, not \(value.kind)")
            return []
        }
        return entries.filter { text(of: $0.value, "\(name).\($0.key)", "a text") != nil }
    }

    /// Reads a list with elements of any type.
    mutating func elements(_ name: String, kind: String) -> [MarkedValue] {
        guard let value = value(name, kind: kind) else { return [] }
        if let elements = value.list { return elements }
        note(value.place, "`\(name)` is \(kind), not \(value.kind)")
        return []
    }

    private mutating func text(of value: MarkedValue, _ name: String, _ kind: String) -> String? {
        if let text = value.text { return text }
        note(value.place, "`\(name)` is \(kind), not \(value.kind)")
        return nil
    }
}

extension MarkedValue {
    /// The value in the form that messages contain.
    fileprivate var description: String { text.map { "`\($0.shortened)`" } ?? kind }

    /// Returns true when the value is only a text because it is in quotes, and the text would be valid without them.
    fileprivate func isQuoted(_ isMeant: (String) -> Bool) -> Bool {
        if case .scalar(let text, isQuoted: true) = content { isMeant(text) } else { false }
    }
}

extension String {
    /// The text in the form that messages contain: one line of at most 40 characters.
    var shortened: String {
        let line = String(prefix { !$0.isNewline })
        return line.count == count && count <= 40 ? self : "\(line.prefix(37))..."
    }
}

extension [String] {
    /// Returns the end of a message about an unknown name: the most similar name, and all valid names.
    func advice(for name: String, _ verb: String) -> String {
        guard !isEmpty else { return "" }
        let all = "\(verb) " + map { "`\($0)`" }.joined(separator: ", ")
        return nearest(to: name).map { ": is `\($0)` meant? (\(all))" } ?? "; \(all)"
    }

    /// Returns the most similar name: one that differs only in case, or in one or two characters.
    fileprivate func nearest(to name: String) -> String? {
        if let same = first(where: { $0.lowercased() == name.lowercased() }) { return same }
        guard name.count <= 64 else { return nil }
        let distances = map { (name: $0, distance: $0.distance(to: name)) }
        return distances.filter { $0.distance <= Swift.min(2, ($0.name.count + 1) / 3) }.min { $0.distance < $1.distance }?.name
    }
}

extension String {
    /// Returns the Levenshtein distance: the number of characters to change, add or remove to get the other text.
    fileprivate func distance(to other: String) -> Int {
        let (own, others) = (Array(lowercased()), Array(other.lowercased()))
        var row = Array(0...others.count)
        for (index, character) in own.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in others.indices {
                let changed = diagonal + (character == others[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(changed, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[others.count]
    }
}
