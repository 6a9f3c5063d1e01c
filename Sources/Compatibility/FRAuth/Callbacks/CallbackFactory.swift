import SignetCore
import SignetJourney

/// The mapping from callback types to Swift classes.
///
/// It begins with the classes of the ForgeRock SDK; an app can add classes or replace them.
public struct CallbackFactory: Sendable {
    /// The classes, by the type names in the server's JSON.
    public private(set) var supportedCallbacks: [String: Callback.Type]

    /// Creates a factory with the classes of the ForgeRock SDK.
    public init() {
        supportedCallbacks = [
            "NameCallback": NameCallback.self, "PasswordCallback": PasswordCallback.self,
            "TextInputCallback": TextInputCallback.self, "ChoiceCallback": ChoiceCallback.self,
            "ConfirmationCallback": ConfirmationCallback.self, "TextOutputCallback": TextOutputCallback.self,
            "SuspendedTextOutputCallback": SuspendedTextOutputCallback.self, "HiddenValueCallback": HiddenValueCallback.self,
            "PollingWaitCallback": PollingWaitCallback.self, "MetadataCallback": MetadataCallback.self,
            "ValidatedCreateUsernameCallback": ValidatedCreateUsernameCallback.self,
            "ValidatedCreatePasswordCallback": ValidatedCreatePasswordCallback.self,
            "StringAttributeInputCallback": StringAttributeInputCallback.self,
            "NumberAttributeInputCallback": NumberAttributeInputCallback.self,
            "BooleanAttributeInputCallback": BooleanAttributeInputCallback.self,
            "TermsAndConditionsCallback": TermsAndConditionsCallback.self, "KbaCreateCallback": KbaCreateCallback.self,
            "SelectIdPCallback": SelectIdPCallback.self, "IdPCallback": IdPCallback.self,
            "ReCaptchaCallback": ReCaptchaCallback.self, "ReCaptchaEnterpriseCallback": ReCaptchaEnterpriseCallback.self,
            "ConsentMappingCallback": ConsentMappingCallback.self, "DeviceProfileCallback": DeviceProfileCallback.self,
            "DeviceBindingCallback": DeviceBindingCallback.self,
            "DeviceSigningVerifierCallback": DeviceSigningVerifierCallback.self,
            "AppIntegrityCallback": FRAppIntegrityCallback.self,
            "PingOneProtectInitializeCallback": PingOneProtectInitializeCallback.self,
            "PingOneProtectEvaluationCallback": PingOneProtectEvaluationCallback.self,
            // The server sends these two as MetadataCallback. The names here are the class names.
            "WebAuthnRegistrationCallback": WebAuthnRegistrationCallback.self,
            "WebAuthnAuthenticationCallback": WebAuthnAuthenticationCallback.self,
        ]
    }

    /// Registers a class of the app for a callback type.
    public mutating func registerCallback(callbackType: String, callbackClass: Callback.Type) {
        supportedCallbacks[callbackType] = callbackClass
    }

    /// Returns the callback as an instance of its class.
    ///
    /// The result is a plain ``Callback`` when no class is registered, or when the callback lacks a part that its class needs, so
    /// that a step with an unknown callback stays usable.
    func callback(_ callback: JourneyCallback) throws -> Callback {
        for name in [Self.className(for: callback), callback.type].compactMap({ $0 }) {
            if let known = supportedCallbacks[name], let object = try? known.init(callback) { return object }
        }
        return try Callback(callback)
    }

    /// Returns the name of the class for a MetadataCallback (protocol/journey.md section 2.7); nil for metadata that only the app
    /// understands.
    private static func className(for callback: JourneyCallback) -> String? {
        guard callback.type == "MetadataCallback" else { return nil }
        switch WebAuthnCallback.request(in: callback) {
        case .registration?: return "WebAuthnRegistrationCallback"
        case .authentication?: return "WebAuthnAuthenticationCallback"
        case nil: break
        }
        return switch PingOneProtectCallback.request(in: callback) {
        case .initialize?: "PingOneProtectInitializeCallback"
        case .evaluate?: "PingOneProtectEvaluationCallback"
        case nil: nil
        }
    }
}
