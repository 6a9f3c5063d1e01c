import HTTPTypes
import SignetCore

/// The callbacks that a client returned, each in the place of the one that the server sent (protocol/journey.md section 2.1).
///
/// As in AM, the client returns the callbacks of the step in their order. The SDKs leave some of them out: those without inputs,
/// hidden values, callbacks of types that they do not know, and on a page that waits, the buttons.
struct ReturnedCallbacks: Sendable, Hashable {
    /// The returned callbacks: one for each sent callback, nil for those that the client left out.
    let callbacks: [JSONValue?]

    /// Assigns the returned callbacks to the sent ones.
    /// - Parameters:
    ///   - sent: The callbacks that the server sent.
    ///   - returned: The member `callbacks` of the request; nil when it is missing.
    /// - Throws: ``APIError`` with status 400 and AM's message when a required callback is missing, or when the order, a type, the
    ///   number, or the value of a name or a password is wrong.
    init(_ sent: [JourneyCallback], _ returned: JSONValue?) throws(APIError) {
        let canWait = sent.contains { $0.type == "PollingWaitCallback" }
        let names = Set(sent.flatMap { $0.input ?? [] }.map(\.name))
        let isOptional = sent.map { canWait || !Self.requiredTypes.contains($0.type) }
        var rest = (returned?.array ?? [])[...]
        let count = rest.count
        var callbacks: [JSONValue?] = []
        for (callback, isOptional) in zip(sent, isOptional) {
            let isNext = rest.first.map { Self.isAnswer($0, to: callback, isOptional: isOptional, names) } ?? false
            if isNext {
                callbacks.append(rest.removeFirst())
            } else if isOptional {
                callbacks.append(nil)
            } else {
                break
            }
        }
        guard callbacks.count == sent.count, rest.isEmpty else {
            let numbers = isOptional.count(where: { !$0 })...sent.count
            throw numbers.contains(count) && returned?.array != nil ? .callbackNotFound : .wrongCallbackCount
        }
        for (index, callback) in callbacks.enumerated() {
            guard let callback, Self.textTypes.contains(sent[index].type) else { continue }
            try Self.checkText(callback, at: index)
        }
        self.callbacks = callbacks
    }

    /// The types of callbacks that each SDK knows and returns.
    private static let requiredTypes: Set = [
        "NameCallback", "PasswordCallback", "TextInputCallback", "ChoiceCallback", "ConfirmationCallback",
        "ValidatedCreateUsernameCallback", "ValidatedCreatePasswordCallback", "StringAttributeInputCallback",
        "NumberAttributeInputCallback", "BooleanAttributeInputCallback", "TermsAndConditionsCallback", "KbaCreateCallback",
        "ConsentMappingCallback",
    ]

    /// The types of callbacks whose value could be a wrong password of a user.
    private static let textTypes: Set = ["NameCallback", "PasswordCallback"]

    /// Returns true when a returned callback is the one that the server sent.
    ///
    /// Of several optional callbacks of a type, it is the one with the name of its input.
    private static func isAnswer(
        _ returned: JSONValue, to sent: JourneyCallback, isOptional: Bool, _ names: Set<String>
    ) -> Bool {
        guard returned["type"]?.string == sent.type else { return false }
        guard isOptional, let name = returned["input"]?.array?.first?["name"]?.string, names.contains(name) else { return true }
        return sent.input?.contains { $0.name == name } ?? false
    }

    /// Throws an error unless the callback has one input with a text, or a number in place of it.
    private static func checkText(_ callback: JSONValue, at index: Int) throws(APIError) {
        guard let inputs = callback["input"]?.array, inputs.count == 1 else { throw .noInput }
        guard let value = inputs[0]["value"], value.string ?? value.lenientInteger.map({ String($0) }) != nil else {
            throw .noText(at: index)
        }
    }
}

extension APIError {
    /// The step can't have this number of callbacks.
    static let wrongCallbackCount = APIError(.badRequest, "Incorrect number of callbacks found in JSON response")
    /// The order or the types of the callbacks are not those of the step.
    static let callbackNotFound = APIError(.badRequest, "Required callback not found in JSON response")
    /// A callback has no input, or too many.
    ///
    /// AM answers it with the same text and status 500.
    static let noInput = APIError(.badRequest, "JSON Callback does not include a input field")

    /// The input of a callback has no text.
    ///
    /// AM answers it with the same text and status 500.
    static func noText(at index: Int) -> APIError {
        APIError(.badRequest, "/callbacks/\(index)/input/0/value: Expecting a java.lang.String")
    }
}
