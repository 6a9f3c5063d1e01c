import SignetCore
import TestSupport
import Testing
import YAMLText

@testable import SignetServer

@Suite("The report of imported journeys")
struct ImportFindingTests {
    private static let ends = ["true": ExportFixtures.success, "false": ExportFixtures.failure]

    /// A node with a setting or an outcome that is different here, the severity, and a part of the text.
    static let differences: [(String, [String: JSONValue], [String: String], ImportFinding.Severity, String)] = [
        ("DataStoreDecisionNode", ["shine": .bool(true)], ends, .note, "`shine`: the setting has no effect"),
        ("MessageNode", ["messageType": "LOUD"], ends, .warning, "`messageType`: left out"),
        ("MessageNode", ["message": .object(["?": "Bonjour"])], ends, .warning, "`message`: left out"),
        (
            "DeviceMatchNode", ["useScript": .bool(true)], ends.merging(["unknownDevice": ExportFixtures.failure]) { $1 },
            .warning,
            "the script of the node does not run"
        ),
        ("DataStoreDecisionNode", [:], ["true": ExportFixtures.success], .warning, "no target for the outcome `false`"),
        (
            "DataStoreDecisionNode", [:], ends.merging(["maybe": ExportFixtures.failure]) { $1 }, .note,
            "never has the outcome `maybe`"
        ),
    ]

    @Test("A setting or an outcome that is different here is reported, and the node runs", arguments: differences)
    func reportsImportedDifference(
        type: String, settings: [String: JSONValue], targets: [String: String], severity: ImportFinding.Severity, text: String
    ) throws {
        let imported = try ExportFixtures.imported(ExportFixtures.journey("J", ["1": (type, "It", settings, targets)]))
        #expect(imported.findings.map(\.severity) == [severity])
        #expect(imported.findings.first?.text.contains(text) == true, "\(imported.findings)")
        #expect(imported.summaries.first?.stubs == [])
    }

    @Test("A number or a Boolean value in quotes is taken as what it says")
    func readsQuotedNumber() throws {
        let settings: [String: JSONValue] = ["retryLimit": "7"]
        let targets = ["Retry": ExportFixtures.success, "Reject": ExportFixtures.failure]
        let imported = try ExportFixtures.imported(
            ExportFixtures.journey("J", ["1": ("RetryLimitDecisionNode", "Tries", settings, targets)]))
        #expect(imported.findings == [] && imported.yaml.contains("retryLimit: 7"))
    }

    @Test("A node that no connection leads to is left out, and a disabled journey runs inside of others only")
    func reportsUnreachableNodeAndDisabledJourney() throws {
        let journey = ExportFixtures.journey(
            "J",
            [
                "1": ("DataStoreDecisionNode", "Store", [:], Self.ends),
                "2": ("MessageNode", "Lost", [:], Self.ends),
            ], members: ["enabled": .bool(false)])
        let imported = try ExportFixtures.imported(journey)
        #expect(imported.journeys.first?.nodes.map(\.name) == ["store"] && imported.summaries.first?.isInner == true)
        let texts = imported.findings.map(\.text).joined()
        #expect(texts.contains("node `Lost`") && texts.contains("AM does not run the journey"))
    }

    @Test("The same journey in two files is read once, and another one of its name is left out")
    func readsJourneyOnce() throws {
        let journey = ExportFixtures.journey("J", ["1": ("DataStoreDecisionNode", "Store", [:], Self.ends)])
        #expect(try ExportFixtures.imported(journey, journey).findings == [])
        let other = ExportFixtures.journey("J", ["1": ("MessageNode", "Ask", [:], Self.ends)])
        let imported = try ExportFixtures.imported(journey, other)
        #expect(imported.summaries.count == 1)
        #expect(imported.findings.map(\.file) == ["1.json"])
        #expect(imported.findings.first?.text.contains("0.json has another journey of this name") == true)
    }

    @Test("Texts by language are kept, with the tags of Java too")
    func keepsTextsByLanguage() throws {
        let texts: JSONValue = .object(["fr": "Bonjour", "de_AT": "Servus"])
        let imported = try ExportFixtures.imported(
            ExportFixtures.journey("J", ["1": ("MessageNode", "Ask", ["message": texts], Self.ends)]))
        #expect(imported.findings == [])
        let message = try #require(imported.journeys.first?.nodes.first).settings.first { $0.name == "message" }
        #expect(message?.value.json == texts)
    }

    @Test("A page with a theme and markup in its stage keeps it")
    func keepsStage() throws {
        let stage = #"{"themeId":"1","submitButtonText":{"en":"Go"}}"#
        let parts = JSONValue.array([.object(["_id": "p", "nodeType": "UsernameCollectorNode", "_properties": .object([:])])])
        let imported = try ExportFixtures.imported(
            ExportFixtures.journey(
                "J",
                ["1": ("PageNode", "Page Node", ["nodes": parts, "stage": .string(stage)], ["outcome": ExportFixtures.success])]))
        let page = try #require(imported.journeys.first?.nodes.first)
        let kept = page.settings.first { $0.name == "stage" }?.value.text
        #expect(kept == stage)
    }

    /// Names in AM's editor, and the names that the nodes get.
    static let names: [([(String, String)], [String])] = [
        ([("Retry Limit Decision", "RetryLimitDecisionNode")], ["retryLimitDecision"]),
        ([("Page Node", "PageNode"), ("Page Node", "PageNode"), ("page", "PageNode")], ["page", "page2", "page3"]),
        ([("KBA Definition", "KbaCreateNode"), ("", "KbaCreateNode")], ["kbaDefinition", "kbaCreateNode"]),
        ([("success", "SuccessNode"), ("Failure", "FailureNode")], ["successNode", "failureNode"]),
        ([("2nd factor", "X"), ("!!", "!!")], ["node2ndFactor", "node"]),
        ([("Prüfung: OTP?", "X")], ["prüfungOTP"]),
    ]

    @Test("A node gets a readable name that is unique in its journey", arguments: names)
    func namesNodes(nodes: [(String, String)], names: [String]) {
        var namer = NodeNames()
        let given = nodes.map { namer.name($0.0, type: $0.1) }
        #expect(given == names)
    }
}
