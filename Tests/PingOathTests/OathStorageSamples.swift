import PingOath
import PingPush
import SignetAuthenticator
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
