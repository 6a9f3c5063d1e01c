/// An expression of a script.
///
/// The line is that of the source text, counted from 1.
indirect enum ScriptExpression: Sendable, Hashable {
    case undefined
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    /// A template literal: texts and expressions in turn.
    case template([ScriptExpression])
    case pattern(ScriptPattern)
    case name(String, line: Int)
    case array([ScriptExpression])
    case object([ScriptMember])
    case function(ScriptFunction)
    case member(ScriptExpression, String, line: Int)
    case element(ScriptExpression, ScriptExpression, line: Int)
    case call(ScriptExpression, [ScriptExpression], line: Int)
    case new(ScriptExpression, [ScriptExpression], line: Int)
    case unary(String, ScriptExpression)
    case binary(String, ScriptExpression, ScriptExpression)
    case logical(String, ScriptExpression, ScriptExpression)
    case conditional(ScriptExpression, ScriptExpression, ScriptExpression)
    /// An assignment; the operator is nil for `=`.
    case assignment(ScriptExpression, String?, ScriptExpression)
    /// `++` or `--`: the amount to add, and if the result is the value before.
    case increment(ScriptExpression, Double, isPostfix: Bool)
}

/// A member of an object literal.
struct ScriptMember: Sendable, Hashable {
    let name: String
    let value: ScriptExpression
}

/// A function of a script.
struct ScriptFunction: Sendable, Hashable {
    let parameters: [String]
    let body: [ScriptStatement]
}

/// A statement of a script.
indirect enum ScriptStatement: Sendable, Hashable {
    case empty
    case expression(ScriptExpression)
    case declaration([ScriptDeclaration])
    case function(String, ScriptFunction)
    case block([ScriptStatement])
    case condition(ScriptExpression, ScriptStatement, ScriptStatement?)
    case loop(first: ScriptStatement, condition: ScriptExpression?, next: ScriptExpression?, body: ScriptStatement)
    case each(String, ScriptExpression, ScriptStatement)
    case choice(ScriptExpression, [ScriptCase])
    case attempt([ScriptStatement], name: String?, handler: [ScriptStatement]?, finally: [ScriptStatement])
    case failure(ScriptExpression)
    case result(ScriptExpression?)
    case leave
    case repeatLoop
}

/// A variable with its first value.
struct ScriptDeclaration: Sendable, Hashable {
    let name: String
    let value: ScriptExpression?
}

/// A case of a `switch`; the value is nil for `default`.
struct ScriptCase: Sendable, Hashable {
    let value: ScriptExpression?
    let body: [ScriptStatement]
}

/// The reason why a script cannot be read or run.
enum ScriptError: Error, Sendable, Hashable {
    /// The script uses something that this server does not have.
    case unsupported(String, line: Int?)
    /// The script has thrown an error, or has used a value that has no such member.
    case failed(String)
    /// The script took too many steps, nested too deeply, or built a value that is too large.
    case tooLarge

    /// The reason in words.
    var explanation: String {
        switch self {
        case .unsupported(let part, let line?): "the script uses \(part) (line \(line)), which this server does not have"
        case .unsupported(let part, nil): "the script uses \(part), which this server does not have"
        case .failed(let text): "the script failed: \(text)"
        case .tooLarge: "the script takes too many steps or builds a value that is too large"
        }
    }
}
