import SignetCore

/// An object of the server that a script sees.
enum ScriptHost {
    /// `nodeState`, `sharedState` and `transientState`, which are one state here. A map that a script reads from the latter two is
    /// the one in the state, and a map from `nodeState` is a copy.
    case state(isShared: Bool)
    case headers
    case cookies
    /// The callbacks that the client has answered.
    case callbacks
    /// One of them.
    case answer(Int)
    case callbacksBuilder
    /// `action` of AM's second script engine.
    case action
    /// The class `Action` of the first one has the same methods.
    case decision(ScriptDecision)
    case logger
    case users
    case user(UserKey)
    /// A function or object of JavaScript, by its name.
    case global(String)
    /// A name of Java: a package or a class.
    case java(String)
    /// The classes that `JavaImporter` imports, by their names without a package.
    case importer([String: String])
    case callback(JourneyCallback)
    case iterator(ScriptIterator)
    case date(Double)
}

/// The position in a list that a script visits.
final class ScriptIterator {
    private var rest: ArraySlice<ScriptValue>

    init(_ list: ScriptList) { rest = list.elements[...] }

    var hasNext: Bool { !rest.isEmpty }

    func next() -> ScriptValue? { rest.popFirst() }
}

/// The result that a script builds: an outcome, or callbacks to show.
final class ScriptDecision {
    var outcome: String?
    var callbacks: [JourneyCallback] = []
    var header: String?
    var description: String?
    var stage: String?
    var sessionProperties: [String: String] = [:]
}

/// The constants of Java classes that scripts use.
enum ScriptConstants {
    private static let confirmation: [String: Double] = [
        "YES": 0, "NO": 1, "CANCEL": 2, "OK": 3, "YES_NO_OPTION": 0, "YES_NO_CANCEL_OPTION": 1, "OK_CANCEL_OPTION": 2,
        "UNSPECIFIED_OPTION": -1,
    ]
    private static let messages: [String: Double] = ["INFORMATION": 0, "WARNING": 1, "ERROR": 2]

    /// Returns a constant of a class; nil when it has none of this name.
    static func value(_ name: String, of type: String) -> Double? {
        switch type.split(separator: ".").last {
        case "TextOutputCallback"?, "SuspendedTextOutputCallback"?: messages[name]
        case "ConfirmationCallback"?: messages[name] ?? confirmation[name]
        default: nil
        }
    }
}
