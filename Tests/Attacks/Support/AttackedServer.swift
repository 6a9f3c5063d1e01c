#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetServer
import SignetTesting
import TestSupport
import Testing

/// `signet serve` as a process, and an attacker that sends it requests from this machine.
///
/// The process has the starter file with two more users. The clock is moved through the administration API.
struct AttackedServer: Sendable {
    /// The context path of the server.
    static let path = "/am"
    /// The path of the root realm's authenticate resource.
    static let authenticate = "/json/realms/root/authenticate"
    /// The path of the root realm's OAuth 2.0 endpoints.
    static let oauth = "/oauth2/realms/root"
    /// The password of every user that this type adds.
    static let password = "correct horse battery"
    /// The answer to the security question of ``victim``.
    static let securityAnswer = "Milo the third"
    /// A user with a password, an address and a security question.
    static let victim = "mira"
    /// A user that an attacker controls.
    static let attacker = "mallory"

    /// A redirect address of the public clients `app` and `other`.
    static let redirectURI = "org.example.app://callback"
    /// The secret of the client `web`.
    static let clientSecret = "a secret of the client"

    let process: TestServer.Process
    let port: Int
    private let transport: AsyncHTTPTransport
    private let adminToken: String

    /// Runs `body` with a server, and requires that the server is still there afterwards and ends without an error.
    /// - Parameters:
    ///   - isExposed: True for a server with the defaults of one that other machines can reach.
    ///   - settings: The section `server` of the configuration file, in YAML's flow style.
    ///   - options: Options in addition to those for the port, the configuration, the announcement and the end. The state is in
    ///     memory unless they name another place.
    ///   - users: The users in addition to that of the starter file.
    ///   - body: The attack.
    /// - Throws: The error of `body`, or the one with which the server does not start or end.
    static func with(
        isExposed: Bool = false, settings: String? = nil, options: [String] = [], users: [String] = [victim, attacker],
        _ body: (AttackedServer) async throws -> Void
    ) async throws {
        try await TaskLimiter.attacks.pass {
            try await run(isExposed, settings, options, users, body)
        }
    }

    private static func run(
        _ isExposed: Bool, _ settings: String?, _ options: [String], _ users: [String],
        _ body: (AttackedServer) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let file = directory.file("server.yaml")
            try Data(configuration(settings, users).utf8).write(to: URL(filePath: file))
            let token = directory.file("token")
            let environment = AttackedProgram.environment.merging(
                ["HOME": directory.path, "TMPDIR": directory.path, "SIGNET_HOME": directory.file("vault")]) { $1 }
            let exposed = isExposed ? ["--host", "0.0.0.0", "--allow-remote"] : []
            let state = options.contains("--state") ? [] : ["--state", "memory"]
            try await TestServer.Process.with(
                ["--config", file, "--admin-token-file", token] + state + exposed + options,
                environment: environment
            ) { process in
                let text = try String(contentsOfFile: token, encoding: .utf8).trimmingCharacters(in: .newlines)
                try await AsyncHTTPTransport(maxBodySize: 4 << 20).use { transport in
                    try await body(
                        AttackedServer(process: process, port: process.port, transport: transport, adminToken: text))
                }
                try #require(!process.process.hasEnded, "\(process.process.soFar.errors.suffix(2000))")
            }
        }
    }

    private static func configuration(_ settings: String?, _ names: [String]) -> String {
        let users = names.map { name in
            """
              - name: \(name)
                password: \(password)
                claims: {email: \(name)@example.test}
                securityAnswers: {"Name of your first pet?": "\(securityAnswer)"}
              - {name: \(name), password: another one, realm: /alpha}

            """
        }.joined()
        let clients = """
              - {id: other, redirectURIs: [\(redirectURI)]}
              - {id: web, secret: \(clientSecret), redirectURIs: ["https://web.example.test/cb?x=1"], requirePKCE: false}
              - {id: app, realm: /alpha, redirectURIs: [\(redirectURI)]}

            """
        let all = ServerConfiguration.starterText.replacing("\nusers:\n", with: "\nusers:\n" + users, maxReplacements: 1)
            .replacing("\nclients:\n", with: "\nclients:\n" + clients, maxReplacements: 1)
        return (settings.map { "server: \($0)\n" } ?? "") + all
    }

    // MARK: Requests

    /// Sends one request, and follows no redirect.
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path and query below the context path.
    ///   - headers: The header fields.
    ///   - body: The body.
    /// - Returns: The response.
    /// - Throws: `TransportError`.
    func send(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: String = ""
    ) async throws -> HTTPResponse {
        var fields: HTTPHeaders = [:]
        for (name, value) in headers { fields.append(name, value) }
        return try await transport.send(
            HTTPRequest(
                method, "http://127.0.0.1:\(port)\(Self.path)\(target)", headers: fields, body: Array(body.utf8),
                timeout: .seconds(60)))
    }

    /// Sends a JSON body.
    func post(_ target: String, json body: String, _ headers: [(String, String)] = []) async throws -> HTTPResponse {
        try await send("POST", target, headers + [("Content-Type", "application/json")], body: body)
    }

    /// Sends a form.
    func post(
        _ target: String, form fields: [(name: String, value: String)], _ headers: [(String, String)] = []
    ) async throws -> HTTPResponse {
        try await send(
            "POST", target, headers + [("Content-Type", "application/x-www-form-urlencoded")], body: FormCoding.encode(fields))
    }

    /// Calls the administration API.
    @discardableResult
    func admin(_ method: String, _ path: String, _ body: String = "") async throws -> JSONValue {
        let response = try await call(method, path, body)
        try #require((200..<300).contains(response.status), "\(method) \(path): \(response.status) \(response.text)")
        return response.json
    }

    /// Calls the administration API and returns the status.
    func adminStatus(_ method: String, _ path: String, _ body: String) async throws -> Int {
        try await call(method, path, body).status
    }

    private func call(_ method: String, _ path: String, _ body: String) async throws -> HTTPResponse {
        let type = body.isEmpty ? [] : [("Content-Type", "application/json")]
        return try await send(method, "/admin/\(path)", [("Authorization", "Bearer \(adminToken)")] + type, body: body)
    }

    /// Moves the server's clock forward.
    func advanceClock(by seconds: Int) async throws { try await admin("POST", "clock/advance", #"{"seconds":\#(seconds)}"#) }

    /// Stops the server's clock, so that a limit of requests per minute does not depend on the speed of this machine.
    func stopClock() async throws { try await admin("PUT", "clock", #"{"stopped":true}"#) }

    /// The time of the server.
    var now: Date {
        get async throws {
            switch try await admin("GET", "clock")["seconds"] {
            case .integer(let seconds): return Date(timeIntervalSince1970: Double(seconds))
            case .number(let seconds): return Date(timeIntervalSince1970: seconds)
            default: throw TestServer.Process.Failure(description: "the server has no time")
            }
        }
    }

    /// Sends raw bytes on a connection of their own, and returns everything the server sends until it closes the connection.
    ///
    /// A thread of its own waits for the socket.
    /// - Parameter bytes: The bytes.
    /// - Returns: The responses; nil when the server does not close the connection in time.
    /// - Throws: `ClientSocket.NoListener`.
    func sendRaw(_ bytes: String) async throws -> String? {
        try await Self.onThread { [port] in try ClientSocket(port: port, timeout: 30).exchange(Array(bytes.utf8)) }
    }

    /// Runs code that blocks on a thread of its own.
    static func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}

extension HTTPResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON; null when it is not JSON.
    var json: JSONValue { (try? JSON.value(of: body)) ?? .null }
    /// The parameters in the query of the address to which the response redirects.
    var redirected: [String: String] { FormCoding.query(of: headers["Location"] ?? "") }
}
#endif
