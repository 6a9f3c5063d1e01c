import FRAuth
import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite("Callback classes of an app, and the callbacks that every class refuses")
struct CallbackClassTests {
    /// A callback class as apps write it for the ForgeRock SDK.
    private class ColorCallback: Callback {
        var inputName: String?
        var prompt: String?
        var color: String?
        var shade = "dark"
        var _id: Int?

        required init(json: [String: Any]) throws {
            guard let callbackType = json["type"] as? String else {
                throw AuthError.invalidCallbackResponse(String(describing: json))
            }
            for input in json["input"] as? [[String: Any]] ?? [] { inputName = input["name"] as? String }
            for output in json["output"] as? [[String: Any]] ?? [] where output["name"] as? String == "prompt" {
                prompt = output["value"] as? String
            }
            _id = json["_id"] as? Int
            guard inputName != nil else { throw AuthError.invalidCallbackResponse("no input") }
            try super.init(json: [:])
            type = callbackType
            response = json
        }

        override func buildResponse() -> [String: Any] {
            var payload = response
            payload["input"] = [["name": inputName ?? "", "value": color ?? ""], ["name": "shade", "value": shade]]
            payload["custom"] = ["made": "here"]
            return payload
        }
    }

    private static let color = #"""
        {"type":"ColorCallback","output":[{"name":"prompt","value":"Which?"}],"input":[{"name":"IDToken1","value":""}],"_id":1}
        """#

    @Test("A class of the app reads a callback and decides what is sent")
    func sendsResponseOfAppClass() async throws {
        let direct = try ColorCallback(json: untyped(Self.color))
        #expect(direct.type == "ColorCallback" && direct.prompt == "Which?" && direct.inputName == "IDToken1" && direct._id == 1)
        #expect((direct.buildResponse()["custom"] as? [String: String]) == ["made": "here"])
        #expect(throws: AuthError.self) { try ColorCallback(json: [:]) }

        let factory = CallbackFactory()
        factory.registerCallback(callbackType: "ColorCallback", callbackClass: ColorCallback.self)
        let journey = try ScriptedSteps(Self.color, factory: factory)
        let node = try await journey.start()
        let callback = try #require(node.callbacks.first as? ColorCallback)
        callback.color = "red"
        let sent = try #require(try await journey.finish(node)["callbacks"]?.array?.first)
        #expect(sent["custom"]?["made"] == .string("here") && sent["type"] == .string("ColorCallback"))
        let values = (sent["input"]?.array ?? []).map { $0["value"] }
        #expect(values == [.string("red"), .string("dark")])
        #expect(sent["_id"] == .integer(1))
    }

    @Test("The process's factory registers, replaces and removes classes")
    func registersAndRemovesClasses() {
        FRAuthProcess.$current.withValue(FRAuthProcess()) {
            let original = CallbackFactory.shared.supportedCallbacks
            #expect(original["NameCallback"] == NameCallback.self && original["ColorCallback"] == nil)
            CallbackFactory.shared.registerCallback(callbackType: "ColorCallback", callbackClass: ColorCallback.self)
            #expect(CallbackFactory.shared.supportedCallbacks["ColorCallback"] == ColorCallback.self)
            CallbackFactory.shared.supportedCallbacks.removeValue(forKey: "ColorCallback")
            #expect(!CallbackFactory.shared.supportedCallbacks.keys.contains("ColorCallback"))
            CallbackFactory.shared.supportedCallbacks["NameCallback"] = ColorCallback.self
            CallbackFactory.shared.supportedCallbacks = original
            #expect(CallbackFactory.shared.supportedCallbacks["NameCallback"] == NameCallback.self)
        }
    }

    @Test("A step with a callback that its class refuses, or without a type, fails with the ForgeRock SDK's code")
    func failsStepWithRefusedCallback() async throws {
        for callback in [#"{"type":"NameCallback","output":[]}"#, #"{"output":[],"input":[]}"#, #"{"type":1}"#] {
            let journey = try ScriptedSteps(callback)
            do {
                _ = try await journey.start()
                Issue.record("the journey did not fail for \(callback)")
            } catch {
                guard case AuthError.invalidCallbackResponse = error else { throw error }
            }
        }
    }

    @Test("A class without a type refuses the callback")
    func refusesCallbackWithoutType() throws {
        let classes: [Callback.Type] = [
            SingleValueCallback.self, MultipleValuesCallback.self, MetadataCallback.self, NameCallback.self,
            ConfirmationCallback.self, TextOutputCallback.self, PollingWaitCallback.self, ReCaptchaCallback.self,
            KbaCreateCallback.self, IdPCallback.self, SelectIdPCallback.self, FRAppIntegrityCallback.self,
            WebAuthnRegistrationCallback.self, WebAuthnAuthenticationCallback.self, DeviceProfileCallback.self,
            PingOneProtectInitializeCallback.self, PingOneProtectEvaluationCallback.self, ReCaptchaEnterpriseCallback.self,
            DeviceBindingCallback.self, DeviceSigningVerifierCallback.self,
        ]
        for type in classes { #expect(try refusal(of: type, [:]) == "the callback has no type", "\(type)") }
        #expect(try refusal(of: Callback.self, [:]) == nil)
    }

    @Test("A callback without a required part is refused, with the name of the part")
    func refusesCallbackWithoutPart() throws {
        let empty: [String: JSONValue] = [:]
        let texts = { (names: String...) in Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue.string($0)) }) }
        let device = texts("challenge", "title", "subtitle", "description", "userId", "username")
        let protected = device.merging(["authenticationType": .string("NONE")]) { $1 }
        let cases: [(Callback.Type, [String: JSONValue], [String], String)] = [
            (NameCallback.self, empty, [""], "Missing prompt"), (PasswordCallback.self, empty, [""], "Missing prompt"),
            (TextInputCallback.self, empty, [""], "Missing prompt"),
            (ChoiceCallback.self, ["choices": .array([.string("a")])], [""], "Missing prompt"),
            (ChoiceCallback.self, ["prompt": .string("p")], [""], "Missing choices"),
            (PollingWaitCallback.self, empty, [], "Missing waitTime"),
            (ReCaptchaCallback.self, empty, [""], "Missing recaptchaSiteKey"),
            (KbaCreateCallback.self, empty, ["question", "answer"], "Missing predefinedQuestions"),
            (KbaCreateCallback.self, empty, ["question"], "Missing answer"),
            (IdPCallback.self, texts("provider", "clientId", "redirectUri"), ["token"], "Missing token_type"),
            (ReCaptchaEnterpriseCallback.self, empty, ["token"], "Missing recaptchaSiteKey"),
            (ReCaptchaEnterpriseCallback.self, texts("recaptchaSiteKey"), ["token"], "Missing action"),
            (FRAppIntegrityCallback.self, empty, [], "Missing challenge"),
            (FRAppIntegrityCallback.self, texts("challenge", "attestToken"), ["attestToken", "token"], "Missing clientData"),
            (DeviceSigningVerifierCallback.self, empty, ["jws"], "Missing challenge"),
            (DeviceSigningVerifierCallback.self, device, ["jws"], "Missing clientError"),
            (DeviceBindingCallback.self, device, ["jws", "clientError", "deviceName", "deviceId"], "Missing authenticationType"),
            (DeviceBindingCallback.self, protected, ["jws", "clientError", "deviceName"], "Missing deviceId"),
            (PingOneProtectInitializeCallback.self, empty, ["clientError"], "Missing envId"),
        ]
        for (type, output, inputs, reason) in cases {
            let json = try callbackJSON(String(describing: type), output: output, inputs: inputs)
            #expect(try refusal(of: type, json) == reason, "\(type)")
        }
        let name = try untyped(#"{"type":"NameCallback","output":[{"name":"prompt","value":"p"}]}"#)
        #expect(try refusal(of: NameCallback.self, name) == "Missing input")
        let confirmation = try untyped(#"{"type":"ConfirmationCallback","input":[{"name":"IDToken1","value":100}]}"#)
        #expect(try refusal(of: ConfirmationCallback.self, confirmation) == "Missing output")
    }

    @Test("The names in the JSON of callbacks are constants")
    func namesMembersOfCallbacks() {
        let names = [
            CBConstants.predefinedQuestions: "predefinedQuestions", CBConstants.question: "question",
            CBConstants.answer: "answer",
            CBConstants.choices: "choices", CBConstants.defaultChoice: "defaultChoice", CBConstants.version: "version",
            CBConstants.createDate: "createDate", CBConstants.terms: "terms", CBConstants.echoOn: "echoOn",
            CBConstants.policies: "policies", CBConstants.validateOnly: "validateOnly",
            CBConstants.failedPolicies: "failedPolicies", CBConstants.params: "params",
            CBConstants.policyRequirement: "policyRequirement", CBConstants.required: "required",
            CBConstants.tokenType: "token_type", CBConstants.originPrefix: "ios:bundle-id:", CBConstants.public_key: "public-key",
            CBConstants._allowCredentials: "_allowCredentials", CBConstants.attest: "attestToken",
        ]
        for (constant, name) in names { #expect(constant == name) }
    }

    @Test("A callback equals itself only, as an NSObject does")
    func comparesCallbacksByIdentity() throws {
        let json = try callbackJSON("NameCallback", output: ["prompt": .string("p")], inputs: [""])
        let (one, other) = (try NameCallback(json: json), try NameCallback(json: json))
        #expect(one == one && one != other && Set([one, other, one]).count == 2)
    }
}
