import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

/// One recorded callback of each type, as the servers send it (protocol/journey.md section 2.6).
enum Recorded {
    static let all: [JourneyCallback] = (try? load()) ?? []

    private static func load() throws -> [JourneyCallback] {
        let file = try #require(Bundle.module.url(forResource: "Vectors/callbacks", withExtension: "json"))
        return try (JSON.value(of: Data(contentsOf: file)).array ?? []).map { try JourneyCallback(json: $0) }
    }

    static func first(_ type: String) throws -> JourneyCallback {
        let found = all.first { $0.type == type }
        return try #require(found)
    }
}

extension JourneyCallback {
    /// The values of the inputs, by their names without the prefix that all input names of the callback share.
    var inputs: [String: JSONValue] {
        Dictionary((input ?? []).map { (String($0.name.trimmingPrefix("IDToken1")), $0.value) }, uniquingKeysWith: { $1 })
    }
}

@Suite("Journey callbacks")
struct CallbackTests {
    @Test("Every recorded callback has a typed view")
    func recordedCallbacksAreTyped() throws {
        #expect(Recorded.all.count == 36)
        for callback in Recorded.all {
            let typed = try #require(callback.typed, "\(callback)")
            #expect(type(of: typed).type == callback.type)
            #expect(typed.callback == callback)
        }
    }

    /// Each output and input missing, empty, and of every wrong type.
    @Test("A callback with missing or malformed members causes no crash", arguments: Recorded.all.indices)
    func malformedCallbacksCauseNoCrash(index: Int) async throws {
        let callback = Recorded.all[index]
        let values: [JSONValue] = [
            .null, .bool(true), .integer(-1), .integer(.max), .number(1e300), .string(""), .string("\u{0}"), .array([.null]),
            .array([.object([:])]), .object([:]), .object(["x": .null]),
        ]
        var broken: [JourneyCallback] = []
        for position in callback.output.indices {
            var without = callback
            without.output.remove(at: position)
            broken.append(without)
            for value in values {
                var changed = callback
                changed.output[position].value = value
                broken.append(changed)
            }
        }
        for position in (callback.input ?? []).indices {
            var without = callback
            without.input?.remove(at: position)
            broken.append(without)
            for value in values {
                var changed = callback
                changed.input?[position].value = value
                broken.append(changed)
            }
        }
        for callback in broken {
            if let typed = callback.typed { everything(of: typed) }
            everything(of: JourneyStep(authId: "a", callbacks: [callback, callback]))
        }
        let all = JourneyStep(authId: "a", callbacks: broken)
        let journeys = Journey(try profile(), transport: answering((200, JSON.text(of: all.json))))
        #expect(try await journeys.start().step.callbacks.count == broken.count)
    }

    /// A server's proposed and prefilled values, and the value that is shown to the user and sent back unchanged.
    struct Proposal: Sendable {
        let type: String
        var proposed: [String: JSONValue] = [:]
        var input: JSONValue = .string("")
        let sent: JSONValue

        var callback: JourneyCallback {
            JourneyCallback(
                type: type, output: proposed.map { JourneyCallback.Field(name: $0.key, value: $0.value) },
                input: [JourneyCallback.Field(name: "IDToken1", value: input)])
        }
    }

    private static func choices(_ proposed: Int64) -> [String: JSONValue] {
        ["choices": .array([.string("Email"), .string("SMS")]), "defaultChoice": .integer(proposed)]
    }

    static let proposals = [
        Proposal(type: "TextInputCallback", proposed: ["defaultText": .string("none")], sent: .string("none")),
        Proposal(type: "TextInputCallback", proposed: ["defaultText": .string("none")], input: .null, sent: .string("none")),
        Proposal(
            type: "TextInputCallback", proposed: ["defaultText": .string("none")], input: .string("mi"), sent: .string("mi")),
        Proposal(type: "TextInputCallback", sent: .string("")),
        Proposal(type: "ChoiceCallback", proposed: choices(1), input: .integer(0), sent: .integer(1)),
        Proposal(type: "ChoiceCallback", proposed: choices(1), sent: .integer(1)),
        Proposal(type: "ChoiceCallback", proposed: choices(1), input: .null, sent: .integer(1)),
        Proposal(type: "ChoiceCallback", proposed: choices(-1), input: .integer(0), sent: .integer(0)),
        Proposal(type: "ChoiceCallback", proposed: choices(7), input: .null, sent: .null),
        Proposal(type: "StringAttributeInputCallback", proposed: ["value": .string("Bo")], sent: .string("Bo")),
        Proposal(
            type: "StringAttributeInputCallback", proposed: ["value": .string("Bo")], input: .string("Al"), sent: .string("Al")),
        Proposal(type: "NumberAttributeInputCallback", proposed: ["value": .number(1.5)], input: .null, sent: .number(1.5)),
        Proposal(type: "NumberAttributeInputCallback", proposed: ["value": .null], input: .null, sent: .null),
        Proposal(type: "NumberAttributeInputCallback", proposed: ["value": .integer(3)], input: .integer(0), sent: .integer(0)),
        Proposal(type: "BooleanAttributeInputCallback", proposed: ["value": .bool(true)], input: .null, sent: .bool(true)),
        Proposal(type: "BooleanAttributeInputCallback", input: .null, sent: .bool(false)),
        Proposal(
            type: "BooleanAttributeInputCallback", proposed: ["value": .bool(true)], input: .bool(false), sent: .bool(false)),
        // No option is selected in advance.
        Proposal(
            type: "ConfirmationCallback", proposed: ["options": .array([.string("Yes")]), "defaultOption": .integer(0)],
            input: .integer(100), sent: .integer(100)),
    ]

    @Test("An untouched callback is sent back with the shown value, and a cleared text is sent back empty", arguments: proposals)
    func sendsShownValue(row: Proposal) async throws {
        let given = JSON.text(of: JourneyStep(authId: "a", callbacks: [row.callback]).json)
        let transport = answering((200, given), (200, given), (200, #"{"tokenId":"t"}"#))
        let journeys = Journey(try profile(), transport: transport)
        func sent() throws -> JSONValue? {
            let step = try JourneyStep(json: try JSON.value(of: transport.requests.last?.body ?? []))
            return step.callbacks.first?.inputs[""]
        }
        let step = try await journeys.start().step
        #expect(shown(step.callbacks[0]) == row.sent)
        var second = try await journeys.next(step).step
        #expect(try sent() == row.sent)
        guard row.type == "TextInputCallback" else { return }
        try second.fill(TextInputCallback.self) { $0.text = "" }
        #expect(second.first(TextInputCallback.self)?.text == "")
        _ = try await journeys.next(second)
        #expect(try sent() == .string(""))
    }

    /// Returns the value that the view of a callback shows, in the form of the input.
    private func shown(_ callback: JourneyCallback) -> JSONValue? {
        switch callback.typed {
        case let typed as TextInputCallback: .string(typed.text)
        case let typed as ChoiceCallback: typed.selectedIndex.map { .integer(Int64($0)) } ?? .null
        case let typed as StringAttributeInputCallback: .string(typed.value)
        case let typed as NumberAttributeInputCallback:
            typed.value.map { value in Int64(exactly: value).map { .integer($0) } ?? .number(value) } ?? .null
        case let typed as BooleanAttributeInputCallback: .bool(typed.value)
        case let typed as ConfirmationCallback: typed.selectedIndex == nil ? .integer(100) : nil
        default: nil
        }
    }

    private func everything(of step: JourneyStep) {
        _ = (step.enrollmentURI, step.pushChallengeNumber, step.suspensionMessage, step.protectRequest, step.recoveryCodes)
        _ = (step.pageStage, step.waitMilliseconds)
    }

    /// Reads every property.
    private func everything(of typed: any TypedCallback) {
        switch typed {
        case let callback as ChoiceCallback: _ = (callback.choices, callback.defaultChoice, callback.selectedIndex)
        case let callback as ConfirmationCallback:
            _ = (callback.options, callback.defaultOption, callback.selectedIndex, callback.messageType)
        case let callback as PollingWaitCallback: _ = callback.waitTime
        case let callback as any ValidatedCallback:
            _ = (callback.policies, callback.failedPolicies.map(\.message), callback.isValidatedOnly)
        case let callback as NumberAttributeInputCallback: _ = callback.value
        case let callback as SelectIdPCallback: _ = (callback.providers, callback.selected)
        case let callback as DeviceBindingCallback: _ = (callback.timeout, callback.authenticationType)
        case let callback as DeviceSigningVerifierCallback: _ = (callback.timeout, callback.userID)
        case let callback as PingOneProtectInitializeCallback:
            _ = (callback.settings.keySyncDays, callback.settings.ignoredAttributes)
        default: break
        }
    }

    @Test("Name, password and text callbacks are filled in")
    func fillsTextCallbacks() throws {
        var name = try #require(NameCallback(try Recorded.first("NameCallback")))
        #expect(name.prompt == "User Name")
        name.name = "mira"
        #expect(name.callback.inputs == ["": .string("mira")])
        var password = try #require(PasswordCallback(try Recorded.first("PasswordCallback")))
        #expect(!password.isFilled)
        password.fill(Secret("sésame".utf8))
        #expect(password.isFilled)
        #expect(password.callback.inputs == ["": .string("sésame")])
        var text = try #require(TextInputCallback(try Recorded.first("TextInputCallback")))
        #expect(text.text == "" && text.defaultText == "none")
        text.text = "mi"
        #expect(text.callback.inputs == ["": .string("mi")])
    }

    @Test("A password does not appear in any text form of a step")
    func stepHidesPassword() throws {
        var step = JourneyStep(
            authId: "handle", callbacks: [try Recorded.first("PasswordCallback"), try Recorded.first("HiddenValueCallback")])
        try step.fill(PasswordCallback.self) { $0.fill("sesame") }
        try step.fillHiddenValue("webAuthnOutcome", "proof")
        var dumped = ""
        dump(step, to: &dumped)
        dump(step.callbacks, to: &dumped)
        let state = JourneyState.step(step)
        dump(state, to: &dumped)
        for print in [
            "\(step)", String(reflecting: step), "\(step.callbacks)", "\(state)", "\(JourneySession.State.step(step))", dumped,
        ] {
            #expect(!print.contains("sesame") && !print.contains("handle") && !print.contains("proof"))
        }
    }

    @Test("Only one of the offered choices can be selected")
    func selectsOfferedChoice() throws {
        var choice = try #require(ChoiceCallback(try Recorded.first("ChoiceCallback")))
        #expect(choice.selectedIndex == 0)
        try choice.select("SMS")
        #expect(choice.callback.inputs == ["": .integer(1)])
        for index in [-1, 2, Int.max] {
            #expect(throws: CallbackError.self) { try choice.select(index) }
        }
        #expect(throws: CallbackError.self) { try choice.select("Pigeon") }
        #expect(choice.selectedIndex == 1)
        var callback = try Recorded.first("ChoiceCallback")
        callback.answer(.string("1"))
        #expect(ChoiceCallback(callback)?.selectedIndex == 1)
    }

    @Test("A custom button is sent by its index, and a standard button by its Java constant")
    func selectsConfirmationOption() throws {
        var confirmation = try #require(ConfirmationCallback(try Recorded.first("ConfirmationCallback")))
        #expect(confirmation.options == ["Yes", "No"])
        #expect(confirmation.selectedIndex == nil)
        #expect(confirmation.defaultOption == 1)
        let output = ["optionType": 2, "defaultOption": 3].map { JourneyCallback.Field(name: $0, value: .integer($1)) }
        let standardButtons = try #require(
            ConfirmationCallback(
                JourneyCallback(
                    type: "ConfirmationCallback", output: output,
                    input: [JourneyCallback.Field(name: "IDToken1", value: .integer(0))])))
        let preselected = standardButtons.defaultOption.map { standardButtons.options[$0] }
        #expect(preselected == "OK")
        try confirmation.select("No")
        #expect(confirmation.callback.inputs == ["": .integer(1)])
        #expect(throws: CallbackError.self) { try confirmation.select(2) }
        for (type, labels, numbers) in [
            (0, ["Yes", "No"], [0, 1]), (1, ["Yes", "No", "Cancel"], [0, 1, 2]), (2, ["OK", "Cancel"], [3, 2]),
        ] {
            let callback = JourneyCallback(
                type: "ConfirmationCallback", output: [.init(name: "optionType", value: .integer(Int64(type)))],
                input: [.init(name: "IDToken1", value: .integer(100))])
            var standardButtons = try #require(ConfirmationCallback(callback))
            #expect(standardButtons.options == labels)
            for (index, number) in numbers.enumerated() {
                try standardButtons.select(index)
                #expect(standardButtons.callback.inputs == ["": .integer(Int64(number))])
                #expect(standardButtons.selectedIndex == index)
            }
        }
    }

    @Test("Output callbacks expose their texts and values")
    func readsOutputCallbacks() throws {
        let text = try #require(TextOutputCallback(try Recorded.first("TextOutputCallback")))
        #expect(text.message == "Hello")
        #expect(text.messageType == .information)
        let step = JourneyStep(authId: "a", callbacks: Recorded.all)
        #expect(step.suspensionMessage == "Mail sent")
        #expect(step.pageStage == "UsernamePassword")
        #expect(step.waitMilliseconds == 5000)
        #expect(step.first(PollingWaitCallback.self)?.waitTime == .seconds(5))
        let hidden = step.callbacks(HiddenValueCallback.self)
        #expect(hidden.map(\.id) == ["webAuthnOutcome", "webAuthnOutcome"])
        #expect(hidden.map(\.sentValue) == ["false", "false"])
    }

    @Test("Consent, terms, security question and identity provider callbacks are filled in")
    func fillsAgreementCallbacks() throws {
        var step = JourneyStep(authId: "a", callbacks: Recorded.all)
        try step.fill(ConsentMappingCallback.self) { $0.isAccepted = true }
        try step.fill(TermsAndConditionsCallback.self) { $0.isAccepted = true }
        try step.fill(KbaCreateCallback.self) { try $0.fill(question: "City?", answer: "Bern") }
        try step.fill(SelectIdPCallback.self) { try $0.select("localAuthentication") }
        try step.fill(IdPCallback.self) { $0.fill(token: Secret("t".utf8), type: .idToken) }
        func inputs(_ type: String) -> [String: JSONValue]? { step.callback(type)?.inputs }
        #expect(inputs("ConsentMappingCallback") == ["": .bool(true)])
        #expect(inputs("TermsAndConditionsCallback") == ["": .bool(true)])
        #expect(inputs("KbaCreateCallback") == ["question": .string("City?"), "answer": .string("Bern")])
        #expect(inputs("SelectIdPCallback") == ["": .string("localAuthentication")])
        #expect(inputs("IdPCallback") == ["token": .string("t"), "token_type": .string("id_token")])
        #expect(throws: CallbackError.self) { try step.fill(SelectIdPCallback.self) { try $0.select("myspace") } }
        #expect(throws: CallbackError.self) {
            try step.fill(KbaCreateCallback.self) { try $0.fill(question: "City?", answer: " ") }
        }
        let consent = try #require(step.first(ConsentMappingCallback.self))
        #expect(consent.fields == ["mail", "givenName"])
        #expect(step.first(SelectIdPCallback.self)?.providers.first?.look["buttonDisplayName"] == .string("Google"))
    }

    @Test("A custom security question is accepted only if the server allows it")
    func customQuestionNeedsPermission() throws {
        var callback = try Recorded.first("KbaCreateCallback")
        var kba = try #require(KbaCreateCallback(callback))
        try kba.fill(question: "Mine?", answer: "x")
        callback.output[2].value = .bool(false)
        var strict = try #require(KbaCreateCallback(callback))
        #expect(throws: CallbackError.self) { try strict.fill(question: "Mine?", answer: "x") }
        #expect(strict.callback == callback)
    }

    @Test("A validated callback exposes policies and failures and can ask for validation only")
    func readsValidatedCallback() throws {
        var username = try #require(
            ValidatedCreateUsernameCallback(try Recorded.first("ValidatedCreateUsernameCallback")))
        #expect(username.policies.map(\.id) == ["not-empty", "minimum-length"])
        #expect(username.policies[1].parameters == ["minLength": .integer(3)])
        #expect(username.failedPolicies.map(\.message) == ["Use at least 3 characters."])
        username.username = "mi"
        try username.validateOnly()
        #expect(username.isValidatedOnly)
        #expect(username.callback.inputs == ["": .string("mi"), "validateOnly": .bool(true)])
        let lastRecorded = Recorded.all.last { $0.type == "ValidatedCreateUsernameCallback" }
        let old = try #require(lastRecorded)
        var older = try #require(ValidatedCreateUsernameCallback(old))
        #expect(older.policies.map(\.requirements) == [["REQUIRED"]])
        #expect(throws: CallbackError.self) { try older.validateOnly() }
    }

    @Test("String, number and boolean attribute callbacks are filled in")
    func fillsAttributeCallbacks() throws {
        let lastRecorded = Recorded.all.last { $0.type == "NumberAttributeInputCallback" }
        let last = try #require(lastRecorded)
        var number = try #require(NumberAttributeInputCallback(last))
        #expect(number.value == 3)
        #expect(number.name == "age" && number.isRequired)
        #expect(number.failedPolicies.map(\.requirement) == ["MINIMUM_NUMBER_VALUE", "not JSON"])
        try number.fill(4.5)
        #expect(number.callback.inputs[""] == .number(4.5))
        #expect(throws: CallbackError.self) { try number.fill(.infinity) }
        var boolean = try #require(BooleanAttributeInputCallback(try Recorded.first("BooleanAttributeInputCallback")))
        boolean.value = true
        #expect(boolean.callback.inputs == ["": .bool(true), "validateOnly": .bool(false)])
        var text = try #require(StringAttributeInputCallback(try Recorded.first("StringAttributeInputCallback")))
        text.value = "x"
        #expect(text.callback.inputs[""] == .string("x"))
    }

    @Test("Device callbacks are filled in under the server's input names")
    func fillsDeviceCallbacks() throws {
        var step = JourneyStep(authId: "a", callbacks: Recorded.all)
        try step.fill(DeviceBindingCallback.self) { $0.fill(jws: "j", deviceID: "d", deviceName: "n") }
        try step.fill(DeviceSigningVerifierCallback.self) { $0.fail(.clientNotRegistered) }
        try step.fill(AppIntegrityCallback.self) { $0.fill(token: "t", attestToken: "a", keyID: "k", clientData: "c") }
        try step.fill(ReCaptchaCallback.self) { $0.token = "r" }
        try step.fill(ReCaptchaEnterpriseCallback.self) { $0.fill(token: "e", payload: .object(["x": .integer(1)])) }
        try step.fill(PingOneProtectInitializeCallback.self) { $0.fail("no") }
        try step.fill(PingOneProtectEvaluationCallback.self) { $0.fill(signals: "s") }
        func inputs(_ type: String) -> [String: JSONValue]? { step.callback(type)?.inputs }
        #expect(
            inputs("DeviceBindingCallback") == [
                "jws": .string("j"), "deviceId": .string("d"), "deviceName": .string("n"), "clientError": .string(""),
            ])
        #expect(
            inputs("DeviceSigningVerifierCallback") == ["jws": .string(""), "clientError": .string("ClientNotRegistered")])
        #expect(
            inputs("AppIntegrityCallback") == [
                "attestToken": .string("a"), "token": .string("t"), "clientData": .string("c"), "keyId": .string("k"),
                "clientError": .string(""),
            ])
        #expect(inputs("ReCaptchaCallback") == ["": .string("r")])
        #expect(
            inputs("ReCaptchaEnterpriseCallback") == [
                "token": .string("e"), "action": .string("login"), "clientError": .string(""), "payload": .string(#"{"x":1}"#),
            ])
        #expect(inputs("PingOneProtectInitializeCallback") == ["clientError": .string("no")])
        #expect(inputs("PingOneProtectEvaluationCallback") == ["signals": .string("s"), "clientError": .string("")])
    }

    @Test("PingOne Protect callbacks are also recognized as metadata")
    func recognizesProtectMetadata() throws {
        func step(_ action: String, _ hidden: String) -> JourneyStep {
            let data: JSONValue = .object([
                "_type": .string("PingOneProtect"), "_action": .string(action), "envId": .string("e"),
                "pauseBehavioralData": .bool(true),
            ])
            return JourneyStep(
                authId: "a",
                callbacks: [
                    JourneyCallback(type: "MetadataCallback", output: [.init(name: "data", value: data)]),
                    JourneyCallback(
                        type: "HiddenValueCallback", output: [.init(name: "id", value: .string(hidden))],
                        input: [.init(name: "IDToken2", value: .string(hidden))]),
                ])
        }
        var initialize = step("protect_initialize", "clientError")
        guard case .initialize(let settings)? = initialize.protectRequest else { throw Unexpected() }
        #expect(settings.environmentID == "e")
        try initialize.failProtect("broken")
        #expect(initialize.callbacks[1].input?[0].value == .string("broken"))
        var evaluate = step("protect_risk_evaluation", "pingone_risk_evaluation_signals")
        #expect(evaluate.protectRequest == .evaluate(pausesBehavioralData: true))
        try evaluate.fillProtect(signals: "s")
        #expect(evaluate.callbacks[1].input?[0].value == .string("s"))
        #expect(throws: CallbackError.self) { try initialize.fillProtect(signals: "s") }
    }

    @Test("Recovery codes are read from the script that displays them")
    func readsRecoveryCodesFromScript() throws {
        let script = #"""
            var text = "Your Recovery Codes"; var newLocation = document.getElementById("w"); newLocation.innerHTML =
            "<h3>x</h3> <em>Work key</em>" + "<div>" + "T7HU4-K3\n" + "0Z1hG4AtSn\n" + "not a code\n" + "abc" + "</div>";
            """#
        func step(_ script: String) -> JourneyStep {
            let output: [JourneyCallback.Field] = [
                .init(name: "message", value: .string(script)), .init(name: "messageType", value: .string("4")),
            ]
            return JourneyStep(authId: "a", callbacks: [JourneyCallback(type: "TextOutputCallback", output: output)])
        }
        let found = try #require(step(script).recoveryCodes)
        let codes = ["T7HU4-K3", "0Z1hG4AtSn"].map { Secret($0.utf8) }
        #expect(found.codes == codes)
        var dumped = "\(found)"
        dump(found, to: &dumped)
        #expect(!dumped.contains("T7HU4"))
        #expect(found.deviceName == "Work key")
        #expect(step(#"Recovery codes "abc\n""#).recoveryCodes?.deviceName == "New Security Key")
        for other in ["", "Recovery Codes", "Recovery Codes \"", #"Recovery Codes "x\"#, #""abc\n""#] {
            #expect(step(other).recoveryCodes == nil)
        }
    }

    @Test("A callback of an unknown type is passed on unchanged and can be filled in")
    func passesUnknownCallback() throws {
        var step = try JourneyStep(
            json: try JSON.value(
                of:
                    #"{"authId":"a","callbacks":[{"type":"PigeonCallback","output":[{"name":"x","value":[1]}],"input":[{"name":"IDToken1bird","value":""}]}]}"#
                    .utf8))
        #expect(step.callbacks[0].typed == nil)
        #expect(step.callbacks[0].output("x") == .array([.integer(1)]))
        step.callbacks[0].answer(.string("dove"))
        #expect(step.json["callbacks"]?.array?.first?["input"]?.array?.first?["value"] == .string("dove"))
        #expect(throws: CallbackError.self) { try step.fill(NameCallback.self) { $0.name = "x" } }
    }

    @Test("The second of two callbacks of one type is filled in by its position")
    func fillsCallbackByPosition() throws {
        let callback = try Recorded.first("NameCallback")
        var step = JourneyStep(authId: "a", callbacks: [callback, callback])
        try step.fill(NameCallback.self, at: 1) { $0.name = "x" }
        let inputs = step.callbacks.map { $0.inputs[""] }
        #expect(inputs == [.string(""), .string("x")])
        for position in [2, -1] {
            #expect(throws: CallbackError.self) { try step.fill(NameCallback.self, at: position) { $0.name = "y" } }
        }
    }
}
