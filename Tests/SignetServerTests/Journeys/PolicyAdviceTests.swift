import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Policy advice with several pairs or values", .timeLimit(.minutes(5)))
struct PolicyAdviceTests {
    private static let journeys = """
        c-script:
          nodes:
            page: {type: PageNode, nodes: [{type: UsernameCollectorNode}], outcomes: {outcome: success}}
        c-ds:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}
        """

    private static func pair(_ type: String, _ values: String..., space: String = "") -> String {
        let all = values.map { "\(space)<Value>\($0)</Value>" }.joined()
        return "\(space)<AttributeValuePair>\(space)<Attribute name=\"\(type)\"\(space)/>\(all)\(space)</AttributeValuePair>"
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pairs: String
        let types: [String]
    }

    private static let login = ["NameCallback", "PasswordCallback"]
    static let advice: [Case] = [
        Case(
            testDescription: "a scheme and ForceAuth",
            pairs: pair("AuthSchemeConditionAdvice", "c-script") + pair("ForceAuth", "true"), types: ["NameCallback"]),
        Case(
            testDescription: "a level and a journey",
            pairs: pair("AuthLevelConditionAdvice", "0") + pair("AuthenticateToServiceConditionAdvice", "/:c-ds"), types: login),
        Case(
            testDescription: "two journeys", pairs: pair("AuthenticateToServiceConditionAdvice", "/:c-script", "/:c-ds"),
            types: ["NameCallback"]),
        Case(
            testDescription: "two journeys of which one exists",
            pairs: pair("AuthenticateToServiceConditionAdvice", "/:nope", "/:c-ds"), types: login),
        Case(
            testDescription: "two journeys of which one is in another realm",
            pairs: pair("AuthenticateToServiceConditionAdvice", "/alpha:c-script", "c-ds"), types: login),
        Case(
            testDescription: "the same type twice",
            pairs: pair("AuthenticateToServiceConditionAdvice", "nope") + pair("AuthenticateToServiceConditionAdvice", "c-ds"),
            types: login),
        Case(
            testDescription: "lines",
            pairs: pair("AuthSchemeConditionAdvice", "c-script", space: "\n ") + pair("ForceAuth", "true", space: "\n"),
            types: ["NameCallback"]),
        Case(testDescription: "a realm", pairs: pair("AuthenticateToRealmConditionAdvice", "/"), types: login),
    ]

    @Test(
        "S7: Advice with several pairs or values starts the journey that it names", arguments: advice,
        ["composite_advice", "composite"])
    func followsAdvice(_ advice: Case, index: String) async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let value = "<Advices>\(advice.pairs)</Advices>".percentEncoded()
            let reply = try await server.authenticate("authIndexType=\(index)&authIndexValue=\(value)")
            #expect(reply.status == 200, "\(reply.json)")
            #expect(reply.types == advice.types)
        }
    }

    @Test("ForceAuth in the advice runs a journey that the session's user has completed", arguments: [true, false])
    func forcesJourney(isForced: Bool) async throws {
        try await TestServer.live(try .sample(journeys: Self.journeys)) { server in
            let token = try #require(try await server.logIn("authIndexType=service&authIndexValue=c-ds").token)
            let pairs =
                Self.pair("AuthenticateToServiceConditionAdvice", "/:c-ds") + Self.pair("ForceAuth", isForced ? "TRUE" : "false")
            let reply = try await server.authenticate(
                "authIndexType=composite_advice&authIndexValue=\("<Advices>\(pairs)</Advices>".percentEncoded())",
                headers: ["iPlanetDirectoryPro": token])
            #expect((reply.token == token) == !isForced)
            #expect((reply.types == Self.login) == isForced)
        }
    }
}
