import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing
import YAMLText

@testable import SignetServer

@Suite("Journeys of an AM server")
struct JourneyImportTests {
    private static let six = [
        "ForgottenUsername", "Login", "ProgressiveProfile", "Registration", "ResetPassword", "UpdatePassword",
    ]

    @Test(
        "The files of frodo and Amster and the answers of AM's REST are read",
        arguments: [("aic", six), ("amster", ["Staff"]), ("rest", ["Guests"])])
    func readsEachForm(name: String, journeys: [String]) throws {
        let imported = try JourneyImport(at: ExportFixtures.path(name))
        #expect(imported.summaries.map(\.name) == journeys)
    }

    @Test("Each of the six journeys of a new PingOne AIC realm runs, and its nodes have readable names")
    func readsDefaultJourneys() throws {
        let imported = try JourneyImport(at: ExportFixtures.path("aic"))
        let stubs = imported.summaries.flatMap(\.stubs)
        #expect(stubs == [], "\(imported.findings)")
        let login = imported.journeys.first { $0.name == "Login" }
        let names = try #require(login).nodes.map(\.name)
        let expected = [
            "page", "identityStoreDecision", "retryLimitDecision", "incrementLoginCount", "accountLockout", "innerTreeEvaluator",
        ]
        #expect(names.first == "page" && Set(names) == Set(expected))
        let ignored = imported.findings.filter { $0.journey == nil }.map(\.text).joined()
        #expect(ignored.contains("theme `Harbor Theme`") && ignored.contains("email template `registration`"))
    }

    @Test(
        "The imported default journeys log a user in",
        arguments: ["Login", "Registration", "ResetPassword", "ForgottenUsername"])
    func runsDefaultJourney(name: String) async throws {
        let run = JourneyRun()
        try await run.withServer(try JourneyImport(at: ExportFixtures.path("aic"))) { server in
            let end = try await run.end(of: name, at: server)
            #expect(end.token != nil, "\(end)")
        }
    }

    @Test("The imported UpdatePassword sets a new password of the user of the session")
    func runsUpdatePassword() async throws {
        let run = JourneyRun()
        try await run.withServer(try JourneyImport(at: ExportFixtures.path("aic"))) { server in
            let login = try await run.end(of: "Login", at: server)
            let token = try #require(login.token)
            let end = try await run.end(of: "UpdatePassword", at: server, token: token)
            #expect(end.token != nil, "\(end)")
        }
    }

    @Test("The imported ProgressiveProfile asks for preferences at the third login")
    func runsProgressiveProfile() async throws {
        let run = JourneyRun()
        try await run.withServer(try JourneyImport(at: ExportFixtures.path("aic"))) { server in
            var pages: [[String]] = []
            for _ in 0..<3 {
                var step = try await server.start("Login").step
                step.fill("NameCallback", .string(JourneyRun.name))
                step.fill("PasswordCallback", .string(JourneyRun.password))
                let reply = try await server.next(step)
                pages.append(reply.isLoggedIn ? [] : try reply.step.callbacks.map(\.type))
            }
            #expect(pages == [[], [], ["BooleanAttributeInputCallback", "BooleanAttributeInputCallback"]])
        }
    }

    @Test("An imported script decides", arguments: [("mira", true), ("noa", false)])
    func runsImportedScript(name: String, succeeds: Bool) async throws {
        let imported = try JourneyImport(at: ExportFixtures.path("amster"))
        var configuration = try ServerConfiguration(importing: imported)
        configuration.users = ["mira", "noa"].map { User(name: $0, password: Secret("pass".utf8)) }
        try await TestServer.run(configuration) { server in
            let reply = try await server.logIn("Staff", name: name, password: "pass")
            #expect(reply.isLoggedIn == succeeds)
        }
    }

    /// The member `script` of a script, the file with its source, and true when that file is read.
    static let scriptFiles: [(String, String, Bool)] = [
        ("\"file://a.script.js\"", "realm/script/a.script.js", true),
        ("{\"file\": \"content/a.js\"}", "realm/content/a.js", true),
        ("[\"outcome =\", \"'yes';\"]", "none", true),
        ("\"outcome = 'yes';\"", "none", true),
        ("\"\\\"outcome = 'yes';\\\"\"", "none", true),
        ("\"file://../../../outside.js\"", "outside.js", false),
        ("\"file:///etc/hostname\"", "none", false),
        ("{\"file\": \"../../outside.js\"}", "outside.js", false),
        ("\"file://gone.js\"", "none", false),
    ]

    @Test("A script is read in each form that the tools write, and no file outside of the export", arguments: scriptFiles)
    func readsScriptFile(script: String, file: String, isRead: Bool) async throws {
        let journey = ExportFixtures.journey(
            "J",
            [
                "1": (
                    "ScriptedDecisionNode", "Decide", ["script": "s", "outcomes": .array(["yes"])],
                    ["yes": ExportFixtures.success]
                )
            ])
        let document = #"{"script": {"s": {"_id": "s", "name": "A", "language": "JAVASCRIPT", "script": SOURCE}}}"#
        // `fr-config-manager` has a file for each script.
        let single = #"{"_id": "s", "name": "A", "language": "JAVASCRIPT", "script": SOURCE}"#
        let text = (script.hasPrefix("{") ? single : document).replacing("SOURCE", with: script)
        let files = ["in/realm/journey/J.json": JSON.text(of: journey), "in/realm/script/s.json": text]
        try await ExportFixtures.with(files.merging(["in/\(file)": "outcome = 'yes';", file: "outcome = 'yes';"]) { $1 }) {
            path in
            let imported = try JourneyImport(at: path + "/in")
            #expect(imported.summaries.map(\.stubs) == [isRead ? [] : ["decide"]], "\(imported.findings)")
        }
    }

    /// The member `script` of a script of Amster, and the outcome of the login; nil when the source is not read.
    static let amsterScripts: [(script: JSONValue, isLoggedIn: Bool?)] = [
        (.string(Base64.encode(Array("outcome = 'yes';".utf8), as: .standard)), true),
        ("outcome = 'no';", false), ("file://a.js", true), ("file://../Files/b.js", false),
        ("file://../../../../outside.js", nil), ("file://gone.js", nil),
    ]

    @Test("A script in Amster's form runs with its source in the entity, or in a file of the export", arguments: amsterScripts)
    func runsAmsterScript(script: JSONValue, isLoggedIn: Bool?) async throws {
        let journey = ExportFixtures.journey(
            "J",
            [
                "1": ("UsernameCollectorNode", "Name", [:], ["outcome": "2"]),
                "2": (
                    "ScriptedDecisionNode", "Decide", ["script": "s", "outcomes": .array(["yes", "no"])],
                    ["yes": ExportFixtures.success, "no": ExportFixtures.failure]
                ),
            ])
        // The id is in the metadata only, as in files of old versions.
        let entity = JSONValue.object([
            "metadata": .object(["realm": "/", "entityType": "Scripts", "entityId": "s", "pathParams": .object([:])]),
            "data": .object(["name": "A", "language": "JAVASCRIPT", "script": script]),
        ])
        let files = [
            "in/J.json": JSON.text(of: journey), "in/realms/root/Scripts/s.json": JSON.text(of: entity),
            "in/realms/root/Scripts/a.js": "outcome = 'yes';", "in/realms/root/Files/b.js": "outcome = 'no';",
            "outside.js": "outcome = 'yes';",
        ]
        try await ExportFixtures.with(files) { path in
            let imported = try JourneyImport(at: path + "/in")
            #expect(imported.summaries.map(\.stubs) == [isLoggedIn == nil ? ["decide"] : []], "\(imported.findings)")
            let run = JourneyRun()
            try await run.withServer(imported) { server in
                let end = try await run.end(of: "J", at: server)
                switch isLoggedIn {
                case true?: #expect(end.token != nil, "\(end)")
                case false?: #expect(end == .failed, "\(end)")
                case nil: #expect(!end.isRegular, "\(end)")
                }
            }
        }
    }

    /// The member `script` of a script, a file in the export, and the reason why its source is not known.
    static let lostScripts: [(String, (name: String, text: String), String)] = [
        ("\"file://gone.js\"", ("a.js", ""), "the file `gone.js` of its script `A` is missing"),
        ("\"file://gone/a.js\"", ("a.js", ""), "the file `gone/a.js` of its script `A` is missing"),
        ("\"file://a.js\"", ("a.js/inner", ""), "the file `a.js` of its script `A` cannot be read as a text file"),
        (
            "\"file://../../../outside.js\"", ("a.js", ""),
            "the file `../../../outside.js` of its script `A` is outside of the export"
        ),
        (
            "\"file://a.js\"", ("a.js", String(repeating: "/", count: (256 << 10) + 1)), "its script `A` is larger than 256 KiB"
        ),
        ("1", ("a.js", ""), "the export does not have the source of its script `A`"),
    ]

    @Test("A script whose source is not known says why: a missing file is not one that cannot be read", arguments: lostScripts)
    func saysWhyScriptIsLost(script: String, file: (name: String, text: String), reason: String) async throws {
        let outcomes = ["yes": ExportFixtures.success]
        let journey = ExportFixtures.journey(
            "J", ["1": ("ScriptedDecisionNode", "Decide", ["script": "s", "outcomes": .array(["yes"])], outcomes)])
        let document = #"{"script": {"s": {"_id": "s", "name": "A", "language": "JAVASCRIPT", "script": SOURCE}}}"#
        let files = [
            "realm/journey/J.json": JSON.text(of: journey), "realm/script/\(file.name)": file.text,
            "realm/script/s.json": document.replacing("SOURCE", with: script),
        ]
        try await ExportFixtures.with(files) { path in
            let texts = try JourneyImport(at: path).findings.filter { $0.severity == .stub }.map(\.text)
            #expect(texts.count == 1 && texts.first?.contains(reason) == true, "\(texts)")
        }
    }

    @Test("A script whose file is a symbolic link cannot be read")
    func refusesLinkedScript() async throws {
        let journey = ExportFixtures.journey(
            "J",
            ["1": ("ScriptedDecisionNode", "Decide", ["script": "s"], ["yes": ExportFixtures.success])])
        let script = #"{"script": {"s": {"_id": "s", "name": "A", "script": "file://link.js"}}}"#
        try await ExportFixtures.with(["J.json": JSON.text(of: journey), "s.json": script, "a.js": "outcome = 'yes'"]) { path in
            try FileManager.default.createSymbolicLink(atPath: "\(path)/link.js", withDestinationPath: "\(path)/a.js")
            let texts = try JourneyImport(at: path).findings.map(\.text).joined()
            #expect(texts.contains("the file `link.js` of its script `A` cannot be read as a text file"), "\(texts)")
        }
    }

    @Test("The printed configuration file has the same journeys, and a server accepts it", arguments: ["aic", "amster", "rest"])
    func printsSameJourneys(name: String) throws {
        let imported = try JourneyImport(at: ExportFixtures.path(name))
        let file = try #require(try YAMLText.value(of: imported.yaml)).json
        let expected = Dictionary(imported.entries.map { ($0.key, $0.value.json) }, uniquingKeysWith: { first, _ in first })
        #expect(file["journeys"] == .object(expected))
        let configuration = try ServerConfiguration(yaml: imported.yaml)
        #expect(configuration.journeys.names.sorted() == imported.summaries.map(\.name))
        #expect(configuration.users.map(\.name) == ["demo"])
    }

    @Test("Imported journeys replace those of a configuration file with the same names, and can run its other journeys")
    func joinsConfigurationFile() throws {
        let file = """
            server: {defaultJourney: Login}
            users: [{name: noa}]
            journeys:
              Login: {nodes: {end: {type: FailureNode}}}
              Profile: {nodes: {end: {type: SuccessNode}}}
            """
        let login = ExportFixtures.journey(
            "Login",
            [
                "1": (
                    "InnerTreeEvaluatorNode", "Profile", ["tree": "Profile"],
                    ["true": ExportFixtures.success, "false": ExportFixtures.failure]
                )
            ])
        var documents = ExportDocuments()
        documents.read(login, at: ExportPlace(file: "login.json"))
        let source = ConfigurationSource(file)
        let imported = JourneyImport(try JourneyExport(documents), besides: source)
        #expect(imported.findings.isEmpty)
        let configuration = try ServerConfiguration(source, environment: [:], usesTLS: false, importing: imported)
        #expect(configuration.journeys.names.sorted() == ["Login", "Profile"] && configuration.users.map(\.name) == ["noa"])
        let tree = configuration.journeys.trees.first { $0.name == "Login" }
        #expect(tree?.nodes.keys.sorted() == ["profile"])
    }
}
