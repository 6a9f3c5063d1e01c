import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

/// Writes that a power failure may undo.
@Suite("A deferred write")
struct DeferredWriteTests {
    private let key = RecordKey(.item, "saved")

    /// A store whose every write is deferred.
    private struct AlwaysDeferred: RecordStore {
        let store: any RecordStore
        func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R { try store.read(body) }
        func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
            try store.write(.deferred, body)
        }
    }

    @Test(
        "A store passes each conformance case with deferred writes", arguments: RecordStoreTests.Engine.allCases,
        RecordStoreConformance.cases)
    func conformsWithDeferredWrites(engine: RecordStoreTests.Engine, promise: RecordStoreConformance.Case) async throws {
        try await engine.withStore { store in
            // The first write of a process to a vault is never deferred.
            try store.put([1], key)
            try store.remove(key)
            try await promise.check(AlwaysDeferred(store: store))
        }
    }

    @Test("A power failure undoes the deferred writes since the last durable one, which makes the earlier ones durable")
    func losesOnlyWritesAfterLastDurableOne() async throws {
        try await TemporaryDirectory.with { directory in
            let disk = try PowerCutFile(in: directory)
            try disk.put([1], key)
            try disk.putDeferred([2], key)
            try disk.put([3], RecordKey(.item, "other"))
            try disk.putDeferred([4], key)
            #expect(disk.durableWrites == 2 && disk.deferredWrites == 2)
            #expect(try disk.copy(after: .powerFailure).get(key) == [2])
            #expect(try disk.copy(after: .kill).get(key) == [4])
        }
    }

    @Test("A vault whose log lost its end at any place has the old or the new record, and is not taken for an older copy")
    func opensVaultWithTornLog() async throws {
        try await TemporaryDirectory.with { directory in
            let (disk, protector) = (try PowerCutFile(in: directory), InMemoryKeyProtector())
            let vault = try Vault.create(in: disk, protector: protector)
            try vault.put([1], key)
            try vault.putDeferred([2], key)
            let sizes = disk.logSizes
            #expect(disk.deferredWrites == 1 && sizes.durable < sizes.visible)
            for size in Array(stride(from: sizes.durable, to: sizes.visible, by: 700)) + [sizes.visible] {
                let again = try Vault.open(disk.copy(withLogOf: size), protectors: [protector])
                try again.verifyRecords()
                #expect(try again.get(key) == (size == sizes.visible ? [2] : [1]), "\(size) of \(sizes)")
            }
        }
    }

    @Test("The first write of a process to a vault is durable, so that no epoch is kept outside that a power failure undoes")
    func keepsEpochOfFirstWrite() throws {
        let (disk, protector) = (try PowerCutMemory(), InMemoryKeyProtector())
        _ = try Vault.create(in: disk, protector: protector)
        let vault = try Vault.open(disk, protectors: [protector])
        try vault.putDeferred([1], key)
        #expect(disk.deferredWrites == 0)
        #expect(try Vault.open(disk.copy(after: .powerFailure), protectors: [protector]).get(key) == [1])
        try vault.putDeferred([2], key)
        #expect(disk.deferredWrites == 1)
        #expect(try Vault.open(disk.copy(after: .kill), protectors: [protector]).get(key) == [2])
        let again = try Vault.open(disk.copy(after: .powerFailure), protectors: [protector])
        try again.verifyRecords()
        #expect(try again.get(key) == [1])
        #expect(try protector.epoch(ofVault: again.header.id) == again.header.epoch)
        try again.put([3], key)
        #expect(try again.get(key) == [3])
    }

    @Test("A vault that stays open while its server loses a deferred write goes on with the records that are left")
    func goesOnAfterServerCrash() throws {
        let (disk, protector) = (try PowerCutMemory(), InMemoryKeyProtector())
        let vault = try Vault.create(in: disk, protector: protector)
        try vault.put([1], key)
        try vault.putDeferred([2], key)
        try disk.losePower()
        #expect(try vault.get(key) == [1])
        try vault.verifyRecords()
        try vault.putDeferred([3], RecordKey(.item, "other"))
        try vault.put([4], RecordKey(.mechanism, "third"))
        let items = try Vault.open(disk, protectors: [protector]).all(.item)
        #expect(Set(items) == [[1], [3]])
    }

    @Test("The number of seals in a vault's header is an upper bound also after a power failure")
    func countsSealsOfLostWrites() throws {
        let disk = try PowerCutMemory()
        let vault = try Vault.create(in: disk, protector: InMemoryKeyProtector())
        for number in 1...400 {
            try vault.putDeferred([1], key)
            #expect(try Vault.header(of: disk.copy(after: .powerFailure)).seals >= UInt64(number))
        }
        #expect(disk.deferredWrites > 300)
    }

    @Test("After each durable write to a vault, the next write can be deferred")
    func defersAfterEachDurableWrite() throws {
        let disk = try PowerCutMemory()
        let vault = try Vault.create(in: disk, protector: InMemoryKeyProtector())
        for number in 1...300 {
            try vault.put([1], key)
            try vault.putDeferred([2], key)
            #expect(disk.deferredWrites == number)
        }
    }

    @Test(
        "A deferred write to a vault waits for the disk no more often than the same work without it",
        .enabled(StoreWorker.noTrace) { await StoreWorker.canBeTraced })
    func deferredWriteDoesNotSync() async throws {
        try await TemporaryDirectory.with { directory in
            let (durable, deferred) = (try await syncs(of: .saveVault, directory), try await syncs(of: .deferVault, directory))
            #expect(durable > 0 && durable == deferred)
        }
    }

    /// Counts the system calls with which a work waits for the disk.
    private func syncs(of work: KilledWork, _ directory: TemporaryDirectory) async throws -> Int {
        let path = directory.file(work.rawValue)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try work.prepare(path)
        let calls = try await StoreWorker.systemCalls(of: work.arguments(path), log: directory.file("log"))
        return calls.filter { ["fsync", "fdatasync"].contains($0.name) }.count
    }
}

extension RecordStore {
    /// Writes a record in a deferred transaction, if the store has them.
    func putDeferred(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        try write(.deferred) { (records: any RecordWriter) throws(StoreError) in try records.put(bytes, key) }
    }
}
