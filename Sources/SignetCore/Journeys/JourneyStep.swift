/// One step of a journey: the callbacks of the server and, after the client has filled them in, the client's answer
/// (protocol/journey.md sections 2.1 and 2.2).
public struct JourneyStep: Sendable, Hashable {
    /// The server's token for the state of the journey.
    ///
    /// The client sends it back unchanged.
    public var authId: String
    /// The callbacks in order.
    public var callbacks: [JourneyCallback]
    /// The stage of a page node.
    public var stage: String?
    /// The heading of a page node.
    public var header: String?
    /// The text of a page node.
    public var description: String?
    /// The members that have no property here, by name.
    ///
    /// They are sent back unchanged.
    public var otherMembers: [String: JSONValue]

    /// Creates a step.
    public init(
        authId: String, callbacks: [JourneyCallback], stage: String? = nil, header: String? = nil, description: String? = nil,
        otherMembers: [String: JSONValue] = [:]
    ) {
        self.authId = authId
        self.callbacks = callbacks
        self.stage = stage
        self.header = header
        self.description = description
        self.otherMembers = otherMembers
    }

    /// Returns the first callback of a type.
    public func callback(_ type: String) -> JourneyCallback? {
        callbacks.first { $0.type == type }
    }

    /// Returns the value of the `HiddenValueCallback` with this id.
    public func hiddenValue(_ id: String) -> String? {
        callbacks.first { $0.type == "HiddenValueCallback" && $0.output("id")?.string == id }?.output("value")?.string
    }

    /// The stage of the page: ``stage``, or the stage that AM 6.5 puts into the data of a `MetadataCallback`.
    public var pageStage: String? {
        stage ?? callbacks.lazy.filter { $0.type == "MetadataCallback" }.compactMap { $0.output("data")?["stage"]?.string }.first
    }

    /// The time to wait before the client sends the step again, in milliseconds; nil when the step does not ask to wait.
    ///
    /// It is never negative, and 0 when the server sends no valid number.
    public var waitMilliseconds: Int? {
        callback("PollingWaitCallback").map { Int(clamping: max(0, $0.output("waitTime")?.lenientInteger ?? 0)) }
    }
}

/// One callback: outputs to show and inputs to fill in.
///
/// Callbacks of unknown types are preserved completely.
public struct JourneyCallback: Sendable, Hashable {
    /// The AM name of the callback, for example `NameCallback`.
    public var type: String
    /// The outputs of the server.
    public var output: [Field]
    /// The inputs that the client fills in; nil for callbacks that only show something.
    public var input: [Field]?
    /// The position of the callback in the step, which newer servers send.
    public var _id: Int?
    /// The members that have no property here, by name.
    ///
    /// They are sent back unchanged.
    public var otherMembers: [String: JSONValue]
    /// A Boolean value that indicates whether the callback has an `output` array, which may be empty.
    ///
    /// A callback that came without one is sent back without one.
    var hasOutput = true

    /// A name and its value.
    public struct Field: Sendable, Hashable {
        /// The name.
        ///
        /// The server chooses the names of inputs.
        public var name: String
        /// The value; `null` when the field has none.
        public var value: JSONValue
        /// The members that have no property here, by name.
        ///
        /// They are sent back unchanged.
        public var otherMembers: [String: JSONValue] = [:]
        /// A Boolean value that indicates whether the field has a value, which may be null.
        var hasValue = true

        /// Creates a field.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a callback.
    public init(
        type: String, output: [Field], input: [Field]? = nil, _id: Int? = nil, otherMembers: [String: JSONValue] = [:]
    ) {
        self.type = type
        self.output = output
        self.input = input
        self._id = _id
        self.otherMembers = otherMembers
    }

    /// Returns the value of the output called `name`.
    public func output(_ name: String) -> JSONValue? {
        output.first { $0.name == name }?.value
    }

    /// Sets the value of the first input, whatever its name is.
    public mutating func answer(_ value: JSONValue) {
        guard input?.isEmpty == false else { return }
        input?[0].value = value
    }

    /// Returns the index of the input whose name has this ending.
    ///
    /// Servers name the inputs of one callback alike up to a number and add different endings: `IDToken3question`,
    /// `IDToken3answer`. The plain input has the empty ending. The names in the answer must be those of the response, so this
    /// function never creates an input.
    package func inputIndex(_ ending: String) -> Int? {
        guard let input, !input.isEmpty else { return nil }
        guard !ending.isEmpty else { return input.indices.min { input[$0].name.utf8.count < input[$1].name.utf8.count } }
        let candidates = input.indices.filter { input[$0].name.hasSuffix(ending) }
        return candidates.first { input[$0].name.dropLast(ending.count).last?.isNumber ?? true } ?? candidates.first
    }
}

// The values of a step include passwords, tokens and enrollment secrets. Descriptions contain names only, and `dump` shows no
// content.

extension JourneyStep: CustomDebugStringConvertible, CustomReflectable {
    /// The types of the callbacks.
    public var debugDescription: String { "step of \(callbacks.map(\.type))" }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JourneyCallback: CustomStringConvertible, CustomReflectable {
    /// The type, and the names of the outputs and inputs.
    public var description: String { "\(type)(\(output.map(\.name)) -> \((input ?? []).map(\.name)))" }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JourneyCallback.Field: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
