/// Who can be asked for a vault's key without asking the person.
public enum DefaultKeyProtectors {
    /// The hardware, the desktop's keyring and the systemd credential, in this order. Only those are asked that a vault has a
    /// slot for.
    /// - Parameter environment: The process's environment, for the credential.
    public static func all(environment: [String: String]) -> [any KeyProtector] {
        #if canImport(Security)
        [SecureEnclaveProtector()]
        #else
        [TPMProtector(), SecretServiceProtector(), SystemdCredentialProtector(environment: environment)]
        #endif
    }
}
