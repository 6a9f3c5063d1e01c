import FRAuth
import Foundation
import SignetCore
import SignetTesting
import Testing

import struct SignetJourney.DeviceProfile

@Suite("Values and texts of FRAuth's callbacks")
struct CallbackValueTests {
    @Test("The stage of AM 6.5, in a MetadataCallback, is the node's stage and is sent with the step")
    func sendsStageFromMetadata() async throws {
        let metadata = #"{"type":"MetadataCallback","output":[{"name":"data","value":{"stage":"UsernamePassword"}}],"_id":0}"#
        let journey = try ScriptedSteps(metadata)
        let node = try await journey.start()
        #expect(node.stage == "UsernamePassword" && node.callbacks.first is MetadataCallback)
        #expect(try await journey.finish(node)["stage"] == .string("UsernamePassword"))
    }

    @Test("A page's stage, header and description reach the app")
    func exposesPage() async throws {
        let name = #"{"type":"NameCallback","output":[{"name":"prompt","value":"n"}],"input":[{"name":"IDToken1","value":""}]}"#
        let journey = try ScriptedSteps(name, members: #","stage":"Test","header":"Head","description":"Text""#)
        let node = try await journey.start()
        #expect(node.stage == "Test" && node.pageHeader == "Head" && node.pageDescription == "Text" && node.authId == "a")
        let body = try await journey.finish(node)
        #expect(body["stage"] == .string("Test") && body["header"] == .string("Head"))
    }

    @Test("MetadataCallback keeps its JSON, and refuses an empty one")
    func keepsJSONOfMetadata() throws {
        let json = try untyped(
            #"{"type":"MetadataCallback","output":[{"name":"data","value":{"stage":"UsernamePassword"}}],"_id":1}"#)
        let callback = try MetadataCallback(json: json)
        #expect(
            callback._id == 1 && callback.type == "MetadataCallback" && callback.data["stage"] as? String == "UsernamePassword")
        let output = try #require((callback.response["output"] as? [[String: Any]])?.first)
        #expect((output["value"] as? [String: String])?["stage"] == "UsernamePassword")
        #expect(NSDictionary(dictionary: json).isEqual(to: callback.buildResponse()))
        #expect(try refusal(of: MetadataCallback.self, [:]) == "the callback has no type")
    }

    @Test("MetadataCallback and DeviceProfileCallback read the response that the app has set")
    func readsReplacedResponse() throws {
        let metadata = { (stage: String) in
            try untyped(#"{"type":"MetadataCallback","output":[{"name":"data","value":{"stage":"\#(stage)"}}]}"#)
        }
        let callback = try MetadataCallback(json: metadata("first"))
        callback.response = try metadata("second")
        #expect(callback.data["stage"] as? String == "second")

        let device = { (wanted: Bool) in
            try callbackJSON("DeviceProfileCallback", output: ["metadata": .bool(wanted)], inputs: [""])
        }
        let profile = try DeviceProfileCallback(json: device(false))
        profile.response = try device(true)
        profile.setProfile(DeviceProfile(identifier: "i", metadata: ["x": .bool(true)], location: nil))
        let text = try #require(profile.getValue() as? String)
        #expect(try JSON.value(of: text.utf8)["metadata"]?["x"] == .bool(true))
    }

    @Test("A hidden value that the app does not change is sent as it came")
    func sendsUnchangedHiddenValue() async throws {
        let hidden = #"""
            {"type":"HiddenValueCallback","output":[{"name":"value","value":"v"},{"name":"id","value":"i"}],
            "input":[{"name":"IDToken1","value":"i"}]}
            """#
        let journey = try ScriptedSteps(hidden)
        let node = try await journey.start()
        let callback = try #require(node.callbacks.first as? HiddenValueCallback)
        #expect(callback.id == "i" && !callback.isWebAuthnOutcome && callback.getValue() as? String == "i")
        #expect(inputs(of: try await journey.finish(node)) == [.string("i")])
    }

    @Test("A text that the server leaves out is nil, and an empty identifier stays empty")
    func keepsMissingTextsApart() throws {
        let text = try TextInputCallback(json: callbackJSON("TextInputCallback", output: ["prompt": .string("p")], inputs: [""]))
        #expect(text.getDefaultText() == nil)
        let terms = try TermsAndConditionsCallback(json: callbackJSON("TermsAndConditionsCallback", output: [:], inputs: [""]))
        #expect(terms.version == nil && terms.terms == nil && terms.createDate == nil)
        let hidden = try HiddenValueCallback(
            json: untyped(
                #"{"type":"HiddenValueCallback","output":[{"name":"id","value":""}],"input":[{"name":"IDToken1","value":"v"}]}"#))
        #expect(hidden.id == "" && hidden.getValue() as? String == "v")
    }

    @Test("ConfirmationCallback has the ForgeRock SDK's types, and sends the number of the button")
    func readsConfirmation() async throws {
        let json = #"""
            {"type":"ConfirmationCallback","output":[{"name":"prompt","value":""},{"name":"messageType","value":0},
            {"name":"options","value":["Yes","No"]},{"name":"optionType","value":-1},{"name":"defaultOption","value":1}],
            "input":[{"name":"IDToken1","value":100}],"_id":3}
            """#
        let journey = try ScriptedSteps(json)
        let node = try await journey.start()
        let callback = try #require(node.callbacks.first as? ConfirmationCallback)
        #expect(callback.prompt == "" && callback.messageType == .information && callback.options == ["Yes", "No"])
        #expect(callback.optionType == .unspecifiedOption && callback.defaultOption == 1 && callback.option == .unknown)
        #expect(callback.value as? Int == 100 && callback.inputName == "IDToken1" && callback._id == 3)
        callback.value = 0
        #expect(inputs(of: try await journey.finish(node)) == [.integer(0)])

        let option = try ConfirmationCallback(
            json: callbackJSON(
                "ConfirmationCallback", output: ["option": .integer(2), "optionType": .integer(7), "messageType": .string("1")],
                inputs: [""]))
        #expect(option.option == .cancel && option.optionType == .unknown && option.defaultOption == -1)
        #expect(option.messageType == .unknown && option.options == nil && option.prompt == nil)
    }

    @Test(
        "TextOutputCallback reads the kind of the message from a string only",
        arguments: [
            (JSONValue.string("0"), MessageType.information), (.string("1"), .warning), (.string("2"), .error),
            (.string("4"), .unknown), (.string("x"), .unknown), (.integer(0), .unknown),
        ])
    func readsMessageType(value: JSONValue, type: MessageType) throws {
        let json = try callbackJSON("TextOutputCallback", output: ["message": .string("m"), "messageType": value], inputs: [])
        let callback = try TextOutputCallback(json: json)
        #expect(callback.message == "m" && callback.messageType == type)
        #expect(callback.buildResponse().isEmpty == (type == .unknown))
    }

    @Test("Attribute callbacks read validateOnly, the value and the policies, and send the entered value in its type")
    func readsAttributes() async throws {
        let attribute = { (type: String, index: Int, value: String) in
            #"""
            {"type":"\#(type)AttributeInputCallback","output":[{"name":"name","value":"n"},{"name":"prompt","value":"P"},
            {"name":"required","value":true},{"name":"policies","value":{"policies":[]}},{"name":"failedPolicies","value":[]},
            {"name":"validateOnly","value":\#(index == 1)},{"name":"value","value":\#(value)}],
            "input":[{"name":"IDToken\#(index)","value":\#(value)},{"name":"IDToken\#(index)validateOnly","value":false}],"_id":1}
            """#
        }
        let journey = try ScriptedSteps(
            [attribute("String", 1, #""s""#), attribute("Number", 2, "30"), attribute("Boolean", 3, "false")]
                .joined(separator: ","))
        let node = try await journey.start()
        let text = try #require(node.callbacks[0] as? StringAttributeInputCallback)
        #expect(text.name == "n" && text.prompt == "P" && text.required && text.validateOnly && text._id == 1)
        #expect(text.policies != nil && text.failedPolicies == nil && text.getValue() as? String == "s")
        let number = try #require(node.callbacks[1] as? NumberAttributeInputCallback)
        #expect(number.getValue() as? Double == 30 && !number.validateOnly)
        let boolean = try #require(node.callbacks[2] as? BooleanAttributeInputCallback)
        #expect(boolean.getValue() as? Bool == false)
        number.setValue(31.5)
        boolean.setValue(true)
        #expect(
            inputs(of: try await journey.finish(node)) == [
                .string("s"), .bool(true), .number(31.5), .bool(false), .bool(true), .bool(false),
            ])
    }

    @Test("A failed policy names the property and the requirement")
    func describesFailedPolicy() throws {
        let json = try callbackJSON(
            "ValidatedCreatePasswordCallback",
            output: [
                "prompt": .string("Password"), "echoOn": .bool(true),
                "failedPolicies": .array([.string(#"{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}"#)]),
            ], inputs: ["", "validateOnly"])
        let callback = try ValidatedCreatePasswordCallback(json: json)
        let policy = try #require(callback.failedPolicies?.first)
        #expect(policy.policyRequirement == "MIN_LENGTH" && policy.params?["minLength"] as? Int == 8 && callback.echoOn)
        #expect(policy.failedDescription() == "Password: Use at least 8 characters.")
        policy.params = ["minLength": 9]
        #expect(policy.failedDescription() == "Password: Use at least 9 characters.")
    }

    @Test("Numbers that JSONSerialization reads keep their type")
    func keepsTypesOfFoundationNumbers() throws {
        let json = try untyped(
            #"""
            {"type":"ChoiceCallback","output":[{"name":"prompt","value":"p"},{"name":"choices","value":["a","b"]},
            {"name":"defaultChoice","value":1}],"input":[{"name":"IDToken1","value":0}],"_id":1}
            """#)
        let choice = try ChoiceCallback(json: json)
        #expect(choice._id == 1 && choice.defaultChoice == 1 && choice.getValue() as? Int == 1)
        let flag = try untyped(#"{"type":"x","input":[{"name":"IDToken1","value":true}]}"#)
        #expect(try SingleValueCallback(json: flag).getValue() as? Bool == true)
        let one = try untyped(#"{"type":"x","input":[{"name":"IDToken1","value":1}]}"#)
        #expect(try SingleValueCallback(json: one).getValue() as? Bool == nil)
    }

    @Test("A value can be removed, and a value that JSON can't express is ignored")
    func removesValue() throws {
        let callback = try NameCallback(json: callbackJSON("NameCallback", output: ["prompt": .string("p")], inputs: [""]))
        callback.setValue("demo")
        callback.setValue(Date(timeIntervalSince1970: 0))
        #expect(callback.getValue() as? String == "demo")
        callback.setValue(nil)
        let sent = try #require((callback.buildResponse()["input"] as? [[String: Any]])?.first)
        #expect(callback.getValue() == nil && sent["value"] == nil && sent["name"] as? String == "IDToken1")
    }
}
