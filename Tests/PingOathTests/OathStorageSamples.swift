import PingOath
import PingPush
import SignetAuthenticator
import SignetCore
import Storage
import TestSupport
import Testing

private class CustomStorage<T: Codable>: Storage {
    private var data: T?

    func save(item: T) async throws { data = item }
    func get() async throws -> T? { data }
    func delete() async throws { data = nil }
}

private class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}

/// The number of reads of a storage.
private final class Reads: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}

private final class CountedStorage<T: Codable>: CustomStorage<T> {
    private let reads: Reads

    init(reads: Reads) { self.reads = reads }

    override func get() async throws -> T? {
        reads.add()
        return try await super.get()
    }
}

/// The storage customization document's sample of a custom storage in a module.
///
/// `myCustomStorage` and `customLogger` are the app's: here the document's own class, and a logger that keeps its lines.
@Suite("Storage samples for the OATH and push modules")
struct OathStorageSamples {
    private let customLogger = RecordingLogger()

    private func myCustomStorage() -> CustomStorage<StoredAccounts> { CustomStorage() }

    @Test("An OATH configuration takes a custom storage")
    func takesStorageInOathConfiguration() async throws {
        let config = OathConfiguration.build { config in
            config.storage = myCustomStorage()
            config.enableCredentialCache = false
            config.logger = customLogger
        }
        let client = try await OathClient(configuration: config)
        let credential = try await client.addCredentialFromUri(Sample.totp)
        let code = try await client.generateCode(credential.id)
        #expect(code.count == 6)
        #expect(customLogger.lines.map(\.text).contains("Successfully generated code for credential: \(credential.id)"))
    }

    @Test(
        "The option enableCredentialCache reads the custom storage once, and without it each call does", arguments: [false, true])
    func readsStorageWithAndWithoutCache(isEnabled: Bool) async throws {
        let reads = Reads()
        let config = OathConfiguration.build { config in
            config.storage = CountedStorage(reads: reads)
            config.enableCredentialCache = isEnabled
        }
        let client = try await OathClient(configuration: config)
        _ = try await client.addCredentialFromUri(Sample.totp)
        let before = reads.count
        for _ in 0..<3 { _ = try await client.getCredentials() }
        #expect(reads.count - before == (isEnabled ? 1 : 3))
    }

    @Test("An OATH client takes each documented storage, assigned in its configuration")
    func takesDocumentedStoragesInOathClient() async throws {
        let clients = [
            try await OathClient.createClient { config in config.storage = CustomStorage() },
            try await OathClient.createClient { config in config.storage = CustomStorageDelegate(cacheable: true) },
            try await OathClient.createClient { config in config.storage = MemoryStorage() },
        ]
        for client in clients {
            let credential = try await client.addCredentialFromUri(Sample.totp)
            let stored = try await client.getCredential(credential.id)
            #expect(stored == credential)
        }
    }

    @Test("A push client takes a custom storage and a custom logger")
    func takesStorageInPushClient() async throws {
        let client = try await PushClient.createClient { config in
            config.storage = CustomStorageDelegate(cacheable: true)
            config.logger = customLogger
        }
        try await client.setDeviceToken("token-1")
        let token = try await client.getDeviceToken()
        #expect(token == "token-1")
        await client.close()
    }
}
