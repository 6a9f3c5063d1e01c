public import SignetCore

/// A key that systemd passes to a service: the credential `name` in `$CREDENTIALS_DIRECTORY`.
///
/// Create it for example with `systemd-creds encrypt`, and pass it to the unit with `LoadCredentialEncrypted=`.
///
/// The content has at least ``minimumLength`` bytes that are hard to guess, for example 32 bytes from `/dev/urandom`. All bytes
/// are used, including a trailing newline. The vault is sealed with a key that is derived from it (HKDF-SHA-256).
///
/// These checks are made on the open files:
/// - The directory and the credential are not links. The credential is a regular file with one name (hard link).
/// - They belong to this user or to root.
/// - If they belong to this user, group and others have no permissions.
/// - If they belong to root, the group may have read permission but no write permission, and others have no permissions. systemd
///   gives a service's user read access with an access control list, and the mask of that list appears as the group's
///   permissions. Root decides which users are in the list.
public struct SystemdCredentialProtector: KeyProtector {
    /// The name `credential`.
    public let name = "credential"
    /// The default name of the credential.
    public static let defaultCredential = "signet-vault-key"
    /// The minimum length of the content, in bytes.
    public static let minimumLength = 32

    private let credential: String
    private let directory: String?

    private static let maxLength = 4096

    /// Creates a key protector that reads the credential when it is needed.
    /// - Parameters:
    ///   - credential: The name of the credential, without `/`.
    ///   - environment: The environment of the service, which contains `CREDENTIALS_DIRECTORY`.
    public init(_ credential: String = defaultCredential, environment: [String: String]) {
        self.credential = credential
        directory = environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Reads the credential and returns ``KeyProtectorAvailability/usable`` when it exists and can be a key.
    public func availability() -> KeyProtectorAvailability {
        KeyProtectorAvailability { () throws(StoreError) in _ = try key("examine credential") }
    }

    /// Seals `dataKey` with the credential.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the credential does not exist; ``StoreError/Code/keyMismatch`` when it
    ///   is too short to be a key; ``StoreError/Code/insecurePermissions`` when other users can access it.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try WrappedKey.seal(dataKey, with: key("seal vault"), header: [WrappedKey.version], context: context)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: The errors of ``wrap(_:context:)``; ``StoreError/Code/keyMismatch`` also when it was sealed with another
    ///   credential.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let slot = try WrappedKey(wrapped, headerLength: 1)
        guard let dataKey = try slot.open(with: key("open vault"), context: context) else {
            throw StoreError(
                .keyMismatch, "open vault",
                "the credential \(credential) is not the one the vault was sealed with, or the slot is damaged")
        }
        return dataKey
    }

    private func key(_ operation: String) throws(StoreError) -> Secret {
        guard let directory else {
            throw StoreError(
                .keyUnavailable, operation,
                "CREDENTIALS_DIRECTORY is not set; run as a systemd service with LoadCredentialEncrypted=\(credential)")
        }
        guard !credential.isEmpty, credential != ".", credential != "..", !credential.contains("/"),
            !credential.utf8.contains(0)
        else {
            throw StoreError(.keyUnavailable, operation, "a credential cannot have the name \(credential.debugDescription)")
        }
        let found = try CredentialFile.contents(credential, in: directory, limit: Self.maxLength)
        guard let bytes = found else {
            throw StoreError(
                .keyUnavailable, operation,
                "\(directory) has no credential \(credential); give it to the unit with LoadCredentialEncrypted=\(credential)")
        }
        guard bytes.count >= Self.minimumLength else {
            throw StoreError(
                .keyMismatch, operation,
                "the credential \(credential) has \(bytes.count) bytes; a key has \(Self.minimumLength) random bytes or more")
        }
        return Sealing.derive("signet credential 1", from: Secret(bytes))
    }
}
