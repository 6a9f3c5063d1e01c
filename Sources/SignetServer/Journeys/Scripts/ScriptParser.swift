/// Reads the statements of a script: the part of JavaScript that ``JourneyScript`` describes.
struct ScriptParser {
    let tokens: [ScriptToken]
    var index = 0
    var depth = 0
    /// The number of operators, accesses and calls in the present statement and before it in those around it.
    var links = 0
    /// The names that the script declares or assigns a value to, anywhere.
    var declared: Set<String> = []
    /// The names that the script uses, with the line of the first use.
    var used: [String: Int] = [:]

    /// The greatest nesting of statements and expressions.
    private static var maxDepth: Int { 64 }

    /// The greatest number of operators, accesses to members and calls in a statement.
    ///
    /// A chain of them is as deep as it is long.
    private static var maxLinks: Int { 500 }

    static let unsupportedWords: Set = [
        "class", "with", "async", "await", "yield", "import", "export", "do", "delete", "instanceof", "in", "debugger", "super",
        "this", "void",
    ]

    /// Creates a parser.
    /// - Parameter source: The source text.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    init(_ source: String) throws(ScriptError) { tokens = try ScriptTokenizer.tokens(source) }

    init(_ tokens: [ScriptToken]) { self.tokens = tokens }

    /// Reads all statements.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    mutating func statements() throws(ScriptError) -> [ScriptStatement] {
        var statements: [ScriptStatement] = []
        while present.kind != .end { statements.append(try statement()) }
        return statements
    }

    // MARK: Tokens

    var present: ScriptToken { tokens[index] }

    mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    func isAt(_ symbol: String) -> Bool { present.kind == .symbol(symbol) }

    func isAt(word: String) -> Bool { present.kind == .name(word) }

    mutating func take(_ symbol: String) -> Bool {
        guard isAt(symbol) else { return false }
        advance()
        return true
    }

    mutating func take(word: String) -> Bool {
        guard isAt(word: word) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(ScriptError) {
        guard take(symbol) else { throw unexpected }
    }

    var unexpected: ScriptError { .unsupported("`\(present.text)` here", line: present.line) }

    mutating func name() throws(ScriptError) -> String {
        guard case .name(let name) = present.kind, !Self.unsupportedWords.contains(name) else { throw unexpected }
        advance()
        return name
    }

    /// Enters a nested part.
    ///
    /// The caller leaves it by lowering the depth.
    mutating func enter() throws(ScriptError) {
        depth += 1
        guard depth <= Self.maxDepth else { throw .unsupported("more than \(Self.maxDepth) nested parts", line: present.line) }
    }

    /// Counts an operator, an access to a member or a call.
    mutating func countLink() throws(ScriptError) {
        links += 1
        guard links <= Self.maxLinks else {
            throw .unsupported("more than \(Self.maxLinks) operators and calls in a statement", line: present.line)
        }
    }

    private mutating func endStatement() throws(ScriptError) {
        if take(";") || isAt("}") || present.kind == .end || present.isAfterBreak { return }
        throw unexpected
    }

    // MARK: Statements

    private mutating func statement() throws(ScriptError) -> ScriptStatement {
        try enter()
        let linksBefore = links
        defer { (depth, links) = (depth - 1, linksBefore) }
        if isAt("{") { return .block(try block()) }
        if take(";") { return .empty }
        guard case .name(let word) = present.kind else { return try expressionStatement() }
        switch word {
        case "var", "let", "const": return try declaration(isStatement: true)
        case "function": return try functionStatement()
        case "if": return try condition()
        case "for": return try loop()
        case "while":
            advance()
            let test = try parenthesized()
            return .loop(first: .empty, condition: test, next: nil, body: try statement())
        case "switch": return try choice()
        case "try": return try attempt()
        case "throw":
            advance()
            let value = try expression()
            try endStatement()
            return .failure(value)
        case "return": return try result()
        case "break", "continue":
            advance()
            try endStatement()
            return word == "break" ? .leave : .repeatLoop
        default: return try expressionStatement()
        }
    }

    private mutating func expressionStatement() throws(ScriptError) -> ScriptStatement {
        let value = try expression()
        try endStatement()
        return .expression(value)
    }

    mutating func block() throws(ScriptError) -> [ScriptStatement] {
        try expect("{")
        var statements: [ScriptStatement] = []
        while !isAt("}") {
            guard present.kind != .end else { throw unexpected }
            statements.append(try statement())
        }
        advance()
        return statements
    }

    private mutating func declaration(isStatement: Bool) throws(ScriptError) -> ScriptStatement {
        advance()
        var declarations: [ScriptDeclaration] = []
        repeat {
            guard !isAt("{"), !isAt("[") else { throw .unsupported("a destructuring declaration", line: present.line) }
            let name = try name()
            declared.insert(name)
            declarations.append(ScriptDeclaration(name: name, value: take("=") ? try assignment() : nil))
        } while take(",")
        if isStatement { try endStatement() }
        return .declaration(declarations)
    }

    private mutating func functionStatement() throws(ScriptError) -> ScriptStatement {
        advance()
        let name = try name()
        declared.insert(name)
        return .function(name, try function())
    }

    private mutating func condition() throws(ScriptError) -> ScriptStatement {
        advance()
        let test = try parenthesized()
        let body = try statement()
        return .condition(test, body, take(word: "else") ? try statement() : nil)
    }

    private mutating func loop() throws(ScriptError) -> ScriptStatement {
        let line = present.line
        advance()
        try expect("(")
        var first = ScriptStatement.empty
        if !isAt(";") {
            let isDeclared = ["var", "let", "const"].contains { isAt(word: $0) }
            first = isDeclared ? try declaration(isStatement: false) : .expression(try expression())
        }
        if isAt(word: "of"), case .declaration(let names) = first, names.count == 1, names[0].value == nil {
            advance()
            let list = try expression()
            try expect(")")
            return .each(names[0].name, list, try statement())
        }
        guard !isAt(word: "in") else { throw .unsupported("a loop over the names of members (`for ... in`)", line: line) }
        try expect(";")
        let test = isAt(";") ? nil : try expression()
        try expect(";")
        let next = isAt(")") ? nil : try expression()
        try expect(")")
        return .loop(first: first, condition: test, next: next, body: try statement())
    }

    private mutating func choice() throws(ScriptError) -> ScriptStatement {
        advance()
        let value = try parenthesized()
        try expect("{")
        var cases: [ScriptCase] = []
        while !take("}") {
            let label: ScriptExpression?
            if take(word: "case") {
                label = try expression()
            } else if take(word: "default") {
                label = nil
            } else {
                throw unexpected
            }
            try expect(":")
            var body: [ScriptStatement] = []
            while !isAt("}"), !isAt(word: "case"), !isAt(word: "default") { body.append(try statement()) }
            cases.append(ScriptCase(value: label, body: body))
        }
        return .choice(value, cases)
    }

    private mutating func attempt() throws(ScriptError) -> ScriptStatement {
        advance()
        let body = try block()
        var error: String?
        var handler: [ScriptStatement]?
        if take(word: "catch") {
            if take("(") {
                let name = try name()
                declared.insert(name)
                error = name
                try expect(")")
            }
            handler = try block()
        }
        let finally = take(word: "finally") ? try block() : []
        return .attempt(body, name: error, handler: handler, finally: finally)
    }

    private mutating func result() throws(ScriptError) -> ScriptStatement {
        advance()
        let isEmpty = isAt(";") || isAt("}") || present.kind == .end || present.isAfterBreak
        let value = isEmpty ? nil : try expression()
        try endStatement()
        return .result(value)
    }

    mutating func parenthesized() throws(ScriptError) -> ScriptExpression {
        try expect("(")
        let value = try expression()
        try expect(")")
        return value
    }

    mutating func function() throws(ScriptError) -> ScriptFunction {
        let parameters = try parameters()
        return ScriptFunction(parameters: parameters, body: try block())
    }

    mutating func parameters() throws(ScriptError) -> [String] {
        try expect("(")
        var names: [String] = []
        while !take(")") {
            let name = try name()
            declared.insert(name)
            names.append(name)
            if !isAt(")") { try expect(",") }
        }
        return names
    }
}
