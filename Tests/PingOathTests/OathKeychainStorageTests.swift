import Foundation
import PingOath
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("OathKeychainStorage")
struct OathKeychainStorageTests {
    private let store = MemoryStore()
    private let keychain: VaultProvider

    init() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let vault = try Vault.create(in: store, protector: KeyFile.create(path: directory.file("key")))
        keychain = VaultProvider { () throws(StoreError) in vault }
    }

    private func storage(_ service: String = "com.example.test", logger: RecordingLogger? = nil) -> OathKeychainStorage {
        OathKeychainStorage(service: service, logger: logger, in: keychain)
    }

    private func credential(
        _ id: String, issuer: String = "Harbor Bank", type: OathType = .totp, policies: String? = nil, imageURL: String? = nil,
        counter: Int = 0
    ) -> OathCredential {
        OathCredential(
            id: id, userId: "user-7f3a", resourceId: "device-1", issuer: issuer, accountName: "mira", oathType: type,
            counter: counter, imageURL: imageURL, policies: policies, secretKey: Sample.oathKey)
    }

    @Test("Credentials are stored, read, replaced, removed and cleared, and outlive the storage")
    func storesReadsAndRemovesOathCredentials() async throws {
        let storage = storage()
        #expect(try await storage.retrieveOathCredential(credentialId: "a") == nil)
        #expect(try await storage.getAllOathCredentials().isEmpty)
        #expect(try await !storage.removeOathCredential(credentialId: "a"))
        try await storage.storeOathCredential(credential("a"))
        try await storage.storeOathCredential(credential("b", type: .hotp))
        try await storage.storeOathCredential(credential("a", issuer: "The Bank"))
        let again = self.storage()
        #expect(try await again.getAllOathCredentials().map(\.id) == ["a", "b"])
        let read = try #require(try await again.retrieveOathCredential(credentialId: "a"))
        #expect(read.issuer == "The Bank" && read.userId == "user-7f3a" && read.resourceId == "device-1")
        let uri = try await read.toUri()
        #expect(uri.contains(Sample.oathKey), "the secret is kept")
        #expect(try await again.removeOathCredential(credentialId: "a"))
        #expect(try await storage.getAllOathCredentials().map(\.id) == ["b"])
        try await storage.clearOathCredentials()
        #expect(try await again.getAllOathCredentials().isEmpty)
    }

    @Test("A service and an access group have credentials of their own, and many of one account")
    func separatesOathServices() async throws {
        let shared = OathKeychainStorage(
            service: "com.example.test", securityOptions: .shared(accessGroup: "group"), in: keychain)
        for number in 0..<100 { try await storage().storeOathCredential(credential("\(number)")) }
        #expect(try await storage().getAllOathCredentials().count == 100)
        #expect(try await storage("com.example.other").getAllOathCredentials().isEmpty)
        #expect(try await shared.getAllOathCredentials().isEmpty)
        #expect(try await OathKeychainStorage(in: keychain).getAllOathCredentials().isEmpty)
    }

    @Test("Large values, and policies that are not JSON, are kept as they are")
    func keepsLargeValues() async throws {
        let large = credential(
            "large", policies: String(repeating: #"{"p":1}"#, count: 60),
            imageURL: String(repeating: "https://cdn.example.test/", count: 150))
        try await storage().storeOathCredential(large)
        let read = try await storage().retrieveOathCredential(credentialId: "large")
        #expect(read?.imageURL == large.imageURL && read?.policies == large.policies)
    }

    @Test("Credentials that are stored at the same time are all kept")
    func keepsConcurrentCredentials() async throws {
        let storage = storage()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let credential = credential("\(number)")
                group.addTask { try await storage.storeOathCredential(credential) }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.getAllOathCredentials().count == 20)
    }

    @Test("The default service is the accounts of the vault, where an account has one credential of a type")
    func defaultServiceIsVault() async throws {
        let keychain = keychain
        let storage = OathKeychainStorage(in: keychain)
        let client = try await OathClient.createClient { $0.keychain = keychain }
        let named = try await OathClient.createClient { $0.storage = OathKeychainStorage(in: keychain) }
        let enrolled = try await client.addCredentialFromUri(Sample.hotp)
        #expect(try await named.generateCode(enrolled.id) == "099169")
        #expect(try await storage.retrieveOathCredential(credentialId: enrolled.id)?.counter == 8)
        await #expect(throws: OathStorageError.self) { try await storage.storeOathCredential(credential("x", type: .hotp)) }
        try await storage.storeOathCredential(credential("y"))
        #expect(try await client.getCredentials().count == 2)
        #expect(try await storage.removeOathCredential(credentialId: "y"))
        try await storage.clearOathCredentials()
        #expect(try await client.getCredentials().isEmpty)
    }

    @Test("Two clients of one service never use a counter twice, and a change that was overtaken is refused")
    func clientsShareService() async throws {
        let first = try await OathClient.createClient { [storage = storage()] in $0.storage = storage }
        let second = try await OathClient.createClient { [storage = storage()] in $0.storage = storage }
        let id = try await first.addCredentialFromUri(Sample.hotp).id
        var codes: [String] = []
        for client in [first, second, first, second] { codes.append(try await client.generateCode(id)) }
        #expect(Set(codes).count == 4 && codes.prefix(2) == ["099169", "802135"])

        let counters = try await withThrowingTaskGroup(of: Int?.self) { group in
            for client in Array(repeating: [first, second], count: 10).joined() {
                group.addTask {
                    do {
                        return try await client.generateCodeWithValidity(id).counter
                    } catch OathStorageError.storageFailure(_, let cause as StoreError) where cause.code == .busy {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: [Int]()) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(Set(counters).count == counters.count && !counters.isEmpty)
        #expect(try await first.getCredential(id)?.counter == 11 + counters.count)
    }

    @Test("Protection that a vault does not have is refused and never ignored", arguments: ["com.example.test", nil])
    func refusesMissingProtection(service: String?) async throws {
        for options in [OathKeychainSecurityOptions.biometric, .biometricOnly] {
            let storage = OathKeychainStorage(
                service: service ?? OathKeychainStorage.defaultService, securityOptions: options, in: keychain)
            await #expect {
                try await storage.storeOathCredential(credential("a"))
            } throws: {
                if case OathStorageError.accessDenied = $0 { true } else { false }
            }
            await #expect(throws: OathError.self) { _ = try await OathClient.createClient { $0.storage = storage } }
        }
        let standard = OathKeychainSecurityOptions.standard
        #expect(!standard.requireBiometrics && !standard.requireDevicePasscode && standard.accessGroup == nil)
        #expect(OathKeychainSecurityOptions.shared(accessGroup: "g").accessGroup == "g")
    }

    @Test("A damaged item is reported and left as it is")
    func reportsDamagedItem() async throws {
        let storage = storage()
        try await storage.storeOathCredential(credential("a"))
        try store.write { records throws(StoreError) in
            var names: [[UInt8]] = []
            try records.forEachRecord(of: .item) { names.append($0.name) }
            for name in names { try records.put([0, 1, 2], RecordKey(.item, name: name)) }
        }
        await #expect {
            _ = try await storage.getAllOathCredentials()
        } throws: {
            if case OathStorageError.storageCorrupted = $0 { true } else { false }
        }
    }

    @Test("The calls are logged with ids, without names and secrets")
    func logsCalls() async throws {
        let logger = RecordingLogger()
        let storage = storage(logger: logger)
        try await storage.storeOathCredential(credential("a"))
        _ = try await storage.getAllOathCredentials()
        let lines = logger.lines.map(\.text)
        #expect(lines.prefix(2) == ["Storing OATH credential a", "Successfully stored OATH credential a"])
        let revealing = lines.filter { $0.contains("Harbor") || $0.contains("mira") || $0.contains(Sample.oathKey) }
        #expect(revealing.isEmpty)
    }
}
