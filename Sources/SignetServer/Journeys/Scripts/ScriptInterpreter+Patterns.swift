/// The methods of regular expressions, and those of texts that take one.
extension ScriptInterpreter {
    /// Calls a method of a regular expression.
    func method(
        _ name: String, of expression: ScriptRegExp, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        guard name == "test" || name == "exec" else { throw .unsupported("`\(name)()` of a regular expression", line: line) }
        let found = try next(expression, in: (arguments.first ?? .undefined).text)
        return name == "test" ? .bool(!found.isNothing) : found
    }

    /// Calls a method of a text whose first argument is a regular expression.
    func method(
        _ name: String, of text: String, with expression: ScriptRegExp, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        try charge(text.utf8.count)
        switch name {
        case "match":
            guard expression.pattern.flags.isGlobal else { return try next(expression, in: text) }
            let (matches, matcher) = try matches(of: expression, in: text)
            expression.lastIndex = 0
            return matches.isEmpty ? .null : ScriptValue(texts: matches.map { matcher.text($0.range) })
        case "search":
            let (matches, matcher) = try matches(of: expression, in: text, atMost: 1)
            return .number(matches.first.map { Double(matcher.text(0..<$0.range.lowerBound).count) } ?? -1)
        case "replace", "replaceAll":
            guard name == "replace" || expression.pattern.flags.isGlobal else {
                throw .failed("`replaceAll` needs the flag `g` in line \(line)")
            }
            return try replace(expression, in: text, with: arguments.count > 1 ? arguments[1] : .undefined)
        case "split": return try split(text, at: expression)
        default: throw .unsupported("`\(name)()` with a regular expression", line: line)
        }
    }

    // MARK: Matches

    /// Returns the next match as JavaScript shows it, a list of the texts of the groups; null without one.
    private func next(_ expression: ScriptRegExp, in text: String) throws(ScriptError) -> ScriptValue {
        try charge(text.utf8.count)
        let isGlobal = expression.pattern.flags.isGlobal
        var matcher = ScriptPatternMatcher(expression.pattern, text, steps: patternSteps)
        let start = isGlobal ? String(text.prefix(expression.lastIndex)).unicodeScalars.count : 0
        let isInside = expression.lastIndex <= text.count
        let match = try isInside || !isGlobal ? matcher.match(from: start) : nil
        patternSteps = matcher.steps
        if isGlobal { expression.lastIndex = match.map { matcher.text(0..<$0.range.upperBound).count } ?? 0 }
        guard let match else { return .null }
        let list = ScriptList(groups(of: match, matcher, expression.pattern))
        list.index = matcher.text(0..<match.range.lowerBound).count
        return .list(list)
    }

    private func groups(
        of match: ScriptPatternMatcher.Match, _ matcher: ScriptPatternMatcher, _ pattern: ScriptPattern
    ) -> [ScriptValue] {
        (0...pattern.groupCount).map { number in match.group(number).map { .string(matcher.text($0)) } ?? .undefined }
    }

    private func matches(
        of expression: ScriptRegExp, in text: String, atMost limit: Int = .max
    ) throws(ScriptError) -> ([ScriptPatternMatcher.Match], ScriptPatternMatcher) {
        var matcher = ScriptPatternMatcher(expression.pattern, text, steps: patternSteps)
        var matches: [ScriptPatternMatcher.Match] = []
        var position = 0
        while matches.count < limit, let match = try matcher.match(from: position) {
            guard matches.count < Self.maxListSize else { throw .tooLarge }
            matches.append(match)
            // An empty match is followed by a character.
            position = match.range.isEmpty ? match.range.upperBound + 1 : match.range.upperBound
        }
        patternSteps = matcher.steps
        return (matches, matcher)
    }

    // MARK: Texts

    private func replace(
        _ expression: ScriptRegExp, in text: String, with value: ScriptValue
    ) throws(ScriptError) -> ScriptValue {
        let isGlobal = expression.pattern.flags.isGlobal
        let (matches, matcher) = try matches(of: expression, in: text, atMost: isGlobal ? .max : 1)
        var result = ""
        var position = 0
        for match in matches {
            let groups = groups(of: match, matcher, expression.pattern)
            result += matcher.text(position..<match.range.lowerBound)
            if case .function(let closure) = value {
                try charge(match.range.lowerBound)
                let place = ScriptValue.number(Double(matcher.text(0..<match.range.lowerBound).count))
                result += try call(closure, groups + [place, .string(text)]).text
            } else {
                result += Self.replacement(value.text, match, groups, matcher)
            }
            guard result.utf8.count <= Self.maxTextSize else { throw .tooLarge }
            position = match.range.upperBound
        }
        return try Self.bounded(result + matcher.text(position..<matcher.text.count))
    }

    /// Returns a replacement with `$1` to `$9`, `$&`, `` $` ``, `$'` and `$$` as the texts that they stand for.
    private static func replacement(
        _ text: String, _ match: ScriptPatternMatcher.Match, _ groups: [ScriptValue], _ matcher: ScriptPatternMatcher
    ) -> String {
        var result = ""
        var rest = Substring(text)
        while let dollar = rest.firstIndex(of: "$"), result.utf8.count <= maxTextSize {
            result += rest[..<dollar]
            rest = rest[dollar...].dropFirst()
            switch rest.first {
            case "$"?: result += "$"
            case "&"?: result += groups[0].text
            case "`"?: result += matcher.text(0..<match.range.lowerBound)
            case "'"?: result += matcher.text(match.range.upperBound..<matcher.text.count)
            case let digit?:
                guard let number = Int(String(digit)), number > 0, groups.indices.contains(number) else {
                    result += "$"
                    continue
                }
                if !groups[number].isNothing { result += groups[number].text }
            case nil:
                result += "$"
                continue
            }
            rest = rest.dropFirst()
        }
        return result + rest
    }

    private func split(_ text: String, at expression: ScriptRegExp) throws(ScriptError) -> ScriptValue {
        let (matches, matcher) = try matches(of: expression, in: text)
        var parts: [ScriptValue] = []
        var position = 0
        for match in matches {
            let isAtEdge =
                match.range.isEmpty && (match.range.lowerBound == position || match.range.lowerBound == matcher.text.count)
            if isAtEdge { continue }
            parts.append(.string(matcher.text(position..<match.range.lowerBound)))
            parts += groups(of: match, matcher, expression.pattern).dropFirst()
            guard parts.count <= Self.maxListSize else { throw .tooLarge }
            position = match.range.upperBound
        }
        return .list(ScriptList(parts + [.string(matcher.text(position..<matcher.text.count))]))
    }
}
