import Foundation
import SignetCore
package import SignetStorage
package import SignetTesting

/// The ways in which a program can end in the middle of its work.
package enum Crash: String, CaseIterable, Sendable {
    /// The process is killed: its commits stay.
    case kill
    /// The machine loses its power: the deferred commits since the last durable one are lost.
    case powerFailure
}

/// A store that counts its commits, and shows what a crash would leave of them.
package protocol PowerCutStore: DeferredWriting {
    /// The number of durable transactions that have changed a record.
    var durableWrites: Int { get }
    /// The number of deferred transactions that have changed a record.
    var deferredWrites: Int { get }
    /// Returns a new store with the records that a crash at this moment would leave.
    func copy(after crash: Crash) throws -> any PowerCutStore
}

/// Records in memory, on a model of a disk.
package final class PowerCutMemory: PowerCutStore {
    private struct State {
        var visible: [RecordKey: [UInt8]]
        var durable: [RecordKey: [UInt8]]
        var durableWrites = 0
        var deferredWrites = 0
    }

    private let records = MemoryStore()
    private let state: Mutex<State>

    /// Creates an empty store.
    package convenience init() throws(StoreError) { try self.init(holding: [:]) }

    private init(holding records: [RecordKey: [UInt8]]) throws(StoreError) {
        state = Mutex(State(visible: records, durable: records))
        try replaceAll(with: records)
    }

    package var durableWrites: Int { state.withLock { $0.durableWrites } }
    package var deferredWrites: Int { state.withLock { $0.deferredWrites } }

    package func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R { try records.read(body) }

    package func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let value = try records.write(body)
        try recordCommit(isDurable: true)
        return value
    }

    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let value = try records.write(body)
        try recordCommit(isDurable: false)
        return value
    }

    package func copy(after crash: Crash) throws -> any PowerCutStore {
        try PowerCutMemory(holding: state.withLock { crash == .kill ? $0.visible : $0.durable })
    }

    /// Loses the deferred commits, as a database server that crashes and starts again while its clients go on.
    package func losePower() throws(StoreError) {
        let durable = state.withLock { state in
            state.visible = state.durable
            return state.durable
        }
        try replaceAll(with: durable)
    }

    /// Records the end of a transaction.
    ///
    /// A database waits for the disk only when the transaction has changed a record. All earlier changes are durable then, too.
    private func recordCommit(isDurable: Bool) throws(StoreError) {
        let all = try all()
        state.withLock { state in
            guard all != state.visible else { return }
            state.visible = all
            if isDurable {
                state.durable = all
                state.durableWrites += 1
            } else {
                state.deferredWrites += 1
            }
        }
    }

    private func replaceAll(with new: [RecordKey: [UInt8]]) throws(StoreError) {
        let old = try all()
        try records.write { (writer: any RecordWriter) throws(StoreError) in
            for key in old.keys { try writer.remove(key) }
            for (key, bytes) in new { try writer.put(bytes, key) }
        }
    }

    private func all() throws(StoreError) -> [RecordKey: [UInt8]] {
        try records.read { (reader: any RecordReader) throws(StoreError) in
            var all: [RecordKey: [UInt8]] = [:]
            for kind in RecordKind.allCases {
                try reader.forEachRecord(of: kind) { (record) throws(StoreError) in
                    all[RecordKey(kind, name: record.name)] = try record.content.get()
                }
            }
            return all
        }
    }
}

/// Records in an SQLite file whose write-ahead log is cut off for a power failure.
///
/// It is for few small records: the log must not be copied into the database.
package final class PowerCutFile: PowerCutStore {
    private struct State {
        var size: Int
        var durableSize: Int
        var durableWrites = 0
        var deferredWrites = 0
        var copies = 0
    }

    private let path: String
    private let store: SQLiteStore
    private let state: Mutex<State>

    /// Creates the file `store` in a directory.
    package convenience init(in directory: TemporaryDirectory) throws(StoreError) {
        let path = directory.file("store")
        try self.init(path: path, SQLiteStore(path: path, creating: true))
    }

    private init(path: String, _ store: SQLiteStore) {
        (self.path, self.store) = (path, store)
        let size = Self.logSize(path)
        state = Mutex(State(size: size, durableSize: size))
    }

    package var durableWrites: Int { state.withLock { $0.durableWrites } }
    package var deferredWrites: Int { state.withLock { $0.deferredWrites } }
    /// The size of the log, in bytes, after the last commit and after the last durable one.
    package var logSizes: (visible: Int, durable: Int) { state.withLock { ($0.size, $0.durableSize) } }

    package func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R { try store.read(body) }

    package func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let value = try store.write(body)
        recordCommit(isDurable: true)
        return value
    }

    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let value = try store.writeDeferred(body)
        recordCommit(isDurable: false)
        return value
    }

    package func copy(after crash: Crash) throws -> any PowerCutStore {
        try copy(withLogOf: crash == .kill ? logSizes.visible : logSizes.durable)
    }

    /// Returns a copy whose log has lost its end.
    /// - Parameter size: The size of the log, in bytes.
    /// - Returns: The copy, which is open.
    /// - Throws: The errors of the file system, and those of opening the copy.
    package func copy(withLogOf size: Int) throws -> PowerCutFile {
        let number = state.withLock { state in
            state.copies += 1
            return state.copies
        }
        let new = "\(path)-copy\(number)"
        try FileManager.default.copyItem(atPath: path, toPath: new)
        if size > 0 {
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: new + "-wal")
            let log = try FileHandle(forUpdating: URL(filePath: new + "-wal"))
            try log.truncate(atOffset: UInt64(size))
            try log.close()
        }
        return PowerCutFile(path: new, try SQLiteStore(path: new))
    }

    /// Records the end of a transaction; the log has grown only if the transaction has changed a record.
    private func recordCommit(isDurable: Bool) {
        let size = Self.logSize(path)
        state.withLock { state in
            guard size != state.size else { return }
            state.size = size
            if isDurable {
                state.durableSize = size
                state.durableWrites += 1
            } else {
                state.deferredWrites += 1
            }
        }
    }

    private static func logSize(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
    }
}
