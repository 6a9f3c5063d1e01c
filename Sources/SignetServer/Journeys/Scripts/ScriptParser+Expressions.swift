/// The expressions of a script.
extension ScriptParser {
    /// The operators with two operands and their ranks; one of a higher rank binds more tightly.
    private static let ranks: [String: Int] = [
        "||": 1, "??": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "===": 6, "!==": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
        "<<": 8, ">>": 8, ">>>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
    ]
    private static let logicalRanks = 1...2
    private static let assignments: Set = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>="]

    /// Reads an expression.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    mutating func expression() throws(ScriptError) -> ScriptExpression { try assignment() }

    /// Reads an expression without an operator of a lower rank than an assignment.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    mutating func assignment() throws(ScriptError) -> ScriptExpression {
        try enter()
        defer { depth -= 1 }
        if let function = try arrow() { return function }
        let target = try conditional()
        guard case .symbol(let symbol) = present.kind, Self.assignments.contains(symbol) else { return target }
        switch target {
        case .name(let name, _): declared.insert(name)
        case .member, .element: break
        default: throw unexpected
        }
        advance()
        let operation = symbol == "=" ? nil : String(symbol.dropLast())
        return .assignment(target, operation, try assignment())
    }

    /// Reads an arrow function; nil at any other expression.
    private mutating func arrow() throws(ScriptError) -> ScriptExpression? {
        let start = index
        var parameters: [String] = []
        if case .name(let name) = present.kind, tokens[min(index + 1, tokens.count - 1)].kind == .symbol("=>") {
            parameters = [name]
            declared.insert(name)
            advance()
        } else if isAt("("), let end = closingParenthesis, tokens[min(end + 1, tokens.count - 1)].kind == .symbol("=>") {
            parameters = try self.parameters()
        } else {
            index = start
            return nil
        }
        try expect("=>")
        if isAt("{") { return .function(ScriptFunction(parameters: parameters, body: try block())) }
        return .function(ScriptFunction(parameters: parameters, body: [.result(try assignment())]))
    }

    /// The index of the parenthesis that closes the one here.
    private var closingParenthesis: Int? {
        var open = 0
        for position in index..<tokens.count {
            if tokens[position].kind == .symbol("(") { open += 1 }
            if tokens[position].kind == .symbol(")") { open -= 1 }
            if open == 0 { return position }
        }
        return nil
    }

    private mutating func conditional() throws(ScriptError) -> ScriptExpression {
        let test = try binary(above: 0)
        guard take("?") else { return test }
        let first = try assignment()
        try expect(":")
        return .conditional(test, first, try assignment())
    }

    /// Reads operands with the operators between them whose rank is higher than the given one.
    private mutating func binary(above least: Int) throws(ScriptError) -> ScriptExpression {
        var value = try unary()
        while case .symbol(let symbol) = present.kind, let rank = Self.ranks[symbol], rank > least {
            try countLink()
            advance()
            let other = try binary(above: rank)
            value = Self.logicalRanks.contains(rank) ? .logical(symbol, value, other) : .binary(symbol, value, other)
        }
        return value
    }

    private mutating func unary() throws(ScriptError) -> ScriptExpression {
        try enter()
        defer { depth -= 1 }
        if case .symbol(let symbol) = present.kind, ["!", "-", "+", "~"].contains(symbol) {
            advance()
            return .unary(symbol, try unary())
        }
        if isAt("++") || isAt("--") {
            let amount = isAt("++") ? 1.0 : -1
            advance()
            return .increment(try unary(), amount, isPostfix: false)
        }
        if take(word: "typeof") { return .unary("typeof", try typeOperand()) }
        let value = try postfix(try primary())
        guard isAt("++") || isAt("--"), !present.isAfterBreak else { return value }
        let amount = isAt("++") ? 1.0 : -1
        advance()
        return .increment(value, amount, isPostfix: true)
    }

    /// Reads the operand of `typeof`, which may be a name that nothing declares.
    private mutating func typeOperand() throws(ScriptError) -> ScriptExpression {
        let before = used
        let value = try unary()
        if case .name = value { used = before }
        return value
    }

    private mutating func postfix(_ first: ScriptExpression, calls: Bool = true) throws(ScriptError) -> ScriptExpression {
        var value = first
        while true {
            let line = present.line
            if take(".") {
                guard case .name(let name) = present.kind else { throw unexpected }
                try countLink()
                advance()
                value = .member(value, name, line: line)
            } else if take("[") {
                try countLink()
                value = .element(value, try expression(), line: line)
                try expect("]")
            } else if calls, isAt("(") {
                try countLink()
                value = .call(value, try arguments(), line: line)
            } else {
                return value
            }
        }
    }

    private mutating func arguments() throws(ScriptError) -> [ScriptExpression] {
        try expect("(")
        var values: [ScriptExpression] = []
        while !take(")") {
            values.append(try assignment())
            if !isAt(")") { try expect(",") }
        }
        return values
    }

    private mutating func primary() throws(ScriptError) -> ScriptExpression {
        let token = present
        switch token.kind {
        case .number(let number):
            advance()
            return .number(number)
        case .string(let text):
            advance()
            return .string(text)
        case .template(let parts):
            advance()
            return .template(try template(parts, line: token.line))
        case .pattern(let source, let flags):
            advance()
            return .pattern(try ScriptPattern(source, flags: flags, line: token.line))
        case .symbol("("): return try parenthesized()
        case .symbol("["): return .array(try list())
        case .symbol("{"): return .object(try members())
        case .name(let word): return try named(word, line: token.line)
        case .symbol, .end: throw unexpected
        }
    }

    private mutating func named(_ word: String, line: Int) throws(ScriptError) -> ScriptExpression {
        guard !Self.unsupportedWords.contains(word) else { throw .unsupported("`\(word)`", line: line) }
        advance()
        switch word {
        case "true", "false": return .bool(word == "true")
        case "null": return .null
        case "undefined": return .undefined
        case "function":
            if case .name(let name) = present.kind {
                declared.insert(name)
                advance()
            }
            return .function(try function())
        case "new":
            let type = try postfix(try primary(), calls: false)
            return .new(type, isAt("(") ? try arguments() : [], line: line)
        default:
            if used[word] == nil { used[word] = line }
            return .name(word, line: line)
        }
    }

    private mutating func list() throws(ScriptError) -> [ScriptExpression] {
        try expect("[")
        var values: [ScriptExpression] = []
        while !take("]") {
            values.append(try assignment())
            if !isAt("]") { try expect(",") }
        }
        return values
    }

    private mutating func members() throws(ScriptError) -> [ScriptMember] {
        try expect("{")
        var members: [ScriptMember] = []
        while !take("}") {
            let token = present
            advance()
            let name: String
            switch token.kind {
            case .name(let text), .string(let text): name = text
            case .number(let number): name = ScriptValue.number(number).text
            case .template, .symbol, .pattern, .end: throw .unsupported("`\(token.text)` here", line: token.line)
            }
            if take(":") {
                members.append(ScriptMember(name: name, value: try assignment()))
            } else {
                guard case .name = token.kind, isAt(",") || isAt("}") else { throw unexpected }
                if used[name] == nil { used[name] = token.line }
                members.append(ScriptMember(name: name, value: .name(name, line: token.line)))
            }
            if !isAt("}") { try expect(",") }
        }
        return members
    }

    private mutating func template(
        _ parts: [ScriptToken.TemplatePart], line: Int
    ) throws(ScriptError) -> [ScriptExpression] {
        var values: [ScriptExpression] = []
        for part in parts {
            switch part {
            case .text(let text): values.append(.string(text))
            case .source(let source):
                var inner = ScriptParser(try ScriptTokenizer.tokens(source, line: line))
                (inner.depth, inner.links) = (depth + 1, links)
                values.append(try inner.expression())
                guard inner.present.kind == .end else { throw inner.unexpected }
                links = inner.links
                used.merge(inner.used) { first, _ in first }
            }
        }
        return values
    }
}
