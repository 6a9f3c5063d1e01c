/// Who can be asked for a vault's key without asking the person.
public enum UsualCustodians {
    /// The hardware, the desktop's keyring and the systemd credential, in this order. Only those are asked that a vault has a
    /// slot for.
    /// - Parameter environment: The process's environment, for the credential.
    public static func all(environment: [String: String]) -> [any KeyCustodian] {
        #if canImport(Security)
        [SecureEnclaveCustodian()]
        #else
        [TPMCustodian(), SecretServiceCustodian(), CredentialCustodian(environment: environment)]
        #endif
    }
}
