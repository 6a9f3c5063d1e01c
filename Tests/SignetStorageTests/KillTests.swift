import Foundation
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Work that is interrupted: by a kill before each of its system calls, which is also after each, and by a disk that fails.
///
/// By default a few system calls of each work; with `SIGNET_KILLS=all` (`make kills`) every one.
@Suite("A store whose work is interrupted", .enabled(StoreWorker.noTrace) { await StoreWorker.canBeTraced })
struct KillTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["SIGNET_KILLS"] == "all"

    @Test(
        "A store whose process is killed at any system call has the old or the new value, opens and goes on",
        arguments: KilledWork.allCases)
    func survivesKillAtSystemCall(work: KilledWork) async throws {
        let kills = try await interrupt(work, "signal=KILL", at: nil, sample: 8) { outcome, path in
            guard outcome.wasKilled else { return false }
            try await work.again(path, after: work.finalState(path))
            return true
        }
        #expect(kills > 0)
        report("\(kills) kills of \(work)")
    }

    /// The calls that change a disk.
    private static let changing: Set = [
        "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "openat", "mkdir", "rename", "unlink",
    ]

    @Test(
        "A write on a failing disk reports the error and keeps the old value, or stores the new one whole",
        arguments: KilledWork.allCases, ["ENOSPC", "EIO"])
    func survivesFailingDisk(work: KilledWork, error: String) async throws {
        let failures = try await interrupt(work, "error=\(error)", at: Self.changing, sample: 2) {
            outcome, path in
            try #require(!outcome.wasKilled && [0, 1].contains(outcome.status), "\(outcome)")
            let finalState = try work.finalState(path)
            if outcome.status == 0 {
                #expect(finalState == .new)
            } else if outcome.line != "\(StoreError.Code.outcomeUnknown)", work != .createVault || finalState == .nothing {
                // A new vault is opened at the end: when only that fails, the vault exists.
                #expect(finalState == work.before, "\(outcome.output)")
            }
            try await work.again(path, after: finalState)
            return outcome.status == 1
        }
        report("\(failures) failures of \(work) by \(error)")
    }

    @Test("An unconfirmed commit is reported as an unknown outcome, and a crash leaves the old or the new value")
    func reportsUnconfirmedCommit() async throws {
        var finalStates: Set<KilledWork.FinalState> = []
        // Once the process goes on to close its store, and once it is killed before that.
        for event in ["error=EIO", "error=EIO:signal=KILL"] {
            _ = try await interrupt(.save, event, at: ["fdatasync"], sample: .max) { outcome, path in
                guard outcome.wasKilled || outcome.line == "\(StoreError.Code.outcomeUnknown)" else { return false }
                finalStates.insert(try KilledWork.save.finalState(path))
                return true
            }
        }
        #expect(finalStates == [.old, .new])
    }

    /// Runs the work again for each of its calls with these names, or for all of them, each time on a fresh copy, and counts the
    /// runs for which `check` returns true.
    private func interrupt(
        _ work: KilledWork, _ event: String, at names: Set<String>?, sample: Int,
        _ check: (TestProcess.Outcome, String) async throws -> Bool
    ) async throws -> Int {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let template = directory.file("template")
        try makeDirectory(template)
        try work.prepare(template)
        func copy(_ name: String) throws -> String {
            let path = directory.file(name)
            try makeDirectory(path)
            for name in try FileManager.default.contentsOfDirectory(atPath: template) {
                try FileManager.default.copyItem(atPath: "\(template)/\(name)", toPath: "\(path)/\(name)")
            }
            return path
        }
        let all = try await StoreWorker.systemCalls(of: work.arguments(copy("dry")), log: directory.file("log"))
            .filter { names?.contains($0.name) ?? true }
        let step = Self.isExhaustive ? 1 : max(1, all.count / min(sample, all.count))
        var count = 0
        // Backward from the end, where the work becomes durable.
        for call in stride(from: all.count - 1, through: 0, by: -step).map({ all[$0] }) {
            let path = try copy("run")
            let outcome = try await StoreWorker.run(work.arguments(path), at: call, event)
            do {
                if try await check(outcome, path) { count += 1 }
            } catch {
                Issue.record("\(work), \(event) at \(call): \(error)")
            }
            try FileManager.default.removeItem(atPath: path)
        }
        return count
    }

    private func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Prints figures of a complete run.
    private func report(_ figures: String) {
        if Self.isExhaustive { print("SIGNET_KILLS: \(figures)") }
    }
}

@Suite("A vault that several processes or threads share")
struct SharedVaultTests {
    @Test("A vault loses none of 1000 changes by each of two processes")
    func twoProcessesLoseNoChange() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<2 {
                    group.addTask { try await StoreWorker.run(["increment-vault", directory.path, "1000"]).status }
                }
                for try await status in group { #expect(status == 0) }
            }
            #expect(try directory.openVault().get(RecordKey(.item, "counter")) == Array("2000".utf8))
        }
    }

    @Test(
        "A vault loses none of 1000 changes by each of two threads, whether opened together or apart", arguments: [true, false])
    func twoThreadsLoseNoChange(areApart: Bool) async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let first = try directory.createVault(.keyFile, timeout: 60)
            let second = areApart ? try directory.openVault(timeout: 60) : first
            let key = RecordKey(.item, "counter")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for vault in [first, second] {
                    group.addTask {
                        try await onThread {
                            for _ in 0..<1_000 {
                                try vault.write { (records: any RecordWriter) throws(StoreError) in
                                    let number = Int(String(decoding: try records.record(key) ?? [], as: UTF8.self)) ?? 0
                                    try records.put(Array(String(number + 1).utf8), key)
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try first.get(key) == Array("2000".utf8))
        }
    }
}

/// Runs `body` on a thread that may block.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking").async { continuation.resume(with: Result { try body() }) }
    }
}
