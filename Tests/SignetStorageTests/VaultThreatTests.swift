import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

/// The rows of docs/design/threats.md that no other suite tests.
@Suite("A vault under attack")
struct VaultThreatTests {
    @Test("A vault keeps any two identities separate, whatever their parts")
    func separatesIdentities() {
        var random = SystemRandomNumberGenerator()
        let pieces = ["", "a", "b", "-", "a-b", "\u{0}", "\u{0}\u{0}\u{0}\u{1}", "é", "e\u{301}", "/", "..", "🚀"]
        var seen: [[UInt8]: [String]] = [:]
        for _ in 0..<20_000 {
            let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                (0..<Int.random(in: 0...3, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            }
            let name = parts.flatMap { LengthPrefixed.bytes(Array($0.utf8)) }
            let bytes = parts.map { Array($0.utf8) }
            if let other = seen[name] {
                let otherBytes = other.map { Array($0.utf8) }
                #expect(otherBytes == bytes)
            }
            seen[name] = parts
        }
    }

    @Test(
        "A vault accepts any record name, and makes no path of it",
        arguments: [
            "../x", "", "/etc/passwd", "\u{0}", "a\u{0}b", ".", String(repeating: "x", count: 4096), "'; DROP TABLE record; --",
        ])
    func acceptsAnyRecordName(name: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            try vault.put([1], RecordKey(.item, name))
            try vault.put([2], RecordKey(.item, name, name))
            #expect(try directory.openVault().get(RecordKey(.item, name)) == [1])
            #expect(try directory.openVault().get(RecordKey(.item, name, name)) == [2])
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == ["vault"])
        }
    }

    @Test("A vault reads no more of a key file than a key's length, however long the file")
    func limitsKeyFileRead() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            let file = try FileHandle(forWritingTo: URL(filePath: directory.keyPath))
            try file.truncate(atOffset: 1 << 30)
            try file.close()
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
    }

    @Test("A removed record leaves nothing in the vault's file")
    func overwritesRemovedRecord() async throws {
        try await TemporaryDirectory.with { temporary in
            let path = temporary.file("store")
            let store = try SQLiteStore(path: path, creating: true)
            let vault = try Vault.create(in: store, protector: InMemoryKeyProtector())
            let key = RecordKey(.mechanism, "removed")
            try vault.put((0..<200).map { UInt8($0) }, key)
            let sealed = try #require(store.all(.mechanism).first)
            let middle = Data(sealed[100..<150])
            try store.checkpoint()
            #expect(try Data(contentsOf: URL(filePath: path)).range(of: middle) != nil)
            try vault.remove(key)
            try store.checkpoint()
            for name in try FileManager.default.contentsOfDirectory(atPath: temporary.path) {
                #expect(try Data(contentsOf: URL(filePath: temporary.file(name))).range(of: middle) == nil, "in \(name)")
            }
        }
    }

    @Test("Slow key protectors do not block the other tasks of a process")
    func slowProtectorsBlockNoTask() async throws {
        let (store, protector) = (MemoryStore(), WaitingKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        // More tasks than the pool has threads: if each occupied one, no task would be left to let them go on.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await Vault.unlock(store, protectors: [protector]) } }
            let areWaiting = try await eventually { protector.waiting == count }
            #expect(areWaiting)
            protector.release(count)
            try await group.waitForAll()
        }
    }
}

/// A key protector that opens only once it is told to go on, like a slow TPM.
private final class WaitingKeyProtector: KeyProtector {
    let name = "waiting"
    private let inner = InMemoryKeyProtector()
    private let entered = Mutex(0)
    private let gate = DispatchSemaphore(value: 0)

    /// The number of waiting calls.
    var waiting: Int { entered.withLock { $0 } }

    /// Lets this number of calls go on.
    func release(_ count: Int) { for _ in 0..<count { gate.signal() } }

    func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] { try inner.wrap(dataKey, context: context) }

    func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        entered.withLock { $0 += 1 }
        guard gate.wait(timeout: .now() + 120) == .success else {
            throw StoreError(.failed, "wait", "the key protector was not let go on: no task could run")
        }
        return try inner.unwrap(wrapped, context: context)
    }
}
