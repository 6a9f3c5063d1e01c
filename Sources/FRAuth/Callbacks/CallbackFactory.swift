import SignetCore

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
            "DeviceProfileCallback": DeviceProfileCallback.self,
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
        if let known = supportedCallbacks[wire.type], let callback = try? known.init(wire) { return callback }
        return try Callback(wire)
    }
}
