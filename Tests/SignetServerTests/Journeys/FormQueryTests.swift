import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Queries of the resources below /json", .timeLimit(.minutes(5)))
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
    func decodesPlus(query: String) async throws {
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
}
