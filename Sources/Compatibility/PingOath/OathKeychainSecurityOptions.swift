/// The protection of the credentials of an ``OathKeychainStorage``, with the API of the Ping SDK.
///
/// The vault seals all credentials, whatever the options are. Options that the vault does not have are refused by the first
/// call of the storage, and never ignored.
public struct OathKeychainSecurityOptions: Sendable, Hashable {
    /// The name of the keychain's accessibility class.
    ///
    /// It has no effect on a vault, which is open while its key is available.
    public let accessibility: String
    /// True when the owner of the device must be recognized before each access, which a vault cannot enforce.
    public let requireBiometrics: Bool
    /// True when the device's passcode may take the place of the recognition.
    public let requireDevicePasscode: Bool
    /// The text that is shown when the owner is to be recognized.
    public let biometricPrompt: String?
    /// The name of a group of programs that share the credentials.
    ///
    /// On Linux it is a part of the name under which the user's vault keeps them.
    public let accessGroup: String?

    /// The accessibility class of the presets.
    public static let whenUnlockedThisDeviceOnly = "aku"

    /// Creates options.
    public init(
        accessibility: String = whenUnlockedThisDeviceOnly, requireBiometrics: Bool = false, requireDevicePasscode: Bool = false,
        biometricPrompt: String? = nil, accessGroup: String? = nil
    ) {
        self.accessibility = accessibility
        self.requireBiometrics = requireBiometrics
        self.requireDevicePasscode = requireDevicePasscode
        self.biometricPrompt = biometricPrompt
        self.accessGroup = accessGroup
    }

    /// The default options.
    public static let standard = OathKeychainSecurityOptions()

    /// Recognition of the owner, or the device's passcode.
    public static let biometric = OathKeychainSecurityOptions(
        requireBiometrics: true, requireDevicePasscode: true, biometricPrompt: "Use your one-time codes")

    /// Recognition of the owner.
    public static let biometricOnly = OathKeychainSecurityOptions(
        requireBiometrics: true, biometricPrompt: "Confirm that you want to use your one-time codes")

    /// Returns the default options for credentials that a group of programs shares.
    public static func shared(accessGroup: String) -> OathKeychainSecurityOptions {
        OathKeychainSecurityOptions(accessGroup: accessGroup)
    }
}
