import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The configuration reference (docs/reference/configuration.md)", .serialized)
struct ConfigurationDocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let page = root.appending(path: "docs/reference/configuration.md")
    private static let guide = root.appending(path: "docs/guides/server-configuration.md")
    private static let begin =
        "<!-- The nodes, generated from the code: SIGNET_WRITE_DOCS=1 make test TEST_ARGS='--filter ConfigurationDocumentation' -->\n"
    private static let end = "<!-- End of the nodes. -->\n"

    /// Returns the description of a node type on the page: its properties with their defaults, and its outcomes.
    private func section(_ type: NodeType) -> String {
        var decoder = ConfigurationDecoder(nil, subject: nil)
        let node = type.decode(&decoder, NodeContext())
        let properties = decoder.settings.map { "| `\($0.name)` | \($0.kind) | \($0.defaultValue ?? "") |\n" }.joined()
        let table = properties.isEmpty ? "" : "| Property | Value | Default |\n| --- | --- | --- |\n\(properties)\n"
        let outcomes = type.outcomes ?? node.outcomes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let ignored = node.ignoredOutcomes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let ported = ignored.isEmpty ? "" : " A journey from AM can keep \(ignored)."
        let page =
            node is any Collector ? " Can be on a page." : node.interaction == .embeddable ? " Can be the last on a page." : ""
        let unused = type.ignoredSettings.map { "`\($0)`" }.joined(separator: ", ")
        let left = unused.isEmpty ? "" : " Without an effect, and left out by an import: \(unused)."
        return "### \(type.title): `\(type.name)`\n\n\(type.about)\n\n\(table)Outcomes: \(outcomes).\(ported)\(page)\(left)\n\n"
    }

    @Test("The configuration reference describes every node with its properties, defaults and outcomes")
    func nodesAreDescribed() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.firstRange(of: Self.begin)).upperBound
        let stop = try #require(text.firstRange(of: Self.end)).lowerBound
        let expected = "\n" + NodeType.all.map(section).joined()
        if ProcessInfo.processInfo.environment["SIGNET_WRITE_DOCS"] != nil {
            try (text[..<start] + expected + text[stop...]).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(text[start..<stop] == expected)
    }

    private static let beginOfSentences =
        "<!-- The sentences, generated from the code: SIGNET_WRITE_DOCS=1 make test TEST_ARGS='--filter ConfigurationDocumentation' -->\n"
    private static let endOfSentences = "<!-- End of the sentences. -->\n"

    @Test("The configuration reference has every sentence of the pages with its name")
    func sentencesAreListed() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.firstRange(of: Self.beginOfSentences)).upperBound
        let stop = try #require(text.firstRange(of: Self.endOfSentences)).lowerBound
        let rows = PageText.allCases.map { "| `\($0.rawValue)` | \($0.english) |\n" }.joined()
        let expected = "\n| Name | Sentence |\n| --- | --- |\n\(rows)\n"
        if ProcessInfo.processInfo.environment["SIGNET_WRITE_DOCS"] != nil {
            try (text[..<start] + expected + text[stop...]).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(text[start..<stop] == expected)
    }

    @Test("Every example in the configuration reference and in its guide is a valid configuration")
    func documentedExamplesAreValid() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8) + String(contentsOf: Self.guide, encoding: .utf8)
        let examples = text.split(separator: "```yaml\n").dropFirst().map {
            String($0.prefix { _ in true }).components(separatedBy: "```")[0]
        }
        #expect(examples.count >= 3)
        for example in examples {
            do {
                _ = try ServerConfiguration(yaml: example)
            } catch {
                Issue.record("\(error)\n\(example)")
            }
        }
    }

    @Test("The first example of the guide to the configuration file runs the documented step-up")
    func firstExampleRunsStepUp() async throws {
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        let example = text.components(separatedBy: "```yaml\n")[1].components(separatedBy: "```")[0]
        try await TestServer.run(try ServerConfiguration(yaml: example)) { server in
            // A guest logs in with the password alone; staff choose a second factor.
            #expect(try await server.logIn("Login", name: "guest", password: "changeit").isLoggedIn)
            var step = try await server.logIn("Login", name: "mira", password: "correct horse").step
            #expect(step.callbacks[0].output("choices") == .array(["code", "push"]))
            step.fill("ChoiceCallback", .integer(0))
            let register = try await server.next(step).step
            let settings = try #require(EnrollmentURI.parse(try register.registrationURI).oath)
            var code = try await server.next(register).step
            code.fill("NameCallback", .string(settings.code(at: server.clock.now).digits))
            let done = try await server.next(code)
            #expect(done.isLoggedIn)
            let headers = ["iPlanetDirectoryPro": try #require(done.json["tokenId"]?.string), "Content-Type": "application/json"]
            let session = try await server.send(
                .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}")
            #expect(session.json["properties"]?["level"] == "2")
        }
    }
}
