import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The URLs to which a client goes after a journey", .timeLimit(.minutes(5)))
struct JourneyDestinationTests {
    private static let journeys = """
        Urls:
          nodes:
            ok: {type: SetSuccessUrlNode, successUrl: "http://app.example.org/ok", outcomes: {outcome: bad}}
            bad: {type: SetFailureUrlNode, failureUrl: "http://app.example.org/bad", outcomes: {outcome: login}}
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}
        """
    private static let urls = "authIndexType=service&authIndexValue=Urls"

    private static func field(_ name: String, _ url: String) -> String { "\(name)=\(url.percentEncoded())" }

    /// A `goto`, and the `successUrl` of the answer; `{server}` stands for the base URL of the server.
    static let gotos: [(goto: String, successURL: String)] = [
        ("/am/XUI/x", "/am/XUI/x"), ("{server}/x", "{server}/x"), (TestServer.redirectURI, TestServer.redirectURI),
        ("http://evil.example.com/", "/am/console"), ("//evil.example.com/", "/am/console"), ("/other", "/am/console"),
        ("/\\evil.example.com", "/am/console"), ("javascript:alert(1)", "/am/console"), ("", "/am/console"),
        ("{server}.evil.example.com/x", "/am/console"),
    ]

    @Test("S10: The parameter goto reaches successUrl when it belongs to the server or to a client", arguments: gotos)
    func returnsGoto(goto: String, successURL: String) async throws {
        try await TestServer.live(.sample()) { server in
            func filled(_ text: String) -> String { text.replacing("{server}", with: server.url) }
            let query = Self.field("goto", filled(goto))
            for (start, next) in [(query, query), (query, ""), ("", query)] {
                let reply = try await server.logIn(start, next: next)
                #expect(reply.json["successUrl"] == .string(filled(successURL)))
            }
            let token = try #require(try await server.logIn().token)
            let again = try await server.authenticate(query, headers: ["iPlanetDirectoryPro": token])
            #expect(again.token == token && again.json["successUrl"] == .string(filled(successURL)))
        }
    }

    @Test("S10: The parameter gotoOnFail reaches failureUrl when it belongs to the server or to a client", arguments: gotos)
    func returnsGotoOnFail(goto: String, successURL: String) async throws {
        try await TestServer.live(.sample()) { server in
            func filled(_ text: String) -> String { text.replacing("{server}", with: server.url) }
            let query = Self.field("gotoOnFail", filled(goto))
            let reply = try await server.logIn(query, next: query, password: "wrong")
            #expect(reply.status == 401 && reply.message == "Login failure")
            #expect(reply.failureURL == (successURL == "/am/console" ? "" : filled(successURL)))
        }
    }

    @Test("S10: The URLs of a journey's nodes are returned, unless the request names others")
    func returnsURLsOfJourney() async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let right = try await server.logIn(Self.urls)
            #expect(right.json["successUrl"] == "http://app.example.org/ok")
            let wrong = try await server.logIn(Self.urls, password: "wrong")
            #expect(wrong.failureURL == "http://app.example.org/bad")
            let asked = try await server.logIn(
                "\(Self.urls)&goto=%2Fam%2Fgood&gotoOnFail=%2Fam%2Fbad", next: "")
            #expect(asked.json["successUrl"] == "/am/good")
            let foreign = try await server.logIn(Self.urls + "&goto=https%3A%2F%2Fevil.example.com")
            #expect(foreign.json["successUrl"] == "http://app.example.org/ok")
        }
    }
}
