import Foundation
import GRDB
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Work of `StoreWorker` that is interrupted at its system calls, and its required result.
enum KilledWork: String, CaseIterable, CustomTestStringConvertible {
    case save, saveLarge, saveAfterCrash, createStore, createVault, saveVault, saveVaultAfterCrash, deferVault, rotateVault

    var testDescription: String { rawValue }

    private static let key = RecordKey(.item, "saved")
    private static let old = [UInt8](repeating: 1, count: 300)
    /// The number of records that a rotation has to seal again.
    private static let others = 40

    /// The new value's length: large enough for many pages, or small.
    private var newCount: Int { self == .saveLarge ? 40_000 : 500 }
    private var new: [UInt8] { [UInt8](repeating: 2, count: newCount) }

    /// The arguments of the worker.
    func arguments(_ path: String) -> [String] {
        switch self {
        case .save, .saveLarge, .saveAfterCrash: ["save", path + "/store", "2", "\(newCount)"]
        case .createStore: ["create", path + "/store"]
        case .createVault: ["create-vault", path + "/vault"]
        case .saveVault, .saveVaultAfterCrash: ["save-vault", path + "/vault", "2", "\(newCount)"]
        case .deferVault: ["defer-vault", path + "/vault", "2", "\(newCount)"]
        case .rotateVault: ["rotate-vault", path + "/vault"]
        }
    }

    /// Makes the state that the work begins with.
    func prepare(_ path: String) throws {
        switch self {
        case .createStore, .createVault: break
        case .save, .saveLarge:
            let store = try SQLiteStore(path: path + "/store", creating: true)
            try store.put(Self.old, Self.key)
            try store.close()
        case .saveVault, .deferVault:
            try VaultDirectory(path: path + "/vault").createVault(.keyFile).put(Self.old, Self.key)
        case .rotateVault:
            let vault = try VaultDirectory(path: path + "/vault").createVault(.keyFile)
            try vault.put(Self.old, Self.key)
            for number in 0..<Self.others { try vault.put(Self.old, RecordKey(.account, String(number))) }
        case .saveAfterCrash, .saveVaultAfterCrash:
            // The files of an open store are those that a crash leaves: the log has not been moved into the main file.
            let directory = path + ".open"
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let store: any RecordStore =
                self == .saveAfterCrash
                ? try SQLiteStore(path: directory + "/store", creating: true)
                : try VaultDirectory(path: directory + "/vault").createVault(.keyFile)
            try store.put(Self.old, Self.key)
            try withExtendedLifetime(store) {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(path)/\(name)")
                }
            }
        }
    }

    /// The possible states after the work.
    enum FinalState { case nothing, old, new }

    /// Returns the state of the directory after checking its integrity.
    /// - Throws: The store's error, when it does not open.
    func finalState(_ path: String) throws -> FinalState {
        let store: any RecordStore
        switch self {
        case .save, .saveLarge, .saveAfterCrash, .createStore:
            // A file that was made and never written does not open; the process that wanted to make it can tell by that.
            if self == .createStore, !isStore(path + "/store") { return .nothing }
            store = try SQLiteStore(path: path + "/store", timeout: 60)
            try checkIntegrity(path + "/store")
        case .createVault, .saveVault, .saveVaultAfterCrash, .deferVault, .rotateVault:
            let directory = VaultDirectory(path: path + "/vault")
            if self == .createVault, !directory.holdsVault { return .nothing }
            store = try directory.openVault(timeout: 60)
            try checkIntegrity(directory.recordsPath)
        }
        let value = try store.get(Self.key)
        switch self {
        case .rotateVault:
            // Every record opens with the one key that the header names; the epoch tells which key it is.
            try #require(value == Self.old)
            try #require(try store.all(.account).count == Self.others)
            return try VaultDirectory(path: path + "/vault").header().epoch == 0 ? .old : .new
        case .createStore, .createVault:
            try #require(value == nil)
            return .new
        default:
            try #require(value == Self.old || value == new, "neither the old value nor the new, but \(value?.count ?? -1) bytes")
            return value == new ? .new : .old
        }
    }

    /// The state before the work.
    var before: FinalState { [.createStore, .createVault].contains(self) ? .nothing : .old }

    /// Repeats the interrupted work.
    ///
    /// A partial store at a path that the caller chose is the caller's to remove.
    func again(_ path: String, after finalState: FinalState) async throws {
        if self == .createStore, finalState == .nothing { try? FileManager.default.removeItem(atPath: path + "/store") }
        let isThere = before == .nothing && finalState == .new
        let outcome = try await StoreWorker.run(arguments(path))
        #expect(outcome.status == (isThere ? 1 : 0), "\(outcome.output)")
        #expect(try self.finalState(path) == .new)
    }

    private func isStore(_ path: String) -> Bool {
        do {
            _ = try SQLiteStore(path: path, timeout: 60).get(Self.key)
            return true
        } catch {
            return false
        }
    }

    private func checkIntegrity(_ path: String) throws {
        let answer = try DatabaseQueue(path: path).read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        try #require(answer == ["ok"])
    }
}
