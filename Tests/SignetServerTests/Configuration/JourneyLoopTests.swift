import SignetCore
import Testing

@testable import SignetServer

@Suite("Nodes whose outcome leads back to themselves")
struct JourneyLoopTests {
    /// Returns the problems of a journey that asks for the name and continues at the node `node`.
    private func problems(_ node: String) -> [ConfigurationProblem] {
        do throws(ConfigurationError) {
            _ = try ServerConfiguration(
                yaml: """
                    journeys:
                      J:
                        nodes:
                          name: {type: UsernameCollectorNode, outcomes: {outcome: node}}
                          node: \(node)
                    """)
            return []
        } catch {
            return error.problems
        }
    }

    @Test(
        "A node that decides the same again must not lead to itself",
        arguments: [
            "{type: DataStoreDecisionNode, outcomes: {true: success, false: node}}",
            "{type: ScriptedDecisionNode, table: [{when: {username: mira}, outcome: known}], outcomes: {known: success, outcome: node}}",
            "{type: ScriptedDecisionNode, table: [{when: {username: mira}, outcome: known}], outcomes: {known: success, default: node}}",
            "{type: KbaDecisionNode, outcomes: {true: success, false: node}}",
            "{type: TermsAndConditionsDecisionNode, outcomes: {true: success, false: node}}",
            "{type: DeviceMatchNode, outcomes: {true: success, false: failure, unknownDevice: node}}",
            "{type: PushResultVerifierNode, outcomes: {TRUE: success, FALSE: failure, EXPIRED: failure, WAITING: node}}",
        ])
    func reportsRepeatedDecision(node: String) {
        let found = problems(node)
        #expect(found.map(\.code) == [.infiniteLoop])
        #expect(found.first?.message.contains("leads back to the node") == true)
    }

    @Test(
        "A node that asks the user, or that changes what it decides by, may lead to itself",
        arguments: [
            "{type: RetryLimitDecisionNode, outcomes: {Retry: node, Reject: failure}}",
            "{type: MessageNode, outcomes: {true: success, false: node}}",
            "{type: ScriptedDecisionNode, callbacks: [{type: TextInputCallback, output: {prompt: x}, input: {\"\": \"\"}}], table: [{when: {answer: x}, outcome: known}], outcomes: {known: success, outcome: node}}",
        ])
    func acceptsLoopThatCanEnd(node: String) {
        #expect(problems(node) == [])
    }

    @Test("A node with only loops is reported once")
    func reportsEndlessNodeOnce() {
        let found = problems("{type: KbaDecisionNode, outcomes: {default: node}}")
        #expect(found.map(\.code) == [.infiniteLoop])
    }
}
