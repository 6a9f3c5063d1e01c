import Foundation
public import PingLogger
import SignetAuthenticator
import SignetCore
package import SignetStorage

/// A storage of credentials in the user's vault, with the API of the Ping SDK.
///
/// The default service is the place of a client without a storage: the accounts of the vault, which PingPush, FRAuthenticator and
/// the program `signet` use too. There, an account has one credential of each type, and a credential is validated before it is
/// stored. Any other service is an item of the vault with credentials of its own.
///
/// All methods throw ``OathStorageError``.
public final class OathKeychainStorage: OathStorage {
    /// The name of the default service.
    public static let defaultService = "com.pingidentity.oath"

    private let logger: (any Logger)?
    private let needsBiometrics: Bool
    private let keychain: VaultProvider
    /// The item with the credentials; nil for the accounts of the vault.
    private let item: RecordKey?

    /// Creates a storage of the credentials of a service.
    /// - Parameters:
    ///   - service: The name of the service.
    ///   - logger: The receiver of the storage's log lines.
    ///   - securityOptions: The protection of the credentials.
    public convenience init(
        service: String = defaultService, logger: (any Logger)? = nil, securityOptions: OathKeychainSecurityOptions = .standard
    ) {
        self.init(service: service, logger: logger, securityOptions: securityOptions, in: .default)
    }

    /// Creates a storage of the credentials of a service.
    /// - Parameters:
    ///   - service: The name of the service.
    ///   - logger: The receiver of the storage's log lines.
    ///   - accessGroup: The name of a group of programs that share the credentials.
    ///   - accessibility: The name of the keychain's accessibility class.
    public convenience init(
        service: String = defaultService, logger: (any Logger)? = nil, accessGroup: String? = nil,
        accessibility: String = OathKeychainSecurityOptions.whenUnlockedThisDeviceOnly
    ) {
        let options = OathKeychainSecurityOptions(accessibility: accessibility, accessGroup: accessGroup)
        self.init(service: service, logger: logger, securityOptions: options, in: .default)
    }

    /// Creates a storage in another vault than the user's.
    package init(
        service: String = defaultService, logger: (any Logger)? = nil, securityOptions: OathKeychainSecurityOptions = .standard,
        in keychain: VaultProvider
    ) {
        self.logger = logger
        self.keychain = keychain
        needsBiometrics = securityOptions.requireBiometrics
        let group = securityOptions.accessGroup
        item =
            service == Self.defaultService && group == nil
            ? nil : RecordKey(.item, "one-time-code credentials", group ?? "", service)
    }

    /// Stores a credential, in place of the one with the same id.
    ///
    /// In the accounts of the vault, the counter never moves back.
    /// - Throws: ``OathStorageError/duplicateCredential(_:)`` when the account in the vault has a credential of this type.
    public func storeOathCredential(_ credential: OathCredential) async throws {
        try await run("Storing OATH credential \(credential.id)", "Successfully stored OATH credential \(credential.id)") {
            guard let item else {
                return try await accounts().storeOathCredential(credential)
            }
            try await keychain.write { records throws(StoreError) in
                var kept = try KeptCredentials(records.record(item))
                kept.store(credential)
                try records.put(kept.bytes(), item)
            }
        }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func retrieveOathCredential(credentialId: String) async throws -> OathCredential? {
        try await run("Reading OATH credential \(credentialId)", nil) {
            guard item != nil else { return try await accounts().retrieveOathCredential(credentialId: credentialId) }
            return try await kept().credentials.first { $0.id == credentialId }
        }
    }

    /// Returns all credentials.
    public func getAllOathCredentials() async throws -> [OathCredential] {
        try await run("Reading all OATH credentials", nil) {
            guard item != nil else { return try await accounts().getAllOathCredentials() }
            return try await kept().credentials
        }
    }

    /// Removes a credential.
    /// - Returns: True when it existed.
    public func removeOathCredential(credentialId: String) async throws -> Bool {
        try await run("Deleting OATH credential \(credentialId)", nil) {
            guard let item else { return try await accounts().removeOathCredential(credentialId: credentialId) }
            return try await keychain.write { records throws(StoreError) in
                var kept = try KeptCredentials(records.record(item))
                guard kept.remove(credentialId) else { return false }
                try records.put(kept.bytes(), item)
                return true
            }
        }
    }

    /// Removes all credentials.
    public func clearOathCredentials() async throws {
        try await run("Removing all OATH credentials", nil) {
            guard let item else { return try await accounts().clearOathCredentials() }
            try await keychain.write { records throws(StoreError) in try records.remove(item) }
        }
    }

    /// Stores and removes credentials in one transaction.
    ///
    /// - Throws: `StoreError.Code.busy` when one of them differs from the one in `read`.
    func apply(_ changes: CredentialChanges) async throws {
        guard let item else { return try await accounts().apply(changes) }
        try await keychain.write { records throws(StoreError) in
            var kept = try KeptCredentials(records.record(item))
            let current = Dictionary(kept.credentials.map { ($0.id, $0) }) { _, last in last }
            guard changes.ids.allSatisfy({ current[$0] == changes.read[$0] }) else {
                throw StoreError(.busy, "store the credentials", "another client has changed them; nothing was stored, try again")
            }
            for credential in changes.stored { kept.store(credential) }
            for id in changes.removed { _ = kept.remove(id) }
            try records.put(kept.bytes(), item)
        }
    }

    /// Returns the accounts of the vault if they are the place of this storage, and nil for another service.
    /// - Throws: `StoreError.Code.denied` for a protection that the vault does not have; the errors of opening the vault.
    func accountStore() async throws(StoreError) -> (any AccountStore)? {
        try refuseMissingProtection()
        guard item == nil else { return nil }
        return RemoteAccountRecords(AccountRecords(unsealed: try await keychain.store()))
    }

    private func accounts() async throws -> AccountCredentials {
        let store = RemoteAccountRecords(AccountRecords(unsealed: try await keychain.store()))
        return AccountCredentials(store)
    }

    private func kept() async throws -> KeptCredentials {
        guard let item else { return try KeptCredentials(nil) }
        return try KeptCredentials(await keychain.read { records throws(StoreError) in try records.record(item) })
    }

    private func refuseMissingProtection() throws(StoreError) {
        guard !needsBiometrics else {
            throw StoreError(
                .denied, "open the storage", "a vault cannot demand biometric recognition; use options without requireBiometrics")
        }
    }

    /// Runs a call, logs it, and converts its error.
    private func run<R>(_ line: String, _ end: String?, _ body: () async throws -> R) async throws -> R {
        logger?.d(line)
        do {
            try refuseMissingProtection()
            let result = try await body()
            if let end { logger?.d(end) }
            return result
        } catch {
            let error = OathStorageError(error)
            logger?.e("\(line): \(error.description)", error: error)
            throw error
        }
    }
}

/// The credentials of a service as the content of an item.
struct KeptCredentials {
    private struct Kept: Codable {
        let credential: OathCredential
        /// The secret in base32; nil when the credential has none.
        let secret: String?
    }

    /// The credentials in the order in which they were first stored.
    private(set) var credentials: [OathCredential]

    /// Decodes the content of an item.
    ///
    /// Nil is an item without credentials.
    init(_ bytes: [UInt8]?) throws(StoreError) {
        guard let bytes else {
            credentials = []
            return
        }
        do {
            credentials = try JSON.decode([Kept].self, from: bytes).map { kept in
                var credential = kept.credential
                credential.secret = try kept.secret.map { Secret(try Base32.decode($0)) }
                return credential
            }
        } catch {
            throw StoreError(
                .corrupt, "read the credentials", "the item is not what was written; it was left as it is")
        }
    }

    /// Returns the content of the item.
    func bytes() throws(StoreError) -> [UInt8] {
        do {
            let kept = credentials.map { credential in
                Kept(credential: credential, secret: credential.secret?.withUnsafeBytes { Base32.encode($0) })
            }
            return try Array(JSON.encode(kept))
        } catch {
            throw StoreError(.invalid, "store the credentials", "JSON cannot express them; nothing was changed")
        }
    }

    mutating func store(_ credential: OathCredential) {
        if let index = credentials.firstIndex(where: { $0.id == credential.id }) {
            credentials[index] = credential
        } else {
            credentials.append(credential)
        }
    }

    /// Removes a credential.
    ///
    /// Returns true when it existed.
    mutating func remove(_ id: String) -> Bool {
        let count = credentials.count
        credentials.removeAll { $0.id == id }
        return credentials.count < count
    }
}
