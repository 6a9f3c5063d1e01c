import FRAuth
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Returns JSON in the types of `JSONSerialization`, in which an app gets it.
func untyped(_ json: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
}

/// Returns JSON of a callback.
func callbackJSON(_ type: String, output: [String: JSONValue], inputs: [String]) throws -> [String: Any] {
    let fields = { (name: String, value: JSONValue) in JSONValue.object(["name": .string(name), "value": value]) }
    let json = JSONValue.object([
        "type": .string(type), "output": .array(output.sorted { $0.key < $1.key }.map { fields($0.key, $0.value) }),
        "input": .array(inputs.map { fields("IDToken1\($0)", .string("")) }),
    ])
    return try untyped(JSON.text(of: json))
}

/// Returns the reason for which a class refuses a callback; nil when it accepts the callback.
func refusal<C: Callback>(of type: C.Type, _ json: [String: Any]) throws -> String? {
    do {
        _ = try type.init(json: json)
        return nil
    } catch AuthError.invalidCallbackResponse(let reason) {
        return reason
    }
}

/// A journey whose server sends these steps one after another, and then a session.
struct ScriptedSteps {
    let transport: ScriptedTransport
    let service: AuthService

    /// Creates the journey.
    /// - Parameters:
    ///   - steps: The callbacks of each step, as JSON with commas between them.
    ///   - members: Further members of each step, as JSON that begins with a comma.
    ///   - factory: The classes of the callbacks.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)``.
    init(_ steps: String..., members: String = "", factory: CallbackFactory = CallbackFactory()) throws {
        let bodies =
            steps.map { #"{"authId":"a"\#(members),"callbacks":[\#($0)]}"# } + [#"{"tokenId":"t","successUrl":"/","realm":"/"}"#]
        let sent = Log()
        transport = ScriptedTransport { _ in
            sent.append("")
            return HTTPResponse(status: 200, body: Array(bodies[min(sent.lines.count, bodies.count) - 1].utf8))
        }
        service = try AuthService(
            name: "Login", options: FROptions(url: "https://am.example.test/am", realm: "root"), transport: transport,
            factory: factory)
    }

    /// Starts the journey and returns its first step.
    func start() async throws -> Node { try Self.node(try await service.next(Token.self)) }

    /// Sends a step and returns the next one.
    func next(after node: Node) async throws -> Node { try Self.node(try await node.next(Token.self)) }

    /// Sends the last step and returns the body that was sent.
    func finish(_ node: Node) async throws -> JSONValue {
        guard case .success(_?) = try await node.next(Token.self) else { throw Unexpected() }
        return try lastBody
    }

    /// The body of the last request.
    var lastBody: JSONValue { get throws { try JSON.value(of: transport.requests.last?.body ?? []) } }

    private static func node(_ result: sending NodeResult<Token>) throws -> Node {
        guard case .node(let node) = result else { throw Unexpected() }
        return node
    }
}

/// Returns the values of all inputs in a body.
func inputs(of body: JSONValue) -> [JSONValue] {
    (body["callbacks"]?.array ?? []).flatMap { $0["input"]?.array ?? [] }.map { $0["value"] ?? .null }
}
