/// The classes of the SDK for callback types.
enum BuiltInCallbacks {
    static let classes: [String: any Callback.Type] = [
        "BooleanAttributeInputCallback": BooleanAttributeInputCallback.self, "ChoiceCallback": ChoiceCallback.self,
        "ConfirmationCallback": ConfirmationCallback.self, "ConsentMappingCallback": ConsentMappingCallback.self,
        "HiddenValueCallback": HiddenValueCallback.self, "KbaCreateCallback": KbaCreateCallback.self,
        "MetadataCallback": MetadataCallback.self, "NameCallback": NameCallback.self,
        "NumberAttributeInputCallback": NumberAttributeInputCallback.self, "PasswordCallback": PasswordCallback.self,
        "PollingWaitCallback": PollingWaitCallback.self, "StringAttributeInputCallback": StringAttributeInputCallback.self,
        "SuspendedTextOutputCallback": SuspendedTextOutputCallback.self,
        "TermsAndConditionsCallback": TermsAndConditionsCallback.self, "TextInputCallback": TextInputCallback.self,
        "TextOutputCallback": TextOutputCallback.self, "ValidatedCreatePasswordCallback": ValidatedPasswordCallback.self,
        "ValidatedCreateUsernameCallback": ValidatedUsernameCallback.self,
    ]
}
