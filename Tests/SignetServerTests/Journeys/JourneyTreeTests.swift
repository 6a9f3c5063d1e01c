import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension NodeResult {
    var outcome: NodeOutcome? { if case .transition(let outcome) = self { outcome } else { nil } }
}

extension RequestTime {
    static func sample() -> RequestTime {
        RequestTime(now: ManualClock().now, configuration: ServerConfiguration.sample(), baseURL: "http://127.0.0.1:8080/am")
    }
}

extension JourneyState {
    static func sample() -> JourneyState {
        JourneyState(
            id: "id", realm: .root, tree: "tree", indexType: "service", expiresAt: ManualClock().now.addingTimeInterval(300),
            userAgent: nil, noSession: false, currentNode: NodePath(tree: "tree", nodeID: "node"))
    }
}

@Suite("Journey trees")
struct JourneyTreeTests {
    private func begin(_ nodes: [String: JourneyNode], entry: String = "a") throws -> JourneyReply {
        var server = ServerTransaction(
            users: ServerConfiguration.sample().users, trees: [JourneyTree("T", entry: entry, nodes: nodes)])
        return try server.begin(JourneyStart(realm: .root, tree: "T", indexType: "service", noSession: false)).get()
    }

    @Test("A tree without nodes, with an endless loop or with a missing target fails the login with an API error")
    func brokenTreeFailsLogin() {
        let retry = RetryLimitDecisionNode(limit: .max)
        #expect(throws: APIError.self) { try begin([:]) }
        #expect(throws: APIError.self) { try begin(["a": JourneyNode(retry, [.retry: .node("a")])]) }
        #expect(throws: APIError.self) { try begin(["a": JourneyNode(retry, [.retry: .node("b")])]) }
        #expect(throws: APIError.self) { try begin(["a": JourneyNode(retry, [:])]) }
    }

    @Test("The reason of a login that failed in a loop, or at a missing node, says so in the log")
    func reasonOfBrokenTreeNamesLoop() {
        let retry = JourneyNode(RetryLimitDecisionNode(limit: .max), [.retry: .node("a")])
        let loop = #expect(throws: APIError.self) { try begin(["a": retry]) }
        #expect(loop?.reason == "T: 100 nodes ran without asking the user: the journey contains a loop")
        let missing = #expect(throws: APIError.self) { try begin(["b": retry]) }
        #expect(missing?.reason == "T: the journey T has no node a")
    }

    @Test("A tree that contains itself, or an unknown tree, fails the login with an API error")
    func recursiveTreeFailsLogin() {
        let inner = JourneyNode(InnerTreeEvaluatorNode(tree: "T"), [.isTrue: .success, .isFalse: .failure])
        #expect(throws: APIError.self) { try begin(["a": inner]) }
        let none = JourneyNode(InnerTreeEvaluatorNode(tree: "nowhere"), [.isTrue: .success, .isFalse: .failure])
        #expect(throws: APIError.self) { try begin(["a": none]) }
    }

    @Test("A tree that reaches success without a user fails the login")
    func successWithoutUserFailsLogin() {
        #expect(throws: APIError.self) { try begin(["a": JourneyNode(RetryLimitDecisionNode(limit: 9), [.retry: .success])]) }
    }

    @Test("Collector nodes work without a page node")
    func collectorsWorkWithoutPage() throws {
        var server = ServerTransaction(
            users: ServerConfiguration.sample().users,
            trees: [
                JourneyTree(
                    "T", entry: "name",
                    nodes: [
                        "name": JourneyNode(UsernameCollector(), [.outcome: .node("password")]),
                        "password": JourneyNode(PasswordCollector(), [.outcome: .node("check")]),
                        "check": JourneyNode(DataStoreDecisionNode(), [.isTrue: .success, .isFalse: .failure]),
                    ])
            ])
        var reply = try server.begin(JourneyStart(realm: .root, tree: "T", indexType: "service", noSession: false)).get()
        for value in ["mira", TestServer.password] {
            guard case .step(var step) = reply else { throw Unexpected() }
            #expect(step.callbacks.count == 1)
            step.callbacks[0].answer(.string(value))
            let callbacks = try JSON.value(of: JSON.encode(step.callbacks))
            reply = try server.proceed(
                JourneyContinuation(realm: .root, authID: step.authId, callbacks: callbacks, noSession: false)
            ).get()
        }
        guard case .loggedIn(let user, "T", .some, _) = reply else { throw Unexpected() }
        #expect(user.name == "mira")
    }

    struct Unexpected: Error {}

    @Test("The password is removed from the journey's state once it was compared")
    func removesComparedPassword() throws {
        var server = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        var journey = JourneyState.sample()
        journey.username = "mira"
        journey.password = Secret(TestServer.password.utf8)
        let action = try DataStoreDecisionNode().process(nil, &journey, &server)
        #expect(action.outcome == .isTrue)
        #expect(journey.password == nil)
    }

    @Test("Abandoned journeys are removed from the store")
    func removesAbandonedJourneys() throws {
        let constants = TransactionConstants(
            users: [], clients: ClientRegistry([]), trees: Journeys.starter.trees.byName, key: Secret.random(byteCount: 32))
        let (rows, clock) = (TestRows(), ManualClock())
        let start = JourneyStart(realm: .root, indexType: "service", noSession: false)
        for _ in 0..<2000 {
            clock.advance(by: 1)
            let time = RequestTime(now: clock.now, configuration: ServerConfiguration(), baseURL: "")
            try rows.transact(at: clock.now) { transaction in
                var server = ServerTransaction(constants, transaction, time)
                _ = try server.begin(start).get()
            }
        }
        #expect(try rows.count(.journey) < 1000)
    }
}
