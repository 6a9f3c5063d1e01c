import Foundation
import SignetCore
public import SignetJourney

/// Carries data for the app.
open class MetadataCallback: Callback {
    /// The index in the step, which newer servers send.
    public final var _id: Int?

    /// The data.
    public final var data: [String: Any] { output("data")?.object?.mapValues(\.any) ?? [:] }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no type.
    public required init(json: [String: Any]) throws {
        _id = try JourneyCallback(untyped: json)._id
        try super.init(json: json)
    }
}

/// Asks the app to create a passkey or to sign with one.
///
/// The server sends it as metadata, and its answer goes into a hidden value of the same step.
open class WebAuthnCallback: MetadataCallback {
    /// True when the server accepts the answer as JSON.
    public final var supportsJsonResponse = false
    /// The app's authenticator for the methods with closures; nil tells the server that the device has none.
    public final var authenticator: (any WebAuthnAuthenticator)?

    /// Returns the step with the request alone, with the values that the app changed, and with an input for the outcome.
    final func request(changing members: [String: JSONValue]) throws(AuthError) -> JourneyStep {
        // The app may have replaced the response.
        var callback = try JourneyCallback(untyped: response)
        callback.type = SignetJourney.MetadataCallback.type
        let index = try callback.required(callback.output.firstIndex { $0.name == "data" }, "data")
        callback.output[index].value = .object((callback.output[index].value.object ?? [:]).merging(members) { $1 })
        let outcome = JourneyCallback(
            type: SignetJourney.HiddenValueCallback.type, output: [.init(name: "id", value: .string(WebAuthnOutcome.callbackID))],
            input: [.init(name: "outcome", value: .string(""))])
        return JourneyStep(authId: "", callbacks: [callback, outcome])
    }

    /// Lets an authenticator create or use a passkey.
    /// - Returns: The outcome, and its text for the server.
    /// - Throws: `CallbackError` when the request can't be read; `CancellationError` when the task is canceled.
    static func outcome(
        of step: JourneyStep, _ authenticator: (any WebAuthnAuthenticator)?, deviceName: String?
    ) async throws -> (outcome: WebAuthnOutcome, text: String) {
        var step = step
        let outcome = try await step.answerWebAuthn(with: authenticator, deviceName: deviceName)
        return (outcome, step.callbacks.last?.value()?.string ?? "")
    }

    /// Returns the outcome, which is entered into the node.
    final func enterOutcome(
        of step: JourneyStep, _ authenticator: (any WebAuthnAuthenticator)?, deviceName: String?, into node: Node
    ) async throws -> WebAuthnOutcome {
        guard let hidden = node.webAuthnOutcome else {
            throw AuthError.invalidCallbackResponse("Missing \(WebAuthnOutcome.callbackID)")
        }
        let (outcome, text) = try await Self.outcome(of: step, authenticator, deviceName: deviceName)
        hidden.text = text
        return outcome
    }

    /// Enters the outcome into the node's hidden value, if there is one, and calls one of the closures.
    static func report(
        of step: JourneyStep, _ authenticator: (any WebAuthnAuthenticator)?, deviceName: String?, to hidden: LateOutcome?,
        onSuccess: @escaping @Sendable (String) -> Void, onError: @escaping @Sendable (any Error) -> Void
    ) {
        Task {
            do {
                let (outcome, text) = try await outcome(of: step, authenticator, deviceName: deviceName)
                hidden?.text = text
                switch outcome {
                case .attestation, .assertion: onSuccess(text)
                case .unsupported: onError(WebAuthnError.unsupported(platformError: nil, message: "the app set no authenticator"))
                case .failure(let error): onError(WebAuthnError(error))
                }
            } catch {
                onError(LegacyErrors.error(error))
            }
        }
    }
}

/// The text of a passkey's outcome, which an authenticator supplies after the callback was made.
final class LateOutcome: Sendable {
    private let state = Mutex<String?>(nil)

    var text: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension Node {
    /// The place for a passkey's outcome; nil when the step has none.
    var webAuthnOutcome: LateOutcome? {
        callbacks.lazy.compactMap { $0 as? HiddenValueCallback }.first { $0.isWebAuthnOutcome }?.outcome
    }
}

/// The members of a passkey request, which AM 7.1 and later write in another form (`_action`, `_allowCredentials` ...).
struct PasskeyMembers {
    private let callback: JourneyCallback
    private let members: [String: JSONValue]
    /// True for the form of AM 7.1 and later.
    let isNewer: Bool

    /// Reads the members.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no data.
    init(_ callback: JourneyCallback, action: String) throws(AuthError) {
        let first = callback.output.first { $0.name == "data" }
        self.callback = callback
        members = try callback.required(first?.value.object, "data")
        isNewer = members["_action"]?.string == action
    }

    /// The member with a name.
    subscript(name: String) -> JSONValue? { members[name] }

    /// The member with a name in the newer form, which begins with an underscore, or in the older form.
    func either(_ name: String) -> JSONValue? { members[isNewer ? "_\(name)" : name] }

    func text(_ name: String) throws(AuthError) -> String { try callback.required(members[name]?.string, name) }

    func milliseconds() throws(AuthError) -> Int {
        try callback.required(members["timeout"]?.lenientInteger.flatMap { Int(exactly: $0) }, "timeout")
    }

    func value<Value>(_ value: Value?, _ name: String) throws(AuthError) -> Value { try callback.required(value, name) }

    /// Returns bytes in base64, as the server writes them.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when they are missing or can't be read.
    func base64(_ name: String) throws(AuthError) -> String {
        let text = try text(name)
        guard (try? Base64.decode(text)) != nil else { throw .invalidCallbackResponse("Invalid \(name)") }
        return text
    }

    /// Returns the relying party's identifier; empty when the server leaves it to a web page.
    /// - Parameter label: The label of the older form, a line of JavaScript such as `rpId: "example.com",`.
    /// - Returns: The identifier.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``.
    func relyingParty(_ label: String) throws(AuthError) -> String {
        let text = try callback.required(either("relyingPartyId")?.string, "relyingPartyId")
        if isNewer || text.isEmpty { return text }
        let start = "\(label): \""
        guard text.hasPrefix(start), let identifier = text.dropFirst(start.count).split(separator: "\"").first else {
            throw .invalidCallbackResponse("Invalid relying party identifier")
        }
        return String(identifier)
    }

    /// The engine's request; nil when one of its lists can't be read.
    var request: WebAuthnRequest? { WebAuthnRequest(JourneyStep(authId: "", callbacks: [callback])) }
}
