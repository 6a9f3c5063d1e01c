import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("User names")
struct UserNameTests {
    private static let composed = UserKey(realm: .root, name: "ren\u{E9}")
    private static let decomposed = UserKey(realm: .root, name: "rene\u{301}")

    @Test("User names are compared by bytes, so a canonically equivalent name is another user")
    func comparesNamesByBytes() throws {
        #expect(Self.composed.name == Self.decomposed.name, "Swift compares them as equal")
        #expect(Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed]).count == 2)

        let password = Secret("changeit".utf8)
        var server = ServerTransaction(users: [User(name: Self.composed.name, password: password)], trees: [])
        let results = try [Self.composed, Self.decomposed].map { try server.directory.accepts(password, of: $0) }
        #expect(results == [true, false])
        #expect(try !server.directory.contains(Self.decomposed))
        try server.directory.setLocked(true, Self.composed)
        #expect(try server.directory[Self.composed]?.isLocked == true)
        #expect(try server.directory[Self.decomposed] == nil)
    }

    /// Names that steer a terminal, forge a line of a log, or look like another name.
    static let disguises = [
        "eve\u{1B}]0;owned\u{7}", "eve\u{1B}]52;c;cm0gLXJm\u{7}", "eve\nuser root logged in", "eve\r", "eve\u{9B}2J", "eve\u{0}",
        "\u{202E}toor", "eve\u{2066}x", "mi\u{200B}ra", "mi\u{AD}ra", "mi\u{2060}ra", "mira\u{FEFF}", "mi\u{200D}ra",
        "mira\u{FE0F}",
        "mira\u{E0041}", "eve\u{2028}x",
    ]

    @Test("A name that disguises itself in a terminal or a log cannot be registered", arguments: disguises)
    func refusesDisguisedRegistration(name: String) async throws {
        try await TestServer.run { server in
            var step = try await server.start("Registration").step
            try step.fillRegistration(name, password: "Staple42!")
            step = try await server.next(step).step
            let failures = try #require(step.callback("ValidatedCreateUsernameCallback")?.output("failedPolicies")?.array)
            let names = try failures.map { try JSON.value(of: try #require($0.string).utf8)["policyRequirement"] }
            #expect(names == ["CANNOT_CONTAIN_CHARACTERS"])
            #expect(try await server.person(name) == nil)
        }
    }

    @Test("A journey that does not validate the name refuses a disguised one with AM's policy failure", arguments: disguises)
    func refusesDisguisedNameOfPlainJourney(name: String) async throws {
        let journeys = """
            Plain:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
                  outcomes: {outcome: create}
                create: {type: CreateObjectNode, outcomes: {CREATED: success, FAILURE: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let reply = try await server.logIn("Plain", name: name, password: "Staple42!")
            #expect(reply.status == 403 && reply.message == "Policy validation failed")
            let failed = reply.json["detail"]?["failedPolicyRequirements"]?.array?.first
            #expect(failed?["property"] == "userName")
            #expect(try await server.person(name) == nil)
            #expect(try await server.logIn("Plain", name: "kim", password: "Staple42!").isLoggedIn)
        }
    }

    @Test("The administration API creates no user with a disguised name", arguments: disguises)
    func refusesDisguisedNameOfAdministrator(name: String) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let body = JSONValue.object(["name": .string(name), "password": "p"])
            let reply = try await server.admin(.post, "users", JSON.text(of: body))
            #expect(reply.status == 400)
            #expect(try await server.person(name) == nil)
        }
    }

    @Test(
        "A configuration with a disguised name is refused, and the error shows the name escaped",
        arguments: [
            (#"eve\e]0;owned"#, #"eve\u{1B}]0;owned"#), (#"\u202Etoor"#, #"\u{202E}toor"#), (#"mi\u200Bra"#, #"mi\u{200B}ra"#),
        ])
    func refusesDisguisedNameOfFile(name: String, shown: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try ServerConfiguration(yaml: "users:\n  - {name: \"\(name)\", password: p}\n")
        }
        #expect(error.problems.count == 1)
        let message = try #require(error.problems.first?.message)
        #expect(message.contains("`\(shown)`"))
        #expect(message.isSafeName)
    }

    @Test("S17: A name that is registered with spaces around it is trimmed, and logs in with and without them")
    func trimsRegisteredName() async throws {
        try await TestServer.run { server in
            var step = try await server.start("Registration").step
            try step.fillRegistration(" kim ", password: "Staple42!")
            #expect(try await server.next(step).isLoggedIn)
            #expect(try await server.person("kim") != nil)
            for name in ["kim", " kim", "Kim "] {
                #expect(try await server.logIn("Login", name: name, password: "Staple42!").isLoggedIn, "\(name)")
            }
            // The trimmed name is the one that must be unique.
            step = try await server.start("Registration").step
            try step.fillRegistration("kim  ", password: "Staple42!")
            #expect(try await server.next(step).json["tokenId"] == nil)
        }
    }

    @Test("A name with spaces around it is refused in the file and by the administration API", arguments: [" kim", "kim ", " "])
    func refusesOuterSpaces(name: String) async throws {
        let error = #expect(throws: ConfigurationError.self) {
            try ServerConfiguration(yaml: "users:\n  - {name: \"\(name)\", password: p}\n")
        }
        #expect(error?.problems.first?.message.contains("without spaces at its ends") == true)
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let body = JSONValue.object(["name": .string(name), "password": "p"])
            let reply = try await server.admin(.post, "users", JSON.text(of: body))
            #expect(reply.status == 400)
            #expect(try await server.person(name) == nil)
        }
    }

    @Test("Control characters and direction marks in other shown attributes are a policy failure; joiners are not")
    func refusesDisguisedAttributes() async throws {
        try await TestServer.run { server in
            for (value, isRefused) in [("Eve\u{1B}[2J", true), ("\u{202E}evE", true), ("\u{645}\u{6CC}\u{200C}\u{62E}", false)] {
                var step = try await server.start("Registration").step
                try step.fillRegistration("kim", password: "Staple42!")
                let found = step.callbacks.firstIndex { $0.type == "StringAttributeInputCallback" }
                let index = try #require(found)
                step.callbacks[index].answer(.string(value))
                let reply = try await server.next(step)
                #expect(reply.isLoggedIn == !isRefused)
                guard isRefused else { continue }
                let failed = try reply.step.callbacks[index].output("failedPolicies")
                #expect(failed?.array?.first?.string?.contains("CANNOT_CONTAIN_CHARACTERS") == true)
            }
        }
    }

    @Test(
        "Names in any script, with spaces and punctuation, are accepted",
        arguments: [
            "Ren\u{E9}", "rene\u{301}", "\u{65E5}\u{672C}", "mira@example.test", "o'neil smith", "<script>", "\u{1F600}abc",
        ])
    func acceptsOtherNames(name: String) { #expect(name.isSafeName && name.escapedName == name) }
}
