import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Errors of the authorization endpoint that cannot be sent to a client")
struct AuthorizationErrorTests {
    /// A request that OpenAM 16.0.5 answered with status 400 and its error page.
    struct RejectedRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var changes: [String: String?] = [:]
        /// The text after the query.
        var addition = ""
        /// The user's decision, which a form sends to the address of the request; nil for a GET request.
        var decision: [String: String?]?
        let error: String
        /// The description, where it is the one of AM.
        var description: String?
    }

    static let rejectedRequests = [
        RejectedRequest(
            testDescription: "wrong redirect", changes: ["redirect_uri": "http://127.0.0.1:19190/evil"],
            error: "redirect_uri_mismatch",
            description: "The redirection URI provided does not match a pre-registered value."),
        RejectedRequest(
            testDescription: "unknown client", changes: ["client_id": "nosuch"], error: "invalid_client",
            description: "Client authentication failed"),
        RejectedRequest(testDescription: "wrong csrf", decision: ["decision": "allow", "csrf": "wrong"], error: "bad_request"),
        RejectedRequest(testDescription: "no csrf", decision: ["decision": "allow"], error: "bad_request"),
        RejectedRequest(testDescription: "duplicate parameter", addition: "&state=st-2", error: "invalid_request"),
    ]

    private static func sample(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.clients = [
                RegisteredClient(id: "a-ask", redirectURIs: ["http://127.0.0.1:19190/cb"]) { $0.requiresConsent = true }
            ]
            configure(&$0)
        }
    }

    private static func send(_ request: RejectedRequest, to server: TestServer) async throws -> Reply {
        let session = try await server.session()
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": "a-ask", "redirect_uri": "http://127.0.0.1:19190/cb",
            "scope": "openid profile email", "state": "st-1", "nonce": "n-1",
            "code_challenge": ProofKey.challenge(for: TestServer.verifier), "code_challenge_method": "S256",
        ]
        parameters.merge(request.changes) { $1 }
        let query = TestServer.form(parameters) + request.addition
        let headers = [
            "Accept": "application/json", "Cookie": "iPlanetDirectoryPro=\(session)",
            "Content-Type": "application/x-www-form-urlencoded",
        ]
        return try await server.send(
            request.decision == nil ? .get : .post, "\(TestServer.oauth)/authorize?\(query)", headers: headers,
            body: request.decision.map { TestServer.form($0) })
    }

    @Test(
        "S8: An unverified client or redirect URI, a repeated parameter and a wrong csrf are 400 with a page",
        arguments: rejectedRequests)
    func answersWithPage(request: RejectedRequest) async throws {
        try await TestServer.run(Self.sample()) { server in
            let reply = try await Self.send(request, to: server)
            #expect(reply.status == 400 && reply.header("Location") == nil)
            #expect(reply.header("Content-Type") == "text/html; charset=UTF-8")
            #expect(reply.header("Content-Security-Policy")?.contains("default-src 'none'; script-src 'self'") == true)
            let error = try #require(reply.pageError)
            #expect(error.code == request.error)
            #expect(error.description == request.description ?? error.description)
            // The page shows both.
            #expect(reply.text.contains("<code>\(request.error)</code>"))
            #expect(reply.text.contains("<p>\(error.description)</p>"))
        }
    }

    @Test("The log names the client that a realm does not have, and the page does not")
    func logNamesUnknownClient() async throws {
        let log = RecordingLog()
        try await TestServer.run(Self.sample(), logger: log.logger) { server in
            let reply = try await server.send(
                .get, "\(TestServer.oauth)/authorize?response_type=code&client_id=nope", headers: [:])
            #expect(reply.status == 400 && !reply.text.contains("nope"))
        }
        #expect(log.lines.contains("there is no client `nope` in /"))
    }

    @Test("S8: The same errors are JSON on a setting", arguments: rejectedRequests)
    func answersWithJSON(request: RejectedRequest) async throws {
        try await TestServer.run(Self.sample { $0.authorizeErrors = .json }) { server in
            let reply = try await Self.send(request, to: server)
            #expect(reply.status == 400 && reply.header("Location") == nil)
            #expect(reply.json["error"]?.string == request.error)
            #expect(reply.json["error_description"]?.string?.isEmpty == false)
        }
    }

    @Test("S8: No text can leave the data of the page")
    func escapesDescription() throws {
        let text = "</script><script>alert(\"1\")</script><!--"
        let page = HTMLPage.authorizationError(.invalidRequest(text), in: .root, baseURL: "http://127.0.0.1:8080/am")
        let html = page.content.html
        #expect(html.ranges(of: "<script").count == 1 && html.ranges(of: "</script").count == 1)
        #expect(!html.contains("<!--"))
        #expect(try #require(Reply.pageError(in: html)).description == text)
    }

    @Test("The configuration file sets the format of errors at authorize, and refuses other words")
    func readsAuthorizationErrorSetting() throws {
        #expect(try ServerConfiguration(yaml: "server: {authorizeErrors: json}").authorizeErrors == .json)
        #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: "server: {authorizeErrors: html}") }
    }
}
