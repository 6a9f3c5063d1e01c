public import SignetCore

/// A callback as what its type says it is: outputs under their names, inputs to fill in.
///
/// A view of one `JourneyCallback`, which it keeps whole: what the view does not know goes back to the server as it came, and the
/// inputs keep the names that the server gave them. The views of a step are filled in with `JourneyStep.fill(_:at:_:)`.
public protocol TypedCallback: Sendable, Hashable {
    /// The name on the wire, for example `NameCallback`.
    static var type: String { get }
    /// The callback, with what was filled in so far.
    var callback: JourneyCallback { get }
    /// Reads a callback; nil when it is of another type, or lacks an input that the type cannot do without.
    init?(_ callback: JourneyCallback)
}

/// Why a callback cannot be filled in like that. The value is not repeated.
public struct CallbackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// The step has no such callback.
        case noSuchCallback
        /// The value is not among those that can be chosen.
        case notOffered
        /// The server has given the callback no such input.
        case noSuchInput
        /// The value has no form on the wire.
        case invalid
    }

    /// What is wrong.
    public let code: Code
    /// The type of the callback, for example `ChoiceCallback`.
    public let callback: String
    /// What is wrong, in words.
    public let reason: String

    /// The type and the reason.
    public var description: String { "\(callback): \(reason)" }

    init(_ code: Code, _ callback: String, _ reason: String) {
        self.code = code
        self.callback = callback
        self.reason = reason
    }
}

extension JourneyStep {
    /// The callbacks of a type, in their order.
    public func callbacks<Callback: TypedCallback>(_ type: Callback.Type = Callback.self) -> [Callback] {
        callbacks.compactMap { Callback($0) }
    }

    /// The first callback of a type.
    public func first<Callback: TypedCallback>(_ type: Callback.Type = Callback.self) -> Callback? {
        callbacks.lazy.compactMap { Callback($0) }.first
    }

    /// Fills in a callback.
    /// - Parameters:
    ///   - type: the type of the callback.
    ///   - position: which of those that the step has of the type, from 0.
    ///   - fill: fills it in. When it throws, the step is as it was.
    /// - Throws: ``CallbackError/Code/noSuchCallback``; what `fill` throws.
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
    /// The callback as what its type says it is; nil for one that this version does not know, which an app shows by its outputs and
    /// fills in by its inputs.
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

// MARK: What views read and write

extension JourneyCallback {
    /// Whether this is of a type, and has the inputs that a view fills in.
    func fits(_ type: String, _ endings: String...) -> Bool {
        self.type == type && endings.allSatisfy { inputIndex($0) != nil }
    }

    /// An output that is a text; empty when there is none.
    func text(_ name: String) -> String { output(name)?.string ?? "" }

    /// An output that is a text and not empty.
    func optionalText(_ name: String) -> String? { output(name)?.string.flatMap { $0.isEmpty ? nil : $0 } }

    func texts(_ name: String) -> [String] { output(name)?.array?.compactMap(\.string) ?? [] }
    func number(_ name: String) -> Int? { output(name)?.wholeNumber.flatMap { Int(exactly: $0) } }
    func truth(_ name: String) -> Bool { output(name)?.truth ?? false }

    /// An input's value, as the server had filled it in or the app has.
    func value(_ ending: String = "") -> JSONValue? { inputIndex(ending).flatMap { input?[$0].value } }

    /// Fills in an input that is there; leaves one out that is not.
    mutating func set(_ ending: String, _ value: JSONValue) {
        guard let index = inputIndex(ending) else { return }
        input?[index].value = value
    }

    /// Fills in the plain input.
    mutating func set(_ value: JSONValue) { set("", value) }

    /// Fills in an input.
    /// - Throws: ``CallbackError/Code/noSuchInput``.
    mutating func fill(_ ending: String, _ value: JSONValue) throws(CallbackError) {
        guard inputIndex(ending) != nil else {
            throw CallbackError(.noSuchInput, type, "the server has given it no input \(ending)")
        }
        set(ending, value)
    }
}

extension JSONValue {
    /// The truth value, if this is one or spells one: older servers send texts.
    var truth: Bool? {
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
