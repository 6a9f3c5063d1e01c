import SignetCore
import Testing

@testable import SignetServer

@Suite("Problems in the settings of nodes")
struct NodeProblemTests {
    /// The settings of a node, its outcomes, and the problems at the lines and columns of the file.
    static let nodes: [(settings: String, outcomes: String, problems: [String])] = [
        ("QueryFilterDecisionNode, queryFilter: \"/mail xx 1\"", "true: success, false: failure", ["4:55 invalidValue"]),
        ("QueryFilterDecisionNode", "true: success, false: failure", ["4:10 missingSetting"]),
        (
            "LoginCountDecisionNode, interval: SOMETIMES, amount: 0", "true: success, false: failure",
            ["4:51 invalidValue", "4:70 invalidValue"]
        ),
        (
            "AttributeValueDecisionNode, comparisonOperation: EQUALS, comparisonAttribute: mail", "true: success, false: failure",
            ["4:10 missingSetting"]
        ),
        ("AttributeValueDecisionNode", "true: success, false: failure", ["4:10 missingSetting"]),
        ("OneTimePasswordGeneratorNode, length: 4", "outcome: success", ["4:55 invalidValue"]),
        (
            "OneTimePasswordCollectorDecisionNode, passwordExpiryTime: soon", "true: success, false: failure",
            ["4:75 invalidValue"]
        ),
        (
            "SetPersistentCookieNode, persistentCookieName: \"a b\", maxLife: 0", "outcome: success",
            ["4:64 invalidValue", "4:80 invalidValue"]
        ),
        ("PersistentCookieDecisionNode, enforceClientIp: maybe", "true: success, false: failure", ["4:64 invalidValue"]),
        ("ZeroPageLoginNode, referrerWhiteList: none", "true: success, false: failure", ["4:55 wrongType"]),
        ("CreatePasswordNode, minPasswordLength: -1", "outcome: success", ["4:56 invalidValue"]),
        ("SelectIdPNode, includeLocalAuthentication: false", "", ["4:60 missingSetting"]),
        (
            "IdentityStoreDecisionNode, minimumPasswordLength: 8", "TRUE: success, FALSE: failure, LOCKED: failure",
            ["4:44 unknownSetting"]
        ),
        ("LdapDecisionNode", "TRUE: success, FALSE: failure", ["4:7 missingTarget"]),
        ("ScriptedDecisionNode, script: \"outcome = 1\", table: []", "yes: success", ["4:69 conflict"]),
        ("ScriptedDecisionNode, script: [a]", "outcome: success", ["4:47 wrongType"]),
    ]

    @Test("A wrong setting of a node is reported with its position", arguments: nodes)
    func reportsWrongSetting(settings: String, outcomes: String, problems: [String]) {
        let file = "journeys:\n  J:\n    nodes:\n      a: {type: \(settings), outcomes: {\(outcomes)}}\n"
        var found: [String] = []
        do {
            _ = try ServerConfiguration(yaml: file)
        } catch {
            found = error.problems.map { "\($0.position) \($0.code.rawValue)" }
        }
        #expect(found == problems)
    }
}
