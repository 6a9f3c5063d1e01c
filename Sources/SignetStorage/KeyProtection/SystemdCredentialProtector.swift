public import SignetCore

/// A key that systemd hands to a service: the credential `name` in `$CREDENTIALS_DIRECTORY`, made for example with
/// `systemd-creds encrypt` and given to the unit with `LoadCredentialEncrypted=`.
///
/// The content is at least ``minimumLength`` bytes that nobody can guess, for example 32 from `/dev/urandom`; all of it counts,
/// a line end too. The vault is sealed with a key that is derived from it (HKDF-SHA-256).
///
/// What is checked, on the open files: directory and credential are no links, the credential is a regular file with one name,
/// both belong to this user or to root, nobody else can write them, and others cannot read them. A file of this user must be
/// out of its group's reach too. In one of root's the group may have a right to read: systemd lets a service's user read by an
/// access control list, and the mask of that list stands where the group's rights do. Who root lets read it is root's to know.
public struct SystemdCredentialProtector: KeyProtector {
    /// `credential`.
    public let name = "credential"
    /// The name of the credential that is looked for if no other is given.
    public static let defaultCredential = "signet-vault-key"
    /// The shortest content that is taken for a key, in bytes.
    public static let minimumLength = 32

    private let credential: String
    private let directory: String?

    private static let longest = 4096

    /// A key protector that reads the credential when it is needed.
    /// - Parameters:
    ///   - credential: The name of the credential, without `/`.
    ///   - environment: Where `CREDENTIALS_DIRECTORY` is looked up: the environment of the service.
    public init(_ credential: String = defaultCredential, environment: [String: String]) {
        self.credential = credential
        directory = environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Whether the credential is there and can be a key. It is read for that.
    public func availability() -> KeyProtectorAvailability {
        do throws(StoreError) {
            _ = try key("examine credential")
            return .usable
        } catch {
            return .unusable(error.reason)
        }
    }

    /// Seals `dataKey` with the credential.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when it is not there, ``StoreError/Code/keyMismatch`` when it cannot be a
    ///   key, ``StoreError/Code/unsafePlace`` when others can reach it.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try WrappedKey.seal(dataKey, with: key("seal vault"), header: [WrappedKey.version], context: context)
    }

    /// Opens what ``wrap(_:context:)`` sealed.
    /// - Throws: as ``wrap(_:context:)``; ``StoreError/Code/keyMismatch`` also when it is another credential.
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
        let found = try CredentialFile.contents(credential, in: directory, limit: Self.longest)
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
