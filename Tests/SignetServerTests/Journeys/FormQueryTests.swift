import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Queries of the resources", .timeLimit(.minutes(5)))
struct FormQueryTests {
    private static let journeys = """
        c space:
          nodes:
            page: {type: PageNode, nodes: [{type: UsernameCollectorNode}], outcomes: {outcome: success}}
        """

    /// Queries as Java's clients and AM's own pages write them.
    static let queries = [
        "authIndexType=service&authIndexValue=c+space", "authIndexType=service&authIndexValue=c%20space",
        "authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute+name%3D%22"
            + "AuthenticateToServiceConditionAdvice%22%2F%3E%3CValue%3E%2F%3Ac+space%3C%2FValue%3E%3C%2FAttributeValuePair%3E"
            + "%3C%2FAdvices%3E",
        "authIndex%54ype=service&authIndexValue=c+space",
    ]

    @Test("S2: A plus sign in a query is a space", arguments: queries)
    func decodesPlusInQuery(query: String) async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let reply = try await server.authenticate(query)
            #expect(reply.status == 200, "\(reply.json)")
            #expect(reply.types == ["NameCallback"])
        }
    }

    @Test("An escaped plus sign in a query stays a plus sign")
    func keepsEscapedPlus() async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let reply = try await server.authenticate("authIndexType=service&authIndexValue=c%2Bspace")
            #expect(reply.status == 400 && reply.message == "No Configuration found")
        }
    }

    private static let authorization =
        "response_type=code&client_id=lab&redirect_uri=\(TestServer.redirectURI.percentEncoded())&scope=openid+profile&state=a+b"
        + "&code_challenge=\(ProofKey.challenge(for: TestServer.verifier))&code_challenge_method=S256"

    /// Requests in the realm that their query names, with the status of the response.
    static let resources: [(method: HTTPRequest.Method, path: String, query: String, status: Int)] = [
        (.get, "oauth2/authorize", authorization, 302), (.post, "json/sessions", "_action=getSessionInfo", 200),
        (.post, "json/sessions", "_action=logout", 200), (.post, "json/users", "_action=idFromSession", 200),
        (.get, "json/users/mira/devices/2fa/oath", "_queryFilter=true", 200),
    ]

    @Test("S2: A plus sign in the realm of a query is a space for each resource", arguments: resources)
    func decodesPlusInRealm(method: HTTPRequest.Method, path: String, query: String, status: Int) async throws {
        let configuration = ServerConfiguration.sample {
            $0.realms.append("/my lab")
            $0.users.append(User(name: "mira", password: Secret(TestServer.password.utf8), realm: "/my lab"))
            $0.clients.append(RegisteredClient(id: "lab", redirectURIs: [TestServer.redirectURI]) { $0.realm = "/my lab" })
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session(at: "/am/json/realms/root/realms/my%20lab/authenticate")
            let headers = ["iPlanetDirectoryPro": session, "Content-Type": "application/json"]
            for (realm, expected) in [("%2Fmy%2Blab", 404), ("%2Fmy+lab", status)] {
                let reply = try await server.send(
                    method, "/am/\(path)?realm=\(realm)&\(query)", headers: headers, body: method == .post ? "{}" : nil)
                #expect(reply.status == expected, "\(reply.text)")
                guard expected == 302 else { continue }
                let location = try reply.location
                #expect(location["state"] == "a b" && location["code"] != nil)
            }
        }
    }

    @Test("S2: A plus sign in the query of endSession is a space")
    func decodesPlusAtEndSession() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let query = "id_token_hint=\(try #require(tokens.id))&state=a+b&post_logout_redirect_uri="
            let reply = try await server.send(
                .get, "\(TestServer.oauth)/connect/endSession?\(query)\("https://app.example.test/bye".percentEncoded())",
                headers: [:])
            #expect(reply.status == 302, "\(reply.text)")
            #expect(try reply.location["state"] == "a b")
        }
    }
}
