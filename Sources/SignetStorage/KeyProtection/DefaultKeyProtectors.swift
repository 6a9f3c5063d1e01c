/// The key protectors that need no input from the user.
public enum DefaultKeyProtectors {
    /// Returns the default key protectors: on Apple platforms the Secure Enclave, and elsewhere the TPM, the desktop's keyring
    /// and the systemd credential, in this order.
    ///
    /// A vault only uses those that it has a slot for. A new vault is sealed by the first one that works here; see
    /// ``VaultProvider/default``.
    /// - Parameter environment: The environment of the process, which names the directory of the credential.
    /// - Returns: One key protector of each kind, whether or not this machine supports it.
    public static func all(environment: [String: String]) -> [any KeyProtector] {
        #if canImport(Security)
        [SecureEnclaveProtector()]
        #else
        [
            TPMProtector(tcti: environment[tctiVariable] ?? TPMProtector.defaultTCTI), SecretServiceProtector(),
            SystemdCredentialProtector(environment: environment),
        ]
        #endif
    }

    /// The environment variable with a TPM connection (TCTI) that replaces the kernel's device, for tests.
    package static let tctiVariable = "SIGNET_TCTI"
}
