import SignetCore
import SignetJourney

/// Which class a callback gets, by its type. A value here, with the original's classes in it; an app adds its own or replaces them.
public struct CallbackFactory: Sendable {
    /// The classes by the names on the wire.
    public private(set) var supportedCallbacks: [String: Callback.Type]

    /// The original's classes.
    public init() {
        let classes: [String: Callback.Type] = [
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
            // Metadata on the wire; these names are the classes'.
            "WebAuthnRegistrationCallback": WebAuthnRegistrationCallback.self,
            "WebAuthnAuthenticationCallback": WebAuthnAuthenticationCallback.self,
        ]
        supportedCallbacks = classes
    }

    /// Gives callbacks of a type a class of the app's own.
    public mutating func registerCallback(callbackType: String, callbackClass: Callback.Type) {
        supportedCallbacks[callbackType] = callbackClass
    }

    /// The callback in its class; a plain one when there is no class for it, or it lacks what its class cannot do without, so that no
    /// step is lost to a callback that is new.
    func callback(_ wire: JourneyCallback) throws -> Callback {
        for name in [Self.meaning(of: wire), wire.type].compactMap({ $0 }) {
            if let known = supportedCallbacks[name], let callback = try? known.init(wire) { return callback }
        }
        return try Callback(wire)
    }

    /// What metadata stands for (protocol/journey.md section 2.7); nil for metadata that only the app understands.
    private static func meaning(of wire: JourneyCallback) -> String? {
        guard wire.type == "MetadataCallback" else { return nil }
        switch WebAuthnCallback.request(in: wire) {
        case .registration?: return "WebAuthnRegistrationCallback"
        case .authentication?: return "WebAuthnAuthenticationCallback"
        case nil: break
        }
        return switch PingOneProtectCallback.request(in: wire) {
        case .initialize?: "PingOneProtectInitializeCallback"
        case .evaluate?: "PingOneProtectEvaluationCallback"
        case nil: nil
        }
    }
}
