import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Zero Page Login Collector", .timeLimit(.minutes(5)))
struct ZeroPageLoginTests {
    private static func journeys(_ settings: String = "") -> String {
        """
        J:
          entry: zero
          nodes:
            zero: {type: ZeroPageLoginNode\(settings), outcomes: {true: look, false: page}}
            page: {type: PageNode, nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}], outcomes: {outcome: look}}
            look: {type: DataStoreDecisionNode, outcomes: {true: success, false: page}}
        """
    }

    private func start(_ server: TestServer, _ headers: [String: String]) async throws -> Reply {
        let uri = "\(TestServer.authenticate)?authIndexType=service&authIndexValue=J"
        return try await server.send(
            .post, uri, headers: headers.merging(["Content-Type": "application/json"]) { $1 }, body: "{}")
    }

    @Test("A name and a password in the headers log in at once, and a wrong password is asked for again")
    func takesCredentialsFromHeaders() async throws {
        try await TestServer.run(journeys: Self.journeys()) { server in
            let names = ["X-OpenAM-Username": "Mira"]
            let right = try await start(server, names.merging(["X-OpenAM-Password": TestServer.password]) { $1 })
            #expect(right.isLoggedIn)
            // The password is compared once, and not again by the page.
            let wrong = try await start(server, names.merging(["X-OpenAM-Password": "wrong"]) { $1 })
            #expect(try wrong.step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            for headers in [names, [:]] {
                let asked = try await start(server, headers)
                #expect(try asked.step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
            }
        }
    }

    @Test("Other headers can have the name and the password")
    func takesNamedHeaders() async throws {
        let settings = ", usernameHeader: X-User, passwordHeader: X-Secret"
        try await TestServer.run(journeys: Self.journeys(settings)) { server in
            let reply = try await start(server, ["X-User": "=?UTF-8?B?bWlyYQ==?=", "X-Secret": TestServer.password])
            #expect(reply.isLoggedIn)
        }
    }

    @Test(
        "Without the permission for any referer, a request with a name and a password needs one of the list",
        arguments: [("https://app.example.test/login", true), ("https://other.example.test/", false), (nil, false)])
    func checksReferer(referer: String?, succeeds: Bool) async throws {
        let settings = ", allowWithoutReferer: false, referrerWhiteList: [\"https://app.example.test/login\"]"
        try await TestServer.run(journeys: Self.journeys(settings)) { server in
            var headers = ["X-OpenAM-Username": "mira", "X-OpenAM-Password": TestServer.password]
            headers["Referer"] = referer
            let reply = try await start(server, headers)
            #expect(reply.isLoggedIn == succeeds)
            #expect((reply.status == 401) != succeeds)
            #expect(try await start(server, [:]).status == 200, "without a name and a password, the page asks for them")
        }
    }
}
