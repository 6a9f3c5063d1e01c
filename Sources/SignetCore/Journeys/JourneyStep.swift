/// One step of a journey: what the server asks for, and, once it is filled in, what the client sends back
/// (protocol/journey.md sections 2.1 and 2.2).
public struct JourneyStep: Sendable, Hashable {
    /// The server's handle on the journey, to be sent back unchanged.
    public var authId: String
    /// What is asked or told, in order.
    public var callbacks: [JourneyCallback]
    /// The stage of a page node.
    public var stage: String?
    /// The heading of a page node.
    public var header: String?
    /// The text of a page node.
    public var description: String?
    /// Members that are not listed above, by name; they are sent back as they came.
    public var otherMembers: [String: JSONValue]

    /// A step as given.
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

    /// The first callback of a type.
    public func callback(_ type: String) -> JourneyCallback? {
        callbacks.first { $0.type == type }
    }

    /// The value of the `HiddenValueCallback` with this id.
    public func hiddenValue(_ id: String) -> String? {
        callbacks.first { $0.type == "HiddenValueCallback" && $0.output("id")?.string == id }?.output("value")?.string
    }

    /// The stage of the page: ``stage``, or what AM 6.5 puts in the data of a `MetadataCallback`.
    public var pageStage: String? {
        stage ?? callbacks.lazy.filter { $0.type == "MetadataCallback" }.compactMap { $0.output("data")?["stage"]?.string }.first
    }

    /// How long to wait before sending the step again, in milliseconds, if it asks to wait. It is never negative.
    public var waitMilliseconds: Int? {
        callback("PollingWaitCallback")?.output("waitTime")?.wholeNumber.map { Int(clamping: max(0, $0)) }
    }
}

/// One callback: outputs to show, inputs to fill in. Its type may be one that this version does not know; nothing is lost.
public struct JourneyCallback: Sendable, Hashable {
    /// The AM name of the callback, for example `NameCallback`.
    public var type: String
    /// What the server says.
    public var output: [Field]
    /// What the client answers; absent for callbacks that only tell.
    public var input: [Field]?
    /// The position in the step, as newer servers number it.
    public var _id: Int?
    /// Members that are not listed above, by name; they are sent back as they came.
    public var otherMembers: [String: JSONValue]
    /// Whether there is an output, be it an empty one: what came without goes back without.
    var hasOutput = true

    /// A name and its value.
    public struct Field: Sendable, Hashable {
        /// The name, for an input as the server chose it.
        public var name: String
        /// The value; null where there is none.
        public var value: JSONValue
        /// Members that are not listed above, by name; they are sent back as they came.
        public var otherMembers: [String: JSONValue] = [:]
        /// Whether there is a value, be it null.
        var hasValue = true

        /// A field as given.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// A callback as given.
    public init(
        type: String, output: [Field], input: [Field]? = nil, _id: Int? = nil, otherMembers: [String: JSONValue] = [:]
    ) {
        self.type = type
        self.output = output
        self.input = input
        self._id = _id
        self.otherMembers = otherMembers
    }

    /// The value of the output called `name`.
    public func output(_ name: String) -> JSONValue? {
        output.first { $0.name == name }?.value
    }

    /// Fills in the first input, whatever the server named it.
    public mutating func answer(_ value: JSONValue) {
        guard input?.isEmpty == false else { return }
        input?[0].value = value
    }

    /// Where the input with this ending is. Servers name the inputs of one callback alike up to a number, and tell them apart by
    /// what follows: `IDToken3question`, `IDToken3answer`. The plain one has the empty ending. The names in the answer must be
    /// those of the response, so this looks for one and never makes one.
    package func inputIndex(_ ending: String) -> Int? {
        guard let input, !input.isEmpty else { return nil }
        guard !ending.isEmpty else { return input.indices.min { input[$0].name.utf8.count < input[$1].name.utf8.count } }
        let candidates = input.indices.filter { input[$0].name.hasSuffix(ending) }
        return candidates.first { input[$0].name.dropLast(ending.count).last?.isNumber ?? true } ?? candidates.first
    }
}

// The values of a step are passwords, tokens and enrolment secrets: what is printed names them and no more. `dump` shows nothing.

extension JourneyStep: CustomDebugStringConvertible, CustomReflectable {
    /// The types of the callbacks.
    public var debugDescription: String { "step of \(callbacks.map(\.type))" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JourneyCallback: CustomStringConvertible, CustomReflectable {
    /// The type and the names of outputs and inputs.
    public var description: String { "\(type)(\(output.map(\.name)) -> \((input ?? []).map(\.name)))" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JourneyCallback.Field: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
