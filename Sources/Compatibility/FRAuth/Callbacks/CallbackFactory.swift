public import Foundation
import SignetCore
import SignetJourney

/// The mapping from callback types to Swift classes.
///
/// It begins with the classes of the ForgeRock SDK; an app can add classes or replace them.
public final class CallbackFactory: NSObject, Sendable {
    private let classes: Mutex<[String: Callback.Type]>

    /// The classes, by the type names in the server's JSON.
    public var supportedCallbacks: [String: Callback.Type] {
        get { classes.withLock { $0 } }
        set { classes.withLock { $0 = newValue } }
    }

    /// Creates a factory with the classes of the ForgeRock SDK.
    public override init() {
        classes = Mutex(Self.defaultClasses)
        super.init()
    }

    private static let defaultClasses: [String: Callback.Type] = [
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

    /// Registers a class of the app for a callback type.
    public func registerCallback(callbackType: String, callbackClass: Callback.Type) {
        classes.withLock { $0[callbackType] = callbackClass }
    }

    /// Returns the callback as an instance of its class, or of ``Callback`` when no class is registered, so that a step with an
    /// unknown callback stays usable.
    /// - Throws: The error of a class that refuses the callback, for example because it lacks a part.
    func callback(_ callback: JourneyCallback) throws -> Callback {
        let classes = supportedCallbacks
        let type = Self.className(for: callback).flatMap { classes[$0] } ?? classes[callback.type] ?? Callback.self
        return try type.init(json: callback.untyped)
    }

    /// Returns the name of the class for a MetadataCallback (protocol/journey.md section 2.7); nil for metadata that only the app
    /// understands.
    ///
    /// It is nil for a passkey on a security key, too, because the class stands for the device's own authenticator. The app answers
    /// such a request with ``Node/answer(_:)``.
    private static func className(for callback: JourneyCallback) -> String? {
        guard callback.type == SignetJourney.MetadataCallback.type else { return nil }
        switch WebAuthnRequest(JourneyStep(authId: "", callbacks: [callback])) {
        case .registration(let request)?: return request.attachment == "cross-platform" ? nil : "WebAuthnRegistrationCallback"
        case .authentication?: return "WebAuthnAuthenticationCallback"
        case nil: break
        }
        switch ProtectCallback.request(in: callback) {
        case .initialize?: return "PingOneProtectInitializeCallback"
        case .evaluate?: return "PingOneProtectEvaluationCallback"
        case nil: break
        }
        // A passkey request that the engine can't read, which its class refuses with the reason.
        let data = callback.output("data")
        return switch data?["_action"]?.string {
        case "webauthn_registration"?: "WebAuthnRegistrationCallback"
        case "webauthn_authentication"?: "WebAuthnAuthenticationCallback"
        default: nil
        }
    }
}
