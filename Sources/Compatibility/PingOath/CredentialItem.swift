import PingLogger
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The changes of a call to the credentials of an ``OathStorage``.
struct CredentialChanges: Sendable {
    /// The credentials as they were read, by their ids.
    var read: [String: OathCredential] = [:]
    /// The credentials that are new or changed.
    var stored: [OathCredential] = []
    /// The ids of the credentials that were removed.
    var removed: [String] = []

    /// The ids of all credentials that change.
    var ids: [String] { stored.map(\.id) + removed }
}

extension OathStorage {
    /// Stores and removes credentials, one after another.
    func apply(_ changes: CredentialChanges) async throws {
        for credential in changes.stored { try await storeOathCredential(credential) }
        for id in changes.removed { _ = try await removeOathCredential(credentialId: id) }
    }
}

/// The credentials of an ``OathStorage`` as one item, for the engine's store over one item.
///
/// The item is an image of the credentials that were read. Saving it passes the credentials that differ from the image to the
/// storage.
final class CredentialItem: Storage {
    private let storage: any OathStorage
    private let logger: any Logger
    private var read: [String: OathCredential] = [:]
    /// The credentials of the image that was read last.
    ///
    /// They differ from those of the storage where several credentials describe one account differently.
    private var image: [String: OathCredential] = [:]

    init(_ storage: any OathStorage, logger: any Logger) {
        self.storage = storage
        self.logger = logger
    }

    func get() async throws -> StoredAccounts? {
        let credentials = try await translatingErrors { try await storage.getAllOathCredentials() }
        let records = try BundledRecords(nil)
        let writer = AccountRecords.writer(records)
        for credential in credentials.sorted(by: { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }) {
            do {
                let mechanism = try credential.mechanism(over: nil)
                let known = try writer.account(mechanism.account)
                try writer.save(mechanism)
                try writer.save(credential.storedDetails.applied(to: known, now: credential.createdAt))
            } catch let error as OathError {
                // It stays in the storage.
                logger.w("credential \(credential.id) of the storage is invalid and is left out", error: error)
            }
        }
        read = Dictionary(credentials.map { ($0.id, $0) }) { _, last in last }
        image = try Self.credentials(of: records)
        return StoredAccounts(bytes: records.bytes)
    }

    func save(item: StoredAccounts) async throws {
        let new = try Self.credentials(of: BundledRecords(item.bytes))
        var changes = CredentialChanges(read: read)
        changes.stored = new.values.filter { $0 != image[$0.id] }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        changes.removed = image.keys.filter { new[$0] == nil }.sorted()
        let storage = storage
        try await translatingErrors {
            // One transaction, if the storage is of this module.
            if let keychain = storage as? OathKeychainStorage {
                try await keychain.apply(changes)
            } else {
                try await storage.apply(changes)
            }
        }
    }

    func delete() async throws { try await translatingErrors { try await storage.clearOathCredentials() } }

    private static func credentials(of records: BundledRecords) throws -> [String: OathCredential] {
        var credentials: [String: OathCredential] = [:]
        for (account, mechanisms) in try AccountRecords.reader(records).accountsWithMechanisms() {
            let lock = account.lockingPolicy.map { AccountLock.manual(policy: $0) }
            for mechanism in mechanisms {
                let enrolled = EnrolledMechanism(mechanism: mechanism, account: account, lock: lock)
                credentials[mechanism.uid] = try OathCredential(enrolled)
            }
        }
        return credentials
    }

    /// Runs a call of the storage, and converts its error to one that the engine passes on.
    private func translatingErrors<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as OathStorageError {
            throw StoreError(error)
        }
    }
}

extension OathCredential {
    /// The details for an account that is made from a stored credential.
    ///
    /// A lock by one of the credential's own policies is left out, because those are evaluated at each call. Every other lock is
    /// one that the app or the user has set.
    fileprivate var storedDetails: CredentialDetails {
        var details = details
        let isByPolicy = details.lock.policy.map { details.policyObject?[$0] != nil } ?? false
        details.lock = details.lock.isLocked && !isByPolicy ? .given(details.lock.policy, isLocked: true) : .none
        return details
    }
}
