import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("User registration")
struct RegistrationTests {
    /// Fills in the whole page.
    private func filled(_ step: JourneyStep, name: String = "newcomer", mail: JSONValue = "new@example.test") throws
        -> JourneyStep
    {
        var step = step
        try step.fill("ValidatedCreateUsernameCallback", "", .string(name))
        try step.fill("ValidatedCreatePasswordCallback", "", "Passw0rd!")
        let texts = step.callbacks.indices.filter { step.callbacks[$0].type == "StringAttributeInputCallback" }
        step.callbacks[texts[0]].answer("New")
        step.callbacks[texts[1]].answer(mail)
        try step.fill("KbaCreateCallback", "question", "What was your first pet?")
        try step.fill("KbaCreateCallback", "answer", " Rex ")
        step.fill("TermsAndConditionsCallback", .bool(true))
        return step
    }

    @Test("A user who completes the registration page gets an account with claims and a security question")
    func createsUserWithClaimsAndQuestion() async throws {
        try await TestServer.run { server in
            let page = try await server.start("Registration").step
            #expect(page.stage == "Registration")
            #expect(page.header == "Sign Up")
            let reply = try await server.next(try filled(page))
            let session = try #require(reply.json["tokenId"]?.string)
            let tokens = try Tokens(try await server.exchange(try await server.code(session, ["scope": "openid email"])))
            #expect(try await server.userInfo(tokens.access).json["email"] == "new@example.test")
            #expect(try await server.logIn("Login", name: "newcomer", password: "Passw0rd!").json["tokenId"] != nil)

            var step = try await server.logIn("QuestionLogin", name: "newcomer", password: "Passw0rd!").step
            #expect(step.callbacks[0].output("prompt") == "What was your first pet?")
            step.fill("PasswordCallback", "Tom")
            step = try await server.next(step).step
            step.fill("PasswordCallback", "REX")
            #expect(try await server.next(step).json["tokenId"] != nil)
        }
    }

    @Test(
        "A blank security answer is asked for again, so that none is stored",
        arguments: ["", " ", "\t \n", "\u{A0}", "\u{3000}", "\u{200B}\u{2060}", "\0"])
    func asksAgainForBlankSecurityAnswer(answer: String) async throws {
        try await TestServer.run { server in
            var step = try filled(try await server.start("Registration").step)
            try step.fill("KbaCreateCallback", "answer", .string(answer))
            let again = try await server.next(step).step
            #expect(again.callback("KbaCreateCallback") != nil)
            #expect(try await server.next(try filled(again)).json["tokenId"] != nil)
            var login = try await server.logIn("QuestionLogin", name: "newcomer", password: "Passw0rd!").step
            login.fill("PasswordCallback", .string(answer))
            #expect(try await server.next(login).json["tokenId"] == nil)
        }
    }

    @Test(
        "A required attribute of spaces or invisible characters is asked for again", arguments: [" ", "\t", "\u{A0}", "\u{200B}"])
    func asksAgainForBlankAttribute(value: String) async throws {
        try await TestServer.run { server in
            var step = try filled(try await server.start("Registration").step)
            let found = step.callbacks.firstIndex { $0.output("name") == "givenName" }
            let index = try #require(found)
            step.callbacks[index].answer(.string(value))
            step = try await server.next(step).step
            let failures = step.callbacks[index].output("failedPolicies")?.array?.compactMap(\.string) ?? []
            #expect(failures.contains("{\"policyRequirement\":\"REQUIRED\"}"))
        }
    }

    @Test("A registration page that is shown again keeps the name and the attributes that were valid, and no password")
    func keepsValidRegistrationInput() async throws {
        try await TestServer.run { server in
            let step = try await server.next(
                try filled(try await server.start("Registration").step, mail: "no address")
            ).step
            let values = step.callbacks.compactMap { $0.output("value") }
            #expect(values == ["newcomer", "New", "no address"])
            #expect(step.callback("ValidatedCreatePasswordCallback")?.input?.first?.value == "")
        }
    }

    @Test("Failed policies are listed as JSON strings, and the other input is kept")
    func listsFailedPolicies() async throws {
        try await TestServer.run { server in
            var step = try filled(try await server.start("Registration").step, name: "mira", mail: "no address")
            try step.fill("ValidatedCreatePasswordCallback", "", "short")
            step = try await server.next(step).step
            let name = try #require(step.callback("ValidatedCreateUsernameCallback"))
            #expect(name.output("failedPolicies") == .array(["{\"policyRequirement\":\"UNIQUE\"}"]))
            #expect(name.output("value") == "mira")
            #expect(name.output("policies")?["name"] == "userName")
            let password = try #require(step.callback("ValidatedCreatePasswordCallback"))
            #expect(
                password.output("failedPolicies")
                    == .array([
                        "{\"params\":{\"minLength\":8},\"policyRequirement\":\"MIN_LENGTH\"}",
                        "{\"params\":{\"numCaps\":1},\"policyRequirement\":\"AT_LEAST_X_CAPITAL_LETTERS\"}",
                        "{\"params\":{\"numNums\":1},\"policyRequirement\":\"AT_LEAST_X_NUMBERS\"}",
                    ]))
            #expect(password.output("value") == nil && password.input?.first?.value == "")
            let mailCallback = step.callbacks.first { $0.output("name") == "mail" }
            let mail = try #require(mailCallback)
            #expect(mail.output("failedPolicies") == .array(["{\"policyRequirement\":\"VALID_EMAIL_ADDRESS_FORMAT\"}"]))
            #expect(mail.output("required") == .bool(true))
            #expect(try await server.next(try filled(step)).json["tokenId"] != nil)
        }
    }

    @Test("With validateOnly set, valid input is checked but creates no user", arguments: [JSONValue.bool(true), "true"])
    func validateOnlyCreatesNoUser(flag: JSONValue) async throws {
        try await TestServer.run { server in
            var step = try filled(try await server.start("Registration").step)
            try step.fill("ValidatedCreateUsernameCallback", "validateOnly", flag)
            step = try await server.next(step).step
            let name = try #require(step.callback("ValidatedCreateUsernameCallback"))
            #expect(name.output("failedPolicies") == .array([]))
            #expect(name.output("validateOnly") == .bool(true))
            let isTaken = try await server.devServer.context.store.read { tx in
                try tx.directory.contains(UserKey(realm: .root, name: "newcomer"))
            }
            #expect(!isTaken)
            step = try filled(step)
            try step.fill("ValidatedCreateUsernameCallback", "validateOnly", .bool(false))
            #expect(try await server.next(step).json["tokenId"] != nil)
        }
    }

    @Test("Of many concurrent registrations with one user name, one succeeds")
    func registersNameOnce() async throws {
        try await TestServer.run { server in
            let replies = try await TokenTests.many(20) {
                try await server.next(try filled(try await server.start("Registration").step))
            }
            let granted = replies.filter { $0.json["tokenId"] != nil }
            #expect(granted.count == 1)
            let refused = replies.filter { $0.status != 200 }
            #expect(refused.isEmpty)
        }
    }

    @Test("A user name that was taken after its check is a policy failure")
    func takenNameIsPolicyFailure() throws {
        var server = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        var journey = JourneyState.sample()
        journey.username = "mira"
        journey.password = Secret("x".utf8)
        let action = try CreateObjectNode().process(nil, &journey, &server)
        guard case .refuse(let refusal) = action else {
            Issue.record("unexpected result: \(action)")
            return
        }
        #expect(refusal == .policyFailure("userName", [.unique]))
        #expect(journey.password == nil)
        let isUnchanged = try server.directory.accepts(Secret(TestServer.password.utf8), of: UserKey(realm: .root, name: "mira"))
        #expect(isUnchanged)
    }

    @Test(
        "An attribute of another type, or out of range, is asked for again",
        arguments: [
            ("NumberAttributeInputCallback", JSONValue.integer(17), "MINIMUM_NUMBER_VALUE"),
            ("NumberAttributeInputCallback", .number(120.5), "MAXIMUM_NUMBER_VALUE"),
            ("NumberAttributeInputCallback", "many", "VALID_TYPE"), ("StringAttributeInputCallback", .bool(true), "VALID_TYPE"),
            ("StringAttributeInputCallback", "", "REQUIRED"),
            ("StringAttributeInputCallback", "a@b", "VALID_EMAIL_ADDRESS_FORMAT"),
            ("BooleanAttributeInputCallback", .null, "VALID_TYPE"),
        ])
    func asksAgainForInvalidAttribute(type: String, value: JSONValue, failure: String) async throws {
        try await TestServer.run { server in
            var step = try await server.logIn(type).step
            step.fill(type, value)
            step = try await server.next(step).step
            let failures = try #require(step.callback(type)?.output("failedPolicies")?.array)
            #expect(failures.count == 1)
            let failed = try JSON.value(of: try #require(failures.first?.string).utf8)
            #expect(failed["policyRequirement"] == .string(failure))
        }
    }

    @Test("A number attribute may be sent as a string", arguments: [JSONValue.integer(18), .number(42.5), "42", "42.0"])
    func acceptsNumberAsString(value: JSONValue) async throws {
        try await TestServer.run { server in
            var step = try await server.logIn("NumberAttributeInputCallback").step
            step.fill("NumberAttributeInputCallback", value)
            let reply = try await server.next(step)
            #expect(reply.json["tokenId"] != nil)
        }
    }

    @Test("Patch Object sets a new password, but not one that a Data Store Decision has compared", arguments: [true, false])
    func patchObjectSetsNewPassword(isCompared: Bool) async throws {
        let journeys = """
            J:
              nodes:
                name: {type: UsernameCollectorNode, outcomes: {outcome: password}}
                password: {type: ValidatedPasswordNode, outcomes: {outcome: \(isCompared ? "compare" : "save")}}
                \(isCompared ? "compare: {type: DataStoreDecisionNode, outcomes: {true: failure, false: save}}" : "")
                save: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            for (name, isThere) in [("mira", true), ("nobody", false)] {
                var step = try await server.start("J").step
                step.fill("NameCallback", .string(name))
                step = try await server.next(step).step
                step.fill("PasswordCallback", "new horse")
                #expect(try await server.next(step).isLoggedIn == isThere)
                #expect(try await server.logIn("Login", name: name, password: "new horse").isLoggedIn == (isThere && !isCompared))
                #expect(try await server.logIn("Login", name: name).isLoggedIn == (isThere && isCompared))
            }
        }
    }
}
