public import Foundation

/// The user's decision about a passkey.
public enum WebAuthnUserConsentResult: Sendable {
    /// The user agrees.
    case allow
    /// The user refuses.
    case reject
}

/// The attestation that a server asks for (WebAuthn section 5.4.7).
public enum WAAttestationPreference: String, Sendable {
    /// No attestation.
    case none
    /// The authenticator's own attestation.
    case direct
    /// An attestation that the client may replace by an anonymous one.
    case indirect
}

/// The check of the user that a server asks for (WebAuthn section 5.8.6).
public enum WAUserVerification: String, Sendable {
    /// A check if the authenticator supports one.
    case preferred
    /// A check, without which the request fails.
    case required
    /// No check.
    case discouraged
}

/// The kind of authenticator that a server asks for (WebAuthn section 5.4.5).
public enum WAAuthenticatorAttachment: String, Sendable {
    /// The device's own authenticator.
    case platform
    /// An authenticator that moves between devices, such as a USB security key.
    case crossPlatform = "cross-platform"
    /// Any kind.
    case unspecified
}

/// An object that asks the user before a passkey is created.
public protocol PlatformAuthenticatorRegistrationDelegate: AnyObject {
    /// Asks the user whether to continue although the user already has a passkey.
    ///
    /// This SDK never calls it: the authenticator reports such a passkey as an error.
    func excludeCredentialDescriptorConsent(consentCallback: @escaping WebAuthnUserConsentCallback)
    /// Asks the user to agree to a new passkey.
    func createNewCredentialConsent(
        keyName: String, rpName: String, rpId: String?, userName: String, userDisplayName: String,
        consentCallback: @escaping WebAuthnUserConsentCallback)
}

/// An object of the app for the ForgeRock SDK's own passkeys.
public protocol PlatformAuthenticatorAuthenticationDelegate: AnyObject {
    /// Announces that passkeys of the platform could replace the ForgeRock SDK's own.
    func localKeyExistsAndPasskeysAreAvailable()
    /// Lets the user select a passkey.
    func selectCredential(keyNames: [String], selectionCallback: @escaping WebAuthnCredentialsSelectionCallback)
}

/// A passkey that the SDK itself holds.
public struct PublicKeyCredentialSource: Sendable, Hashable {
    /// The label of the key: the relying party and the passkey's identifier in hexadecimal digits.
    public let keyLabel: String
    /// The text to show for the passkey.
    public let otherUI: String
}

/// The passkeys that the SDK itself holds.
///
/// This SDK holds none, because passkeys belong to the app's `WebAuthnAuthenticator`. The class exists for apps that show a list of
/// passkeys; the list is empty.
public class FRWebAuthn: NSObject {
    /// Returns an empty list.
    public static func loadAllCredentials(by rpId: String) -> [PublicKeyCredentialSource] { [] }

    /// Has no effect.
    public static func deleteCredentials(by rpId: String) {}

    /// Deletes a passkey.
    /// - Parameters:
    ///   - publicKeyCredentialSource: The passkey.
    ///   - forceDelete: True to delete the key here although the server doesn't delete it.
    /// - Throws: ``WebAuthnError/unsupported(platformError:message:)``, because the SDK holds no passkey.
    public static func deleteCredential(
        publicKeyCredentialSource: PublicKeyCredentialSource, forceDelete: Bool = false
    ) throws {
        throw WebAuthnError.unsupported(platformError: nil, message: "the app's authenticator holds the passkeys")
    }
}
