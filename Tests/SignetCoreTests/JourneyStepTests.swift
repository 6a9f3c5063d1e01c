import SignetCore
import Testing

/// The steps of protocol/journey.md sections 2.1 to 2.6.
@Suite("A journey step")
struct JourneyStepTests {
    private func step(_ text: String) throws -> JourneyStep { try JSON.decode(JourneyStep.self, from: text.utf8) }
    private func value(_ text: some Sequence<UInt8>) throws -> JSONValue { try JSON.value(of: text) }

    private static let usernamePassword = """
        { "authId": "<jwt>", "stage": "UsernamePassword",
          "callbacks": [
            { "type": "NameCallback", "_id": 0,
              "output": [ { "name": "prompt", "value": "User Name" } ],
              "input":  [ { "name": "IDToken1", "value": "demo" } ] },
            { "type": "PasswordCallback", "_id": 1,
              "output": [ { "name": "prompt", "value": "Password" } ],
              "input":  [ { "name": "IDToken2", "value": "secret" } ] } ] }
        """

    @Test("The protocol document's example step is read")
    func readsDocumentedStep() throws {
        let step = try step(Self.usernamePassword)
        #expect(step.authId == "<jwt>")
        #expect(step.stage == "UsernamePassword")
        #expect(step.header == nil && step.description == nil)
        #expect(step.callbacks.map(\.type) == ["NameCallback", "PasswordCallback"])
        #expect(step.callbacks.map(\._id) == [0, 1])
        #expect(step.callback("PasswordCallback")?.output("prompt") == .string("Password"))
        #expect(step.callbacks[1].input == [.init(name: "IDToken2", value: .string("secret"))])
        #expect(step.callback("ChoiceCallback") == nil)
        #expect(step.waitMilliseconds == nil)
    }

    @Test(
        "A step is sent back unchanged, unknown callback types and empty values included",
        arguments: [
            usernamePassword,
            #"{"authId":"a","callbacks":[{"type":"CarrierPigeonCallback","output":[{"name":"birds","value":[{"wings":2,"name":null},1.5]}],"#
                + #""input":[{"name":"IDToken1","value":{"sent":false}},{"name":"IDToken1note","value":""}],"_id":0}]}"#,
            #"{"authId":"a","callbacks":[{"type":"TextOutputCallback","output":[{"name":"message","value":"Hello"},"#
                + #"{"name":"messageType","value":"0"}],"_id":0}]}"#,
            #"{"authId":"a","callbacks":[{"type":"NameCallback","output":[{"name":"prompt","value":null}],"input":[{"name":"IDToken1","value":null}]}]}"#,
            #"{"authId":"a","callbacks":[{"type":"ConfirmationCallback","output":[{"name":"options","value":["Yes","No"]},"#
                + #"{"name":"optionType","value":-1}],"input":[{"name":"IDToken1","value":100}],"_id":0}]}"#,
            #"{"authId":"a","callbacks":[],"header":"Sign in","description":"Please","stage":"s"}"#,
            #"{"authId":"a","callbacks":[{"type":"MetadataCallback","output":[],"input":[]}]}"#,
            #"{"authId":"a","template":"t","callbacks":[{"type":"X","output":[],"note":{"deep":[1]}}],"status":200,"ok":true}"#,
        ])
    func stepRoundTrip(text: String) throws {
        #expect(try value(JSON.encode(step(text))) == value(text.utf8))
    }

    @Test(
        "A response without a required member is not a step",
        arguments: [
            #"{"callbacks":[]}"#, #"{"authId":"a"}"#, #"{"authId":1,"callbacks":[]}"#, #"{"authId":"a","callbacks":[{}]}"#,
            #"{"tokenId":"t","successUrl":"/am/console","realm":"/alpha"}"#, "[]",
        ])
    func refusesIncompleteStep(text: String) {
        #expect(throws: (any Error).self) { try step(text) }
    }

    @Test("The wait time, challenge number and alternative of a push login are found")
    func readsPushWait() throws {
        var step = try step(
            #"{"authId":"a","callbacks":[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"5000"},"#
                + #"{"name":"message","value":"Tap 42"}]},{"type":"HiddenValueCallback","output":[{"name":"value","value":"42"},"#
                + #"{"name":"id","value":"pushChallengeNumber"}],"input":[{"name":"IDToken2","value":"pushChallengeNumber"}]},"#
                + #"{"type":"HiddenValueCallback","output":[{"name":"value","value":"pushauth://"},{"name":"id","value":"mfaDeviceRegistration"}],"#
                + #""input":[{"name":"IDToken3","value":"mfaDeviceRegistration"}]}]}"#)
        #expect(step.waitMilliseconds == 5000)
        #expect(step.hiddenValue("pushChallengeNumber") == "42")
        #expect(step.hiddenValue("mfaDeviceRegistration") == "pushauth://")
        #expect(step.hiddenValue("clientError") == nil)

        step.callbacks[0].answer(.string("ignored"))
        #expect(step.callbacks[0].input == nil)
        step.callbacks[1].answer(.string("seen"))
        #expect(step.callbacks[1].input == [.init(name: "IDToken2", value: .string("seen"))])
    }

    @Test(
        "A wait time may be a number or a string, and any other value requests a wait of no time",
        arguments: [
            (.integer(5000), 5000), (.string("5000"), 5000), (.string("-5"), 0), (.string("soon"), 0), (.null, 0),
            (.string(""), 0),
        ] as [(JSONValue, Int)])
    func readsWaitTimes(value: JSONValue, milliseconds: Int) {
        let callback = JourneyCallback(type: "PollingWaitCallback", output: [.init(name: "waitTime", value: value)])
        #expect(JourneyStep(authId: "a", callbacks: [callback]).waitMilliseconds == milliseconds)
    }

    @Test("Answering a callback fills in only its first input, whatever its name is")
    func answersFirstInput() {
        var callback = JourneyCallback(
            type: "ValidatedCreateUsernameCallback", output: [],
            input: [.init(name: "IDToken0", value: .string("")), .init(name: "IDToken0validateOnly", value: .bool(false))])
        callback.answer(.string("mira"))
        #expect(callback.input?.map(\.value) == [.string("mira"), .bool(false)])
    }
}
