import PingJourney
import Testing

@Suite("Callbacks under the Ping SDK's names")
struct CallbackTests {
    private func read<C: AbstractCallback>(
        _ type: C.Type, _ output: [String: Any], inputs: [String] = ["IDToken1"], value: Any = ""
    ) throws -> C {
        let json: [String: Any] = [
            "type": "\(type)", "output": output.sorted { $0.key < $1.key }.map { ["name": $0.key, "value": $0.value] },
            "input": inputs.map { ["name": $0, "value": value] },
        ]
        return try #require(C().initialize(with: json) as? C)
    }

    private func sent(_ callback: AbstractCallback) -> [String] {
        (callback.payload()["input"] as? [[String: Any]] ?? []).map { "\($0["value"] ?? "")" }
    }

    @Test("Names, passwords and texts are sent as they are entered")
    func sendsEnteredText() throws {
        let name = try read(NameCallback.self, ["prompt": "User Name"])
        name.name = "demo"
        #expect(name.prompt == "User Name" && sent(name) == ["demo"] && name.payload()["type"] as? String == "NameCallback")
        let password = try read(PasswordCallback.self, ["prompt": "Password"])
        password.password = "secret"
        #expect(password.prompt == "Password" && sent(password) == ["secret"] && password.password == "secret")
        let text = try read(TextInputCallback.self, ["prompt": "Nickname", "defaultText": "nick"])
        #expect(text.defaultText == "nick" && text.text == "nick" && sent(text) == ["nick"])
        text.text = "other"
        #expect(sent(text) == ["other"])
    }

    @Test("Choices and confirmations send the selected number, and the server's proposal when nothing is selected")
    func sendsSelection() throws {
        let choice = try read(ChoiceCallback.self, ["prompt": "One", "choices": ["a", "b"], "defaultChoice": 1], value: 0)
        #expect(choice.choices == ["a", "b"] && choice.defaultChoice == 1 && choice.selectedIndex == 1 && sent(choice) == ["1"])
        choice.selectedIndex = 0
        #expect(sent(choice) == ["0"])
        let outputs: [String: Any] = [
            "prompt": "Sure?", "messageType": 1, "options": ["Yes", "No"], "optionType": -1, "defaultOption": 1,
        ]
        let confirmation = try read(ConfirmationCallback.self, outputs, value: 100)
        #expect(confirmation.messageType == .warning && confirmation.optionType == .unspecified)
        #expect(confirmation.selectedIndex == nil && sent(confirmation) == ["100"] && confirmation.options == ["Yes", "No"])
        confirmation.selectedIndex = 1
        #expect(sent(confirmation) == ["1"])
    }

    @Test("Terms, consents and hidden values are sent even when they are untouched")
    func sendsUntouchedValues() throws {
        let terms = try read(TermsAndConditionsCallback.self, ["version": "1.0", "terms": "all", "createDate": "2026"])
        #expect(terms.version == "1.0" && terms.terms == "all" && terms.createDate == "2026" && sent(terms) == ["false"])
        terms.accepted = true
        #expect(sent(terms) == ["true"])
        let outputs: [String: Any] = [
            "name": "n", "displayName": "d", "icon": "i", "accessLevel": "l", "isRequired": true, "fields": ["f"], "message": "m",
        ]
        let consent = try read(ConsentMappingCallback.self, outputs)
        #expect(consent.isRequired && consent.fields == ["f"] && consent.message == "m" && sent(consent) == ["false"])
        let hidden = try read(HiddenValueCallback.self, ["id": "the-id", "value": "first"], value: "the-id")
        #expect(hidden.valueId == "the-id" && hidden.value == "first" && sent(hidden) == ["first"])
        hidden.setValue("second")
        #expect(sent(hidden) == ["second"])
    }

    @Test("Outputs are read as numbers or text, as servers send them", arguments: [2 as any Sendable, "2"])
    func readsOutputsAsNumbersOrText(type: any Sendable) throws {
        let text = try read(TextOutputCallback.self, ["message": "no", "messageType": type], inputs: [])
        #expect(text.message == "no" && text.messageType == .error)
        let suspended: TextOutputCallback = try read(SuspendedTextOutputCallback.self, ["message": "mail"], inputs: [])
        #expect(suspended.message == "mail" && suspended.messageType == .unknown)
        let wait = try read(PollingWaitCallback.self, ["waitTime": "5000", "message": "wait"], inputs: [])
        #expect(wait.waitTime == 5000 && wait.message == "wait")
    }

    @Test("Validated callbacks read the policies and send the value with the validation flag")
    func sendsValidatedValues() throws {
        let inputs = ["IDToken1", "IDToken1validateOnly"]
        let failed = [#"{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}"#]
        let password = try read(
            ValidatedPasswordCallback.self,
            ["prompt": "New", "echoOn": true, "policies": ["name": "p"], "failedPolicies": failed, "validateOnly": false],
            inputs: inputs)
        #expect(password.echoOn && password.policies["name"] as? String == "p")
        let policy = try #require(password.failedPolicies.first)
        #expect(policy.policyRequirement == "MIN_LENGTH" && policy.params?["minLength"] as? Int == 8)
        let text = policy.failedDescription(for: "Password")
        #expect(text.hasPrefix("Password") && text.contains("8"))
        password.password = "secret"
        password.validateOnly = true
        #expect(sent(password) == ["secret", "true"])
        let username = try read(ValidatedUsernameCallback.self, ["prompt": "Name"], inputs: inputs)
        username.username = "demo"
        #expect(sent(username).first == "demo")
    }

    @Test("Attribute callbacks begin with the server's value")
    func beginsWithValueOfServer() throws {
        let text = try read(StringAttributeInputCallback.self, ["name": "mail", "required": true, "value": "a@b"])
        #expect(text.name == "mail" && text.required && text.value == "a@b" && sent(text) == ["a@b"])
        let number = try read(NumberAttributeInputCallback.self, ["name": "age", "value": 30])
        #expect(number.value == 30)
        number.value = 31.5
        #expect(sent(number) == ["31.5"])
        let boolean = try read(BooleanAttributeInputCallback.self, ["name": "news", "value": true])
        #expect(boolean.value)
        boolean.value = false
        let attribute: AttributeInputCallback = boolean
        #expect(sent(boolean) == ["false"] && attribute.name == "news" && !attribute.required)
    }

    @Test("A security question is sent with its answer")
    func sendsSecurityQuestion() throws {
        let question = try read(
            KbaCreateCallback.self, ["prompt": "Set", "predefinedQuestions": ["Pet?"], "allowUserDefinedQuestions": true],
            inputs: ["IDToken1question", "IDToken1answer"])
        #expect(question.predefinedQuestions == ["Pet?"] && question.allowUserDefinedQuestions)
        question.selectedQuestion = "Pet?"
        question.selectedAnswer = "Rex"
        #expect(sent(question) == ["Pet?", "Rex"])
    }
}
