/// Runs the statements of a script.
///
/// The number of steps, the nesting and the size of values are limited, because a login waits for the script.
final class ScriptInterpreter {
    private enum Completion {
        case normal
        case result(ScriptValue)
        case leave
        case repeatLoop
    }

    /// The greatest number of evaluated statements and expressions.
    static let maxSteps = 50_000
    /// The greatest nesting of evaluations.
    private static let maxDepth = 160
    /// The greatest size of a text, in bytes, and of a list.
    static let maxTextSize = 64 * 1024
    static let maxListSize = 10_000

    let bindings: ScriptBindings
    let globals = ScriptScope()
    /// All scopes of function calls, whose functions refer back to them.
    private var scopes: [ScriptScope] = []
    private var steps = 0
    /// The number of steps that are left for regular expressions.
    var patternSteps = ScriptPatternMatcher.maxSteps
    private var depth = 0

    /// Creates an interpreter.
    /// - Parameter bindings: The objects of the server that the script sees.
    init(_ bindings: ScriptBindings) { self.bindings = bindings }

    /// Runs a script.
    /// - Parameter statements: Its statements.
    /// - Throws: ``ScriptError``.
    func run(_ statements: [ScriptStatement]) throws(ScriptError) {
        for name in ScriptBindings.globalNames { globals.declare(name, bindings.global(name)) }
        _ = try execute(statements, globals)
    }

    /// Releases the variables, some of which refer to each other.
    func finish() {
        for scope in scopes + [globals] { scope.clear() }
    }

    /// Calls a function.
    func call(_ closure: ScriptClosure, _ arguments: [ScriptValue]) throws(ScriptError) -> ScriptValue {
        let scope = ScriptScope(outer: closure.scope)
        scopes.append(scope)
        for (index, name) in closure.function.parameters.enumerated() {
            scope.declare(name, arguments.indices.contains(index) ? arguments[index] : .undefined)
        }
        guard case .result(let value) = try execute(closure.function.body, scope) else { return .undefined }
        return value
    }

    private func enter() throws(ScriptError) {
        steps += 1
        depth += 1
        guard steps <= Self.maxSteps, depth <= Self.maxDepth else { throw .tooLarge }
    }

    /// Counts the steps of an operation on a text or a list, one for each KiB.
    func charge(_ size: Int) throws(ScriptError) {
        steps += size / 1024
        guard steps <= Self.maxSteps else { throw .tooLarge }
    }

    // MARK: Statements

    private func execute(_ statements: [ScriptStatement], _ scope: ScriptScope) throws(ScriptError) -> Completion {
        // A function can be called before its declaration.
        for case .function(let name, let function) in statements {
            scope.declare(name, .function(ScriptClosure(function, scope)))
        }
        for statement in statements {
            let completion = try execute(statement, scope)
            guard case .normal = completion else { return completion }
        }
        return .normal
    }

    private func execute(_ statement: ScriptStatement, _ scope: ScriptScope) throws(ScriptError) -> Completion {
        try enter()
        defer { depth -= 1 }
        switch statement {
        case .empty, .function: return .normal
        case .expression(let expression): _ = try evaluate(expression, scope)
        case .declaration(let declarations):
            for declaration in declarations {
                scope.declare(declaration.name, try declaration.value.value(in: scope, self) ?? .undefined)
            }
        case .block(let statements): return try execute(statements, scope)
        case .condition(let test, let body, let other):
            if try evaluate(test, scope).isTrue { return try execute(body, scope) }
            if let other { return try execute(other, scope) }
        case .loop(let first, let condition, let next, let body):
            _ = try execute(first, scope)
            return try loop(while: condition, next, body, scope)
        case .each(let name, let list, let body): return try each(name, try evaluate(list, scope), body, scope)
        case .choice(let value, let cases): return try choose(try evaluate(value, scope), cases, scope)
        case .attempt(let body, let name, let handler, let finally):
            return try attempt(body, name, handler, finally, scope)
        case .failure(let value): throw .failed(try message(of: evaluate(value, scope)))
        case .result(let value): return .result(try value.value(in: scope, self) ?? .undefined)
        case .leave: return .leave
        case .repeatLoop: return .repeatLoop
        }
        return .normal
    }

    private func message(of value: ScriptValue) -> String {
        if case .object(let object) = value, let message = object["message"] { return message.text }
        return value.text
    }

    private func loop(
        while condition: ScriptExpression?, _ next: ScriptExpression?, _ body: ScriptStatement, _ scope: ScriptScope
    ) throws(ScriptError) -> Completion {
        while try condition.value(in: scope, self)?.isTrue ?? true {
            switch try execute(body, scope) {
            case .result(let value): return .result(value)
            case .leave: return .normal
            case .normal, .repeatLoop: break
            }
            if let next { _ = try evaluate(next, scope) }
        }
        return .normal
    }

    private func each(
        _ name: String, _ list: ScriptValue, _ body: ScriptStatement, _ scope: ScriptScope
    ) throws(ScriptError) -> Completion {
        guard case .list(let list) = list else { throw .failed("a loop needs a list") }
        for element in list.elements {
            scope.declare(name, element)
            switch try execute(body, scope) {
            case .result(let value): return .result(value)
            case .leave: return .normal
            case .normal, .repeatLoop: break
            }
        }
        return .normal
    }

    private func choose(
        _ value: ScriptValue, _ cases: [ScriptCase], _ scope: ScriptScope
    ) throws(ScriptError) -> Completion {
        var start = cases.firstIndex { $0.value == nil }
        for (index, item) in cases.enumerated() {
            guard let label = item.value, try evaluate(label, scope).isIdentical(to: value) else { continue }
            start = index
            break
        }
        guard let start else { return .normal }
        for item in cases[start...] {
            switch try execute(item.body, scope) {
            case .normal: break
            case .leave: return .normal
            case .result(let value): return .result(value)
            case .repeatLoop: return .repeatLoop
            }
        }
        return .normal
    }

    private func attempt(
        _ body: [ScriptStatement], _ name: String?, _ handler: [ScriptStatement]?, _ finally: [ScriptStatement],
        _ scope: ScriptScope
    ) throws(ScriptError) -> Completion {
        var result: Result<Completion, ScriptError>
        let before = depth
        do throws(ScriptError) {
            result = .success(try execute(body, scope))
        } catch {
            result = .failure(error)
        }
        // A part that this server does not have is reported, and not handled by the script.
        if case .failure(.failed(let text)) = result, let handler {
            depth = before
            let error = ScriptObject()
            error["message"] = .string(text)
            if let name { scope.declare(name, .object(error)) }
            do throws(ScriptError) {
                result = .success(try execute(handler, scope))
            } catch {
                result = .failure(error)
            }
        }
        guard case .normal = try execute(finally, scope) else { return .normal }
        return try result.get()
    }

    // MARK: Expressions

    /// Returns the value of an expression.
    func evaluate(_ expression: ScriptExpression, _ scope: ScriptScope) throws(ScriptError) -> ScriptValue {
        try enter()
        defer { depth -= 1 }
        switch expression {
        case .undefined: return .undefined
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let value): return .number(value)
        case .string(let text): return .string(text)
        case .pattern(let pattern): return .pattern(ScriptRegExp(pattern))
        case .template(let parts): return try Self.bounded(try evaluate(parts, scope).map(\.text).joined())
        case .name(let name, let line):
            guard let value = scope.find(name) else { throw .unsupported("`\(name)`", line: line) }
            return value
        case .array(let elements): return .list(ScriptList(try evaluate(elements, scope)))
        case .object(let members):
            let object = ScriptObject()
            for member in members { object[member.name] = try evaluate(member.value, scope) }
            return .object(object)
        case .function(let function): return .function(ScriptClosure(function, scope))
        case .member(let owner, let name, let line): return try member(name, of: try evaluate(owner, scope), line: line)
        case .element(let owner, let key, let line):
            return try element(try evaluate(key, scope), of: try evaluate(owner, scope), line: line)
        case .call(let callee, let arguments, let line): return try call(callee, arguments, scope, line: line)
        case .new(let type, let arguments, let line):
            return try bindings.create(try evaluate(type, scope), try evaluate(arguments, scope), line: line)
        case .unary(let symbol, let operand): return try unary(symbol, operand, scope)
        case .binary(let symbol, let one, let other):
            return try binary(symbol, try evaluate(one, scope), try evaluate(other, scope))
        case .logical(let symbol, let one, let other):
            let value = try evaluate(one, scope)
            let isDecided = symbol == "&&" ? !value.isTrue : symbol == "||" ? value.isTrue : !value.isNothing
            return isDecided ? value : try evaluate(other, scope)
        case .conditional(let test, let one, let other):
            return try evaluate(test, scope).isTrue ? try evaluate(one, scope) : try evaluate(other, scope)
        case .assignment(let target, let symbol, let value):
            var value = try evaluate(value, scope)
            if let symbol { value = try binary(symbol, try evaluate(target, scope), value) }
            try assign(value, to: target, scope)
            return value
        case .increment(let target, let amount, let isPostfix):
            let before = try evaluate(target, scope).number
            try assign(.number(before + amount), to: target, scope)
            return .number(isPostfix ? before : before + amount)
        }
    }

    private func evaluate(_ expressions: [ScriptExpression], _ scope: ScriptScope) throws(ScriptError) -> [ScriptValue] {
        var values: [ScriptValue] = []
        for expression in expressions { values.append(try evaluate(expression, scope)) }
        return values
    }

    /// Returns a text as a value, unless it is too large.
    static func bounded(_ text: String) throws(ScriptError) -> ScriptValue {
        guard text.utf8.count <= maxTextSize else { throw .tooLarge }
        return .string(text)
    }

    private func call(
        _ callee: ScriptExpression, _ arguments: [ScriptExpression], _ scope: ScriptScope, line: Int
    ) throws(ScriptError) -> ScriptValue {
        if case .member(let owner, let name, _) = callee {
            let owner = try evaluate(owner, scope)
            let values = try evaluate(arguments, scope)
            if case .object(let object) = owner, case .function(let closure)? = object[name] { return try call(closure, values) }
            return try method(name, of: owner, values, line: line)
        }
        let function = try evaluate(callee, scope)
        let values = try evaluate(arguments, scope)
        switch function {
        case .function(let closure): return try call(closure, values)
        case .host(let host): return try bindings.call(host, values, line: line)
        default: throw .failed("a value that is not a function is called in line \(line)")
        }
    }

    private func unary(_ symbol: String, _ operand: ScriptExpression, _ scope: ScriptScope) throws(ScriptError) -> ScriptValue {
        if symbol == "typeof", case .name(let name, _) = operand, scope.find(name) == nil { return .string("undefined") }
        let value = try evaluate(operand, scope)
        switch symbol {
        case "!": return .bool(!value.isTrue)
        case "-": return .number(-value.number)
        case "+": return .number(value.number)
        case "~": return .number(Double(~ScriptNumber.integer32(value.number)))
        default: return .string(value.typeName)
        }
    }

    private func binary(_ symbol: String, _ one: ScriptValue, _ other: ScriptValue) throws(ScriptError) -> ScriptValue {
        switch symbol {
        case "==": return .bool(one.isEqual(to: other))
        case "!=": return .bool(!one.isEqual(to: other))
        case "===": return .bool(one.isIdentical(to: other))
        case "!==": return .bool(!one.isIdentical(to: other))
        case "+":
            if case .number(let a) = one, case .number(let b) = other { return .number(a + b) }
            let areNumbers = [one, other].allSatisfy { value in
                switch value {
                case .string, .list, .object, .pattern: false
                default: true
                }
            }
            return areNumbers ? .number(one.number + other.number) : try Self.bounded(one.text + other.text)
        case "-": return .number(one.number - other.number)
        case "*": return .number(one.number * other.number)
        case "/": return .number(one.number / other.number)
        case "%": return .number(one.number.truncatingRemainder(dividingBy: other.number))
        case "&", "|", "^", "<<", ">>", ">>>": return .number(ScriptNumber.combine(symbol, one.number, other.number))
        default: return .bool(Self.compare(symbol, one, other))
        }
    }

    private static func compare(_ symbol: String, _ one: ScriptValue, _ other: ScriptValue) -> Bool {
        if case .string(let a) = one, case .string(let b) = other {
            return symbol == "<" ? a < b : symbol == ">" ? a > b : symbol == "<=" ? a <= b : a >= b
        }
        let (a, b) = (one.number, other.number)
        return symbol == "<" ? a < b : symbol == ">" ? a > b : symbol == "<=" ? a <= b : a >= b
    }

    private func assign(_ value: ScriptValue, to target: ScriptExpression, _ scope: ScriptScope) throws(ScriptError) {
        switch target {
        case .name(let name, _): scope.assign(name, value)
        case .member(let owner, let name, let line): try set(value, name, of: try evaluate(owner, scope), line: line)
        case .element(let owner, let key, let line):
            let owner = try evaluate(owner, scope)
            let key = try evaluate(key, scope)
            guard case .list(let list) = owner else { return try set(value, key.text, of: owner, line: line) }
            guard let index = Int(exactly: key.number), (0...list.elements.count).contains(index), index < Self.maxListSize else {
                throw .failed("a list has no element \(key.text) in line \(line)")
            }
            if index == list.elements.count { list.elements.append(value) } else { list.elements[index] = value }
        default: throw .unsupported("an assignment to another value than a variable or a member", line: nil)
        }
    }

    private func set(_ value: ScriptValue, _ name: String, of owner: ScriptValue, line: Int) throws(ScriptError) {
        if case .pattern(let expression) = owner, name == "lastIndex", let index = Int(exactly: value.number) {
            expression.lastIndex = max(0, index)
            return
        }
        guard case .object(let object) = owner else { throw .failed("`\(name)` cannot be set in line \(line)") }
        guard object.names.count < Self.maxListSize else { throw .tooLarge }
        object[name] = value
    }
}

extension ScriptExpression? {
    /// Returns the value of the expression; nil without one.
    fileprivate func value(
        in scope: ScriptScope, _ interpreter: ScriptInterpreter
    ) throws(ScriptError) -> ScriptValue? {
        guard let self else { return nil }
        return try interpreter.evaluate(self, scope)
    }
}
