import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Runs journeys to their end with answers from a table, as a test of a team does.
final class JourneyRun: Sendable {
    /// The end of a journey.
    enum End: Sendable, Hashable {
        case loggedIn(String)
        /// The journey has ended with failure.
        case failed
        /// A node cannot run.
        case stub(String)
        case error(Int, String)

        var token: String? { if case .loggedIn(let token) = self { token } else { nil } }

        /// True when the journey has ended as its nodes say.
        var isRegular: Bool {
            switch self {
            case .loggedIn, .failed: true
            case .stub, .error: false
            }
        }
    }

    /// The name, the password and the email address of the user that logs in.
    static let name = "mira"
    static let password = "Correct-horse-9"
    static let mail = "mira@example.test"

    private struct Sent: Sendable {
        var links: [String] = []
        var codes: [String] = []
        /// The one-time codes that the user has registered.
        var oath: OATHSettings?
    }

    private let sent = Mutex(Sent())
    private let newName: String
    private let choice: Int64
    private let attributes: [String: JSONValue]

    /// Creates a table of answers.
    /// - Parameters:
    ///   - newName: The name for registrations.
    ///   - choice: The index of the choice where the user has several.
    ///   - attributes: Further attributes of the user, for scripts that read them.
    init(newName: String = "newcomer", choice: Int64 = 0, attributes: [String: JSONValue] = [:]) {
        self.newName = newName
        self.choice = choice
        self.attributes = attributes
    }

    /// Runs a server with imported journeys and with the user of the table.
    func withServer(_ imported: JourneyImport, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await withServer(try ServerConfiguration(importing: imported), body)
    }

    /// Runs a server with the user of the table, and with the administrators of the configuration.
    func withServer(
        _ configuration: ServerConfiguration, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.users =
            [
                User(
                    name: Self.name, password: Secret(Self.password.utf8),
                    claims: attributes.merging(["email": .string(Self.mail), "given_name": "Mira"]) { $1 })
            ] + configuration.users.filter(\.isAdministrator)
        configuration.pollInterval = .seconds(1)
        configuration.onEmail = { email in
            self.sent.withLock { sent in
                if let link = email.link { sent.links.append(link) }
                if let code = email.code { sent.codes.append(code) }
            }
        }
        try await TestServer.run(configuration, body)
    }

    /// Runs a journey.
    /// - Parameters:
    ///   - journey: The name of the journey.
    ///   - server: The server.
    ///   - token: The token of a session to start with.
    /// - Returns: The end of the journey. A journey that asks more than 40 times does not end.
    /// - Throws: The errors of the requests.
    func end(of journey: String, at server: TestServer, token: String? = nil) async throws -> End {
        var headers = ["Content-Type": "application/json"]
        headers["iPlanetDirectoryPro"] = token
        let query = "authIndexType=service&authIndexValue=\(journey.percentEncoded())&ForceAuth=true"
        var reply = try await server.send(.post, "\(TestServer.authenticate)?\(query)", headers: headers, body: "{}")
        for _ in 0..<40 {
            guard reply.json["authId"] != nil else { return Self.end(reply) }
            let step = try reply.step
            if step.callback("SuspendedTextOutputCallback") != nil {
                guard let link = sent.withLock({ $0.links.popLast() }), let id = link.split(separator: "suspendedId=").last else {
                    return .failed
                }
                reply = try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(id)", body: "{}")
            } else if step.waitMilliseconds != nil {
                reply = try await server.poll(step)
            } else {
                reply = try await server.next(answered(step, at: server))
            }
        }
        return .error(0, "the journey asks without end")
    }

    private static func end(_ reply: Reply) -> End {
        if let token = reply.json["tokenId"]?.string { return .loggedIn(token) }
        let message = reply.message ?? ""
        return reply.status == 401 ? .failed : reply.status == 501 ? .stub(message) : .error(reply.status, message)
    }

    private func answered(_ step: JourneyStep, at server: TestServer) -> JourneyStep {
        var step = step
        if let uri = step.hiddenValue("mfaDeviceRegistration"), let oath = try? EnrollmentURI.parse(uri).oath {
            sent.withLock { $0.oath = oath }
        }
        // A lone name is the code of a device that the journey has registered before.
        if step.callbacks.map(\.type) == ["NameCallback"], let oath = sent.withLock({ $0.oath }) {
            step.fill("NameCallback", .string(oath.code(at: server.clock.now).digits))
            return step
        }
        for index in step.callbacks.indices {
            let answers = answers(to: step.callbacks[index])
            for (position, answer) in answers.enumerated() where step.callbacks[index].input?.indices.contains(position) == true {
                step.callbacks[index].input?[position].value = answer
            }
        }
        return step
    }

    /// The table: the answers to the inputs of a callback.
    private func answers(to callback: JourneyCallback) -> [JSONValue] {
        switch callback.type {
        case "NameCallback", "ValidatedCreateUsernameCallback":
            [.string(callback.type == "NameCallback" ? Self.name : newName)]
        case "PasswordCallback", "ValidatedCreatePasswordCallback":
            [.string(sent.withLock { $0.codes.popLast() } ?? Self.password)]
        case "StringAttributeInputCallback": [.string(callback.output("name") == "mail" ? Self.mail : "Harbor")]
        case "BooleanAttributeInputCallback", "TermsAndConditionsCallback", "ConsentMappingCallback": [.bool(true)]
        case "NumberAttributeInputCallback": [.integer(42)]
        case "ChoiceCallback", "ConfirmationCallback": [.integer(choice)]
        case "KbaCreateCallback": ["First pet?", "Rex"]
        case "TextInputCallback": ["Harbor"]
        case "HiddenValueCallback": ["unsupported"]
        case "SelectIdPCallback": ["localAuthentication"]
        default: []
        }
    }
}
