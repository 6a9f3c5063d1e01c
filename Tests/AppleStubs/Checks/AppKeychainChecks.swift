import Foundation
import Security
import SignetCore
import SignetStorage

/// A directory without a vault.
private let nowhere = VaultDirectory(path: "/nonexistent/signet")
private let key = RecordKey(.account, "Harbor Bank", "mira")

private func add(_ service: String, _ account: String, _ data: Data) throws {
    let item: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account, kSecValueData: data,
    ]
    try expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess, "the item was not added")
}

/// The checks of the secured key and of the default store on Apple's systems, and of the reader of another SDK's items.
let appKeychainChecks: [Check] = [
    Check("a secured key is in the enclave, and the next one with the tag opens what was sealed to it") {
        let first = try SecuredKey()
        let second = try SecuredKey()
        try expect(SecuredKey.isAvailable(), "the enclave is not available")
        try expect(first.publicKey == second.publicKey, "there are two keys")
        let sealed = try await SecuredKeyEncryptor(first).encrypt(data: Data([1, 2, 3]))
        let opened = try await SecuredKeyEncryptor(second).decrypt(data: sealed)
        try expect(opened == Data([1, 2, 3]), "other bytes came out")
        let other = try SecuredKey(tag: "com.example.other")
        try expect(other.publicKey != first.publicKey, "another tag has the same key")
    },
    Check("a device without an enclave reports that no secured key is available") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        try expect(!SecuredKey.isAvailable(), "it is available")
    },
    Check("the default store is a vault in the keychain, which the enclave seals, and opens again") {
        try DefaultStore.open(in: nowhere).put([7], key)
        let again = try DefaultStore.open(in: nowhere)
        try expect(try again.get(key) == [7], "the record is another")
        let protector = try (again as? CheckedVault)?.opened().openedBy.protector
        try expect(protector == "secure-enclave", "another key protector opened it")
        try expect(StandInKeychain.items.count == 2, "\(StandInKeychain.items.count) items")
    },
    Check("without an enclave, a key in an item of its own seals the vault, also after a restart") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        try DefaultStore.open(in: nowhere).put([7], key)
        let again = try DefaultStore.open(in: nowhere)
        try expect(try again.get(key) == [7], "the record is another")
        let protector = try (again as? CheckedVault)?.opened().openedBy.protector
        try expect(protector == "keychain", "another key protector opened it")
    },
    Check("a device before its first unlock has no store, and its vault is not replaced") {
        try DefaultStore.open(in: nowhere).put([7], key)
        StandInKeychain.setLocked(true)
        try expect(.keyUnavailable) { _ = try DefaultStore.open(in: nowhere) }
        StandInKeychain.setLocked(false)
        try expect(try DefaultStore.open(in: nowhere).get(key) == [7], "the record is another")
    },
    Check("the vault of an access group is in that group, and not the app's own") {
        let shared = try await VaultProvider.keychain(accessGroup: "shared").store()
        try shared.put([8], key)
        try expect(try DefaultStore.open(in: nowhere).get(key) == nil, "the app's own vault has the record")
        let again = try await VaultProvider.keychain(accessGroup: "shared").store()
        try expect(try again.get(key) == [8], "the record is another")
        let groups = StandInKeychain.items.compactMap { $0[kSecAttrAccessGroup] }.filter { $0.contains("shared") }
        try expect(groups.count == 2, "\(groups.count) items are in the group")
    },
    Check("the items of Ping's storage are taken over once, and stay where they are") {
        try add("com.pingidentity.keychainService", "com.example.item", Data([1, 2]))
        let item = RecordKey(.item, "com.example.item")
        try expect(try DefaultStore.open(in: nowhere).get(item) == [1, 2], "the item was not taken over")
        try DefaultStore.open(in: nowhere).write { (records: any RecordWriter) throws(StoreError) in try records.remove(item) }
        try expect(try DefaultStore.open(in: nowhere).get(item) == nil, "a removed item came back")
        try expect(StandInKeychain.data.contains(Data([1, 2])), "the original is gone")
    },
    Check("a session that Ping's key sealed is opened for the first account, and for no other one") {
        let sealed = try await SecuredKeyEncryptor(try SecuredKey(tag: LegacyKey.ping.tag)).encrypt(data: Data("[7]".utf8))
        try add("com.pingidentity.keychainService", "session", sealed)
        let keychain = VaultProvider { () throws(StoreError) in try DefaultStore.open(in: nowhere) }
        let first = try await LegacyItemStorage<[Int]>(account: "session/one", of: "session", in: keychain).get()
        try expect(first == [7], "the item was not taken over")
        let other = try await LegacyItemStorage<[Int]>(account: "session/two", of: "session", in: keychain).get()
        try expect(other == nil, "another account has the item")
        try expect(StandInKeychain.data.contains(sealed), "the original is gone")
    },
    Check("a sealed session without Ping's key is left, and no key is made") {
        let foreign = SecuredKeyEncryptor(try SecuredKey(tag: "com.example.other"))
        let sealed = try await foreign.encrypt(data: Data("[7]".utf8))
        try add("com.pingidentity.keychainService", "session", sealed)
        let keychain = VaultProvider { () throws(StoreError) in try DefaultStore.open(in: nowhere) }
        let none = try await LegacyItemStorage<[Int]>(account: "session/one", of: "session", in: keychain).get()
        try expect(none == nil, "the item was opened")
        try expect(try SecureEnclaveKey.find(tag: LegacyKey.ping.tag) == nil, "a key was made")
    },
    Check("another SDK's items are opened with its key, those in plain text stay, and foreign ones have no content") {
        let encryptor = SecuredKeyEncryptor(try SecuredKey(tag: LegacyKey.forgeRockAuthenticator.tag))
        try add("service", "b sealed", try await encryptor.encrypt(data: Data("secret".utf8)))
        try add("service", "a plain", Data("bplist00".utf8))
        let foreign = SecuredKeyEncryptor(try SecuredKey(tag: "com.example.other"))
        try add("service", "c foreign", try await foreign.encrypt(data: Data("secret".utf8)))
        try add("other service", "d", Data())
        let items = try LegacyKeychain().items(of: "service", sealedBy: .forgeRockAuthenticator)
        try expect(
            items == [
                LegacyItem(name: "a plain", content: Data("bplist00".utf8)),
                LegacyItem(name: "b sealed", content: Data("secret".utf8)), LegacyItem(name: "c foreign", content: nil),
            ], "\(items)")
        try expect(try LegacyKeychain().items(of: "nothing", sealedBy: nil).isEmpty, "there is an item")
        StandInKeychain.setLocked(true)
        try expect(.keyUnavailable) { _ = try LegacyKeychain().items(of: "service", sealedBy: .ping) }
    },
]
