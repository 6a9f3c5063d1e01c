public import SignetCore

/// A typed view of a `JourneyCallback`, with its outputs as properties and with inputs to fill in.
///
/// The view keeps the whole callback. Outputs and inputs that the view doesn't know are sent back unchanged, and the inputs keep
/// the names that the server gave them. Use `JourneyStep.fill(_:at:_:)` to fill in the callbacks of a step.
public protocol TypedCallback: Sendable, Hashable {
    /// The callback type in the protocol, for example `NameCallback`.
    static var type: String { get }
    /// The name endings of the inputs that the callback must have. The default is the main input, which has an empty ending.
    static var inputs: [String] { get }
    /// The underlying callback, including the values that were filled in.
    var callback: JourneyCallback { get }
    /// Creates the typed view of a callback without checking it. Outputs and inputs that the callback lacks are empty.
    init(unchecked callback: JourneyCallback)
}

extension TypedCallback {
    /// The main input.
    public static var inputs: [String] { [""] }

    /// Creates the typed view of a callback; nil when the callback has another type or lacks a required input.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type, callback.hasInputs(Self.inputs) else { return nil }
        self.init(unchecked: callback)
    }
}

/// The error for a callback that can't be filled in as requested.
///
/// It doesn't contain the value.
public struct CallbackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public struct Code: ErrorCode {
        /// The step has no such callback.
        public static let noSuchCallback = Code(rawValue: "noSuchCallback")
        /// The value isn't among the available choices.
        public static let notOffered = Code(rawValue: "notOffered")
        /// The callback of the server has no such input.
        public static let noSuchInput = Code(rawValue: "noSuchInput")
        /// The protocol can't express the value.
        public static let invalid = Code(rawValue: "invalid")

        /// All codes of this version.
        public static let allCases: [Code] = [.noSuchCallback, .notOffered, .noSuchInput, .invalid]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The type of the callback, for example `ChoiceCallback`.
    public let callback: String
    /// The description of the error.
    public let reason: String

    /// The callback type and the reason.
    public var description: String { "\(callback): \(reason)" }

    init(_ code: Code, _ callback: String, _ reason: String) {
        self.code = code
        self.callback = callback
        self.reason = reason
    }
}

extension JourneyStep {
    /// Returns the callbacks of a type, in their order.
    public func callbacks<Callback: TypedCallback>(_ type: Callback.Type = Callback.self) -> [Callback] {
        callbacks.compactMap { Callback($0) }
    }

    /// Returns the first callback of a type.
    public func first<Callback: TypedCallback>(_ type: Callback.Type = Callback.self) -> Callback? {
        callbacks.lazy.compactMap { Callback($0) }.first
    }

    /// Fills in a callback.
    /// - Parameters:
    ///   - type: The type of the callback.
    ///   - position: The index among the step's callbacks of that type, from 0.
    ///   - fill: A closure that fills in the callback. When it throws, the step stays unchanged.
    /// - Throws: ``CallbackError/Code/noSuchCallback``; the error that `fill` throws.
    public mutating func fill<Callback: TypedCallback>(
        _ type: Callback.Type, at position: Int = 0, _ fill: (inout Callback) throws -> Void
    ) throws {
        let found = callbacks.enumerated().compactMap { index, callback in Callback(callback).map { (index, $0) } }
        guard position >= 0, case (let index, var callback)? = found.dropFirst(position).first else {
            throw CallbackError(.noSuchCallback, Callback.type, "the step has no such callback at position \(position)")
        }
        try fill(&callback)
        callbacks[index] = callback.callback
    }
}

extension JourneyCallback {
    /// The typed view of the callback; nil for a type that this version doesn't know.
    ///
    /// An app can show the outputs of such a callback and fill in its inputs.
    public var typed: (any TypedCallback)? { Self.views[type]?.init(self) }

    private static let views: [String: any TypedCallback.Type] = {
        let types: [any TypedCallback.Type] = [
            NameCallback.self, PasswordCallback.self, TextInputCallback.self, ChoiceCallback.self, ConfirmationCallback.self,
            TextOutputCallback.self, SuspendedTextOutputCallback.self, HiddenValueCallback.self, PollingWaitCallback.self,
            MetadataCallback.self, ConsentMappingCallback.self, LanguageCallback.self, ValidatedCreateUsernameCallback.self,
            ValidatedCreatePasswordCallback.self, StringAttributeInputCallback.self, NumberAttributeInputCallback.self,
            BooleanAttributeInputCallback.self, TermsAndConditionsCallback.self, KbaCreateCallback.self, SelectIdPCallback.self,
            IdPCallback.self, RedirectCallback.self, DeviceProfileCallback.self, DeviceBindingCallback.self,
            DeviceSigningVerifierCallback.self, AppIntegrityCallback.self, ReCaptchaCallback.self,
            ReCaptchaEnterpriseCallback.self, PingOneProtectInitializeCallback.self, PingOneProtectEvaluationCallback.self,
        ]
        return Dictionary(types.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
    }()
}

// MARK: Reading outputs and filling in inputs

extension JourneyCallback {
    /// Returns true when the callback has an input for each of the name endings.
    package func hasInputs(_ endings: [String]) -> Bool { endings.allSatisfy { inputIndex($0) != nil } }

    /// Returns a string output; empty when the callback has no such output.
    package func text(_ name: String) -> String { output(name)?.string ?? "" }

    /// Returns a string output; nil when it is missing or empty.
    package func optionalText(_ name: String) -> String? { output(name)?.string.flatMap { $0.isEmpty ? nil : $0 } }

    package func texts(_ name: String) -> [String] { output(name)?.array?.compactMap(\.string) ?? [] }
    package func number(_ name: String) -> Int? { output(name)?.lenientInteger.flatMap { Int(exactly: $0) } }
    package func bool(_ name: String) -> Bool { output(name)?.lenientBool ?? false }

    /// Returns the value of an input: the one that the app entered, or the one that the server filled in.
    package func value(_ ending: String = "") -> JSONValue? { inputIndex(ending).flatMap { input?[$0].value } }

    /// Fills in an input.
    ///
    /// Does nothing when the callback has no such input.
    package mutating func set(_ ending: String, _ value: JSONValue) {
        guard let index = inputIndex(ending) else { return }
        input?[index].value = value
    }

    /// Fills in the main input, which has an empty name ending.
    package mutating func set(_ value: JSONValue) { set("", value) }

    /// Fills in an input.
    /// - Throws: ``CallbackError/Code/noSuchInput``.
    mutating func fill(_ ending: String, _ value: JSONValue) throws(CallbackError) {
        guard inputIndex(ending) != nil else {
            throw CallbackError(.noSuchInput, type, "the callback of the server has no input \(ending)")
        }
        set(ending, value)
    }
}

extension JSONValue {
    /// The Boolean value; nil for other values.
    ///
    /// Strings and numbers that represent one are accepted, because older servers send strings.
    package var lenientBool: Bool? {
        switch self {
        case .bool(let value): value
        case .string("true"), .integer(1): true
        case .string("false"), .integer(0): false
        default: nil
        }
    }

    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }
}
