import FRAuth
import SignetCore
import SignetTesting
import Testing

/// Journeys as the ForgeRock SDK's documentation and tests run them, against a server that sends the same callbacks.
@Suite("Journeys with each kind of callback")
struct CallbackJourneyTests {
    private func callback(_ type: String, _ number: Int, _ output: String = "", value: String = #""""#) -> String {
        #"{"type":"\#(type)","output":[\#(output)],"input":[{"name":"IDToken\#(number)","value":\#(value)}],"_id":\#(number)}"#
    }

    private func output(_ name: String, _ value: String) -> String { #"{"name":"\#(name)","value":\#(value)}"# }

    private var login: String {
        [
            callback("NameCallback", 1, output("prompt", #""User Name""#)),
            callback("PasswordCallback", 2, output("prompt", #""Password""#)),
        ].joined(separator: ",")
    }

    private func enterLogin(_ node: Node) {
        for callback in node.callbacks {
            if callback is NameCallback, let name = callback as? NameCallback { name.setValue("demo") }
            if callback is PasswordCallback, let password = callback as? PasswordCallback { password.setValue("secret") }
        }
    }

    @Test("A second factor is chosen, and the one-time code is sent")
    func choosesSecondFactor() async throws {
        let choice = callback(
            "ChoiceCallback", 1,
            [
                output("prompt", #""Second Factor""#), output("choices", #"["email","sms"]"#), output("defaultChoice", "1"),
            ].joined(separator: ","), value: "0")
        let journey = try ScriptedSteps(login, choice, callback("PasswordCallback", 1, output("prompt", #""Code""#)))
        let first = try await journey.start()
        enterLogin(first)
        let second = try await journey.next(after: first)
        #expect(inputs(of: try journey.lastBody) == [.string("demo"), .string("secret")])
        let factor = try #require(second.callbacks.first as? ChoiceCallback)
        #expect(factor.choices == ["email", "sms"] && factor.defaultChoice == 1 && factor.prompt == "Second Factor")
        factor.setValue(factor.defaultChoice)
        let third = try await journey.next(after: second)
        #expect(inputs(of: try journey.lastBody) == [.integer(1)])
        let code = try #require(third.callbacks.first as? PasswordCallback)
        code.setValue("123456")
        #expect(inputs(of: try await journey.finish(third)) == [.string("123456")])
    }

    @Test("The answers to security questions are found by the prompt")
    func answersSecurityQuestions() async throws {
        let platform = [
            callback("ValidatedCreateUsernameCallback", 1, output("prompt", #""Username""#)),
            callback("ValidatedCreatePasswordCallback", 2, output("prompt", #""Password""#)),
        ].joined(separator: ",")
        let questions = ["Color?", "Employer?"].enumerated().map {
            callback("PasswordCallback", $0 + 1, output("prompt", #""\#($1)""#))
        }
        let journey = try ScriptedSteps(platform, questions.joined(separator: ","))
        let first = try await journey.start()
        (first.callbacks[0] as? ValidatedCreateUsernameCallback)?.setValue("demo")
        (first.callbacks[1] as? ValidatedCreatePasswordCallback)?.setValue("secret")
        let second = try await journey.next(after: first)
        #expect(inputs(of: try journey.lastBody) == [.string("demo"), .string("secret")])
        let answers = ["Color?": "red", "Employer?": "none"]
        for case let callback as PasswordCallback in second.callbacks {
            if let prompt = callback.prompt, let answer = answers[prompt] { callback.setValue(answer) }
        }
        #expect(inputs(of: try await journey.finish(second)) == [.string("red"), .string("none")])
    }

    @Test("A registration sends the attributes, the questions and the agreement")
    func registersUser() async throws {
        let attributes = ["givenName", "sn", "mail"].enumerated().map {
            callback(
                "StringAttributeInputCallback", $0 + 2,
                [output("name", #""\#($1)""#), output("prompt", #""\#($1)""#)].joined(separator: ","))
        }
        let question = #"""
            {"type":"KbaCreateCallback","output":[{"name":"prompt","value":"Security questions"},
            {"name":"predefinedQuestions","value":["Color?","Employer?"]}],
            "input":[{"name":"IDToken7question","value":""},{"name":"IDToken7answer","value":""}]}
            """#
        let terms = [
            output("version", #""0.0""#), output("terms", #""Lorem ipsum""#),
            output("createDate", #""2019-10-28T04:20:11.320Z""#),
        ].joined(separator: ",")
        let step =
            [callback("ValidatedCreateUsernameCallback", 1, output("prompt", #""Username""#))] + attributes + [
                callback(
                    "BooleanAttributeInputCallback", 5,
                    [output("name", #""preferences/marketing""#), output("value", "false")].joined(separator: ","),
                    value: "false"),
                callback("ValidatedCreatePasswordCallback", 6, output("prompt", #""Password""#)), question,
                callback("TermsAndConditionsCallback", 8, terms, value: "false"),
            ]
        let journey = try ScriptedSteps(step.joined(separator: ","))
        let node = try await journey.start()
        for callback in node.callbacks {
            switch callback {
            case let attribute as StringAttributeInputCallback: attribute.setValue(attribute.name.map { "\($0)!" })
            case let attribute as BooleanAttributeInputCallback:
                #expect(attribute.name == "preferences/marketing")
                attribute.setValue(true)
            case let question as KbaCreateCallback:
                #expect(question.prompt == "Security questions")
                question.setQuestion(question.predefinedQuestions[1])
                question.setAnswer("none")
            case let terms as TermsAndConditionsCallback:
                #expect(terms.version == "0.0" && terms.terms == "Lorem ipsum")
                #expect(terms.createDate == "2019-10-28T04:20:11.320Z")
                terms.setValue(true)
            case let value as SingleValueCallback: value.setValue("demo")
            default: Issue.record("unexpected \(callback.response)")
            }
        }
        #expect(
            inputs(of: try await journey.finish(node)) == [
                .string("demo"), .string("givenName!"), .string("sn!"), .string("mail!"), .bool(true), .string("demo"),
                .string("Employer?"), .string("none"), .bool(true),
            ])
    }

    @Test("A message with buttons, and one that waits, are answered with the number of a button")
    func pressesButtons() async throws {
        let buttons = [
            output("prompt", #""""#), output("messageType", "0"), output("options", #"["Exit"]"#), output("optionType", "-1"),
            output("defaultOption", "0"),
        ].joined(separator: ",")
        let message =
            #"{"type":"TextOutputCallback","output":[{"name":"message","value":"Test"},{"name":"messageType","value":"0"}]}"#
        let wait =
            #"{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"5000"},{"name":"message","value":"Please Wait"}]}"#
        let journey = try ScriptedSteps(
            [message, callback("ConfirmationCallback", 2, buttons, value: "100")].joined(separator: ","),
            [wait, callback("ConfirmationCallback", 2, buttons, value: "100")].joined(separator: ","))
        let first = try await journey.start()
        #expect((first.callbacks[0] as? TextOutputCallback)?.message == "Test")
        (first.callbacks[1] as? ConfirmationCallback)?.value = 0
        let second = try await journey.next(after: first)
        #expect(inputs(of: try journey.lastBody) == [.integer(0)])
        let polling = try #require(second.callbacks[0] as? PollingWaitCallback)
        #expect(polling.waitTime == 5000 && polling.message == "Please Wait")
        let confirmation = try #require(second.callbacks[1] as? ConfirmationCallback)
        #expect(confirmation.options == ["Exit"] && confirmation.defaultOption == 0)
        confirmation.value = 0
        let body = try await journey.finish(second)
        #expect(inputs(of: body) == [.integer(0)] && body["callbacks"]?.array?.count == 2)
    }

    @Test("A text with a proposal and a reCAPTCHA token are entered")
    func entersTextAndToken() async throws {
        let text = [output("prompt", #""Which?""#), output("defaultText", #""ForgerRocker""#)].joined(separator: ",")
        let journey = try ScriptedSteps(
            [
                callback("TextInputCallback", 1, text),
                callback("ReCaptchaCallback", 2, output("recaptchaSiteKey", #""siteKey""#)),
            ].joined(separator: ","))
        let node = try await journey.start()
        let input = try #require(node.callbacks[0] as? TextInputCallback)
        #expect(input.prompt == "Which?" && input.getDefaultText() == "ForgerRocker")
        input.setValue("demo")
        let captcha = try #require(node.callbacks[1] as? ReCaptchaCallback)
        #expect(captcha.recaptchaSiteKey == "siteKey" && captcha.inputName == "IDToken2")
        captcha.value = "dummy"
        #expect(inputs(of: try await journey.finish(node)) == [.string("demo"), .string("dummy")])
    }

    @Test("Messages of every kind are read, and AM gets back all but the scripts for browsers")
    func leavesOutScripts() async throws {
        let messages = ["0", "1", "2", "4"].map {
            #"{"type":"TextOutputCallback","output":[{"name":"message","value":"m\#($0)"},{"name":"messageType","value":"\#($0)"}]}"#
        }
        let journey = try ScriptedSteps(messages.joined(separator: ","))
        let node = try await journey.start()
        let types = node.callbacks.compactMap { ($0 as? TextOutputCallback)?.messageType }
        #expect(types == [.information, .warning, .error, .unknown])
        let sent = try await journey.finish(node)["callbacks"]?.array ?? []
        #expect(sent.count == 3)
    }

    @Test("The app may replace the callbacks of a node")
    func replacesCallbacks() async throws {
        let integrity = ["clientError", "attestToken", "token", "clientData", "keyId"]
        let json = try callbackJSON(
            "AppIntegrityCallback", output: ["challenge": .string("c"), "attestToken": .string("")], inputs: integrity)
        let journey = try ScriptedSteps(callback("NameCallback", 1, output("prompt", #""n""#)))
        let node = try await journey.start()
        let replacement = try FRAppIntegrityCallback(json: json)
        replacement.setClientError("Abort")
        node.callbacks = [replacement]
        #expect(
            inputs(of: try await journey.finish(node)) == [.string("Abort"), .string(""), .string(""), .string(""), .string("")])
    }
}
