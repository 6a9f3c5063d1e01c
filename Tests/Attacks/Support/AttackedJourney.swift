#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import Testing

/// The response of the authenticate resource: a step, a session, or an error.
struct JourneyAnswer: Sendable {
    let response: HTTPResponse

    /// The status.
    var status: Int { response.status }
    /// The token of the session.
    var session: String? { response.json["tokenId"]?.string }
    /// The step; nil when the journey has ended.
    var step: JourneyStep? {
        guard response.json["authId"] != nil else { return nil }
        return try? JSON.decode(JourneyStep.self, from: response.body)
    }
    /// The types of the callbacks.
    var types: [String] { step?.callbacks.map(\.type) ?? [] }
}

extension AttackedServer {
    /// Starts a journey.
    func start(_ journey: String, realm: String = authenticate, _ headers: [(String, String)] = []) async throws -> JourneyAnswer
    {
        JourneyAnswer(
            response: try await post("\(realm)?authIndexType=service&authIndexValue=\(journey)", json: "{}", headers))
    }

    /// Answers a step.
    /// - Parameters:
    ///   - step: The step.
    ///   - answers: A value for the first callback of each type.
    ///   - headers: The header fields.
    /// - Returns: The next answer.
    /// - Throws: `TransportError`.
    func answer(
        _ step: JourneyStep, _ answers: [String: JSONValue], _ headers: [(String, String)] = []
    ) async throws -> JourneyAnswer {
        var step = step
        for (type, value) in answers {
            guard let index = step.callbacks.firstIndex(where: { $0.type == type }) else { continue }
            step.callbacks[index].answer(value)
        }
        let body = String(decoding: try JSON.encode(step), as: UTF8.self)
        return JourneyAnswer(response: try await post(Self.authenticate, json: body, headers))
    }

    /// Starts a journey that begins with the page of name and password, and fills in that page.
    func signIn(
        _ journey: String = "Login", name: String = victim, password: String = password, _ headers: [(String, String)] = []
    ) async throws -> JourneyAnswer {
        let first = try await start(journey, headers)
        guard let step = first.step else { return first }
        return try await answer(step, ["NameCallback": .string(name), "PasswordCallback": .string(password)], headers)
    }

    /// Logs a user in and returns the session.
    func session(of name: String = victim) async throws -> String {
        let answer = try await signIn(name: name)
        return try #require(answer.session, "\(answer.status) \(answer.response.text)")
    }

    /// Answers the same question of a journey until the attempt ends.
    /// - Parameters:
    ///   - first: The answer with the first question.
    ///   - values: The value for the first callback of each type.
    /// - Returns: The last answer.
    /// - Throws: `TransportError`.
    func insist(_ first: JourneyAnswer, _ values: [String: JSONValue]) async throws -> JourneyAnswer {
        var last = first
        for _ in 0..<10 {
            guard let step = last.step, step.callbacks.contains(where: { values[$0.type] != nil }) else { break }
            last = try await answer(step, values)
        }
        return last
    }
}

/// A device with one-time codes that a test registered at the server.
struct CodeDevice: Sendable {
    let settings: OATHSettings

    /// Registers a device for a user through a starter journey.
    static func registered(for name: String, at server: AttackedServer) async throws -> CodeDevice {
        let shown = try #require(try await server.signIn("OATHRegistration", name: name).step)
        let uri = try #require(shown.hiddenValue("mfaDeviceRegistration"))
        let device = CodeDevice(settings: try #require(try EnrollmentURI.parse(uri).oath))
        let asked = try #require(try await server.answer(shown, ["ConfirmationCallback": .integer(0)]).step)
        let code = try await device.code(at: server)
        let done = try await server.answer(asked, ["NameCallback": .string(code), "PasswordCallback": .string(code)])
        try #require(done.session != nil, "\(done.status) \(done.response.text)")
        // The code that was shown at the registration is spent.
        try await server.advanceClock(by: 60)
        return device
    }

    /// The code at the server's time.
    func code(at server: AttackedServer) async throws -> String {
        settings.code(at: try await server.now).digits
    }
}
#endif
