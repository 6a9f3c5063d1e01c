import SignetCore

/// A script of a Scripted Decision: a part of JavaScript, with the objects that AM's two script engines give to a script
/// (docs/reference/configuration.md).
struct JourneyScript: Sendable, Hashable {
    private let statements: [ScriptStatement]
    /// The reason why the script cannot run; nil when it may.
    let problem: ScriptError?
    /// True when the script may show callbacks.
    let asks: Bool

    /// Reads a script.
    ///
    /// A script that this server cannot run is kept with the ``problem``, so that a login that reaches it says why.
    /// - Parameter source: The source text.
    init(_ source: String) {
        asks = source.contains("callbacksBuilder") || source.contains(".send(")
        do throws(ScriptError) {
            var parser = try ScriptParser(source)
            statements = try parser.statements()
            let foreign = parser.used.filter { !parser.declared.contains($0.key) && !ScriptBindings.globalNames.contains($0.key) }
            problem = foreign.min { $0.value < $1.value }.map { .unsupported("`\($0.key)`", line: $0.value) }
        } catch {
            statements = []
            problem = error
        }
    }

    /// The result of a run.
    enum Outcome {
        /// The outcome of the node.
        case outcome(String)
        /// The page to show.
        case page(Page)
        /// The script could not run, or chose nothing.
        case failed(String)
    }

    /// Runs the script.
    /// - Parameters:
    ///   - answers: The client's answers; nil when the journey reaches the node.
    ///   - journey: The state of the journey, which the script can change.
    ///   - tx: The state of the server.
    /// - Returns: The result.
    /// - Throws: The error of a row that cannot be read, or of the store. An error of the script is a result.
    func run(_ answers: Answers?, _ journey: inout JourneyState, _ tx: ServerTransaction) throws -> Outcome {
        if let problem { return .failed(problem.explanation) }
        let bindings = try ScriptBindings(journey, answers, tx)
        let interpreter = ScriptInterpreter(bindings)
        defer { interpreter.finish() }
        do throws(ScriptError) {
            try interpreter.run(statements)
            try bindings.writeViews()
        } catch {
            return .failed(error.explanation)
        }
        journey = bindings.journey
        var decision = bindings.decision
        if case .host(.decision(let assigned))? = interpreter.globals.find("action") { decision = assigned }
        if let decision { journey.session.properties.merge(decision.sessionProperties) { $1 } }
        if let outcome = decision?.outcome { return .outcome(outcome) }
        let callbacks = (decision?.callbacks ?? []) + bindings.built
        if !callbacks.isEmpty {
            return .page(
                Page(
                    callbacks: callbacks, stage: decision?.stage, header: decision?.header, description: decision?.description))
        }
        guard let outcome = interpreter.globals.find("outcome"), !outcome.isNothing else {
            return .failed("the script has chosen no outcome")
        }
        return .outcome(outcome.text)
    }
}
