import SignetCore
import SignetNetwork
import TestSupport
import Testing

@testable import SignetServer

/// The answer of a server on a socket.
struct LiveReply: Sendable {
    let status: Int
    let json: JSONValue

    var message: String? { json["message"]?.string }
    var token: String? { json["tokenId"]?.string }
    var failureURL: String? { json["detail"]?["failureUrl"]?.string }
    /// The types of the step's callbacks; nil without a step.
    var types: [String]? { json["callbacks"]?.array?.compactMap { $0["type"]?.string } }
}

extension TestServer.Live {
    /// Posts to the authenticate resource of the top-level realm, or of another one.
    func authenticate(
        _ query: String = "", headers: [String: String] = [:], realm: String = "/realms/root", body: String? = "{}"
    ) async throws -> LiveReply {
        var request = SignetNetwork.HTTPRequest("POST", "\(url)/json\(realm)/authenticate\(query.isEmpty ? "" : "?")\(query)")
        request.headers.set("Accept-API-Version", "resource=2.1, protocol=1.0")
        if let body {
            request.headers.set("Content-Type", "application/json")
            request.body = Array(body.utf8)
        }
        for (name, value) in headers { request.headers.set(name, value) }
        let response = try await transport.send(request)
        return LiveReply(status: response.status, json: (try? JSON.value(of: response.body)) ?? .null)
    }

    /// Returns the body that answers a step with a name and a password, as a client sends it back.
    static func answer(to step: LiveReply, name: String = "mira", password: String = TestServer.password) throws -> String {
        var members = try #require(step.json.object)
        let callbacks = try #require(step.json["callbacks"]?.array)
        members["callbacks"] = .array(
            callbacks.map { callback in
                let value: JSONValue? =
                    switch callback["type"]?.string {
                    case "NameCallback": .string(name)
                    case "PasswordCallback": .string(password)
                    default: nil
                    }
                guard let value, var filled = callback.object, let input = callback["input"]?.array?.first?["name"] else {
                    return callback
                }
                filled["input"] = .array([.object(["name": input, "value": value])])
                return .object(filled)
            })
        return JSON.text(of: .object(members))
    }

    /// Logs in with a name and a password.
    /// - Parameters:
    ///   - start: The query of the first request.
    ///   - next: The query of the second request.
    ///   - name: The name of the user.
    ///   - password: The password.
    /// - Returns: The answer to the second request.
    /// - Throws: The error of a request.
    func logIn(
        _ start: String = "", next: String = "", name: String = "mira", password: String = TestServer.password
    ) async throws -> LiveReply {
        let step = try await authenticate(start)
        return try await authenticate(next, body: try Self.answer(to: step, name: name, password: password))
    }
}
