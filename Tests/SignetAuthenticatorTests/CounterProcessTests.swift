import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// HOTP counters used by several concurrent processes and by processes that are killed at any moment.
@Suite("HOTP counters in a vault", .serialized, .timeLimit(.minutes(3)))
struct CounterProcessTests {
    private func start(_ path: String, times: Int) throws -> TestProcess {
        try TestProcess(Programs.built("StoreWorker"), ["codes-vault", path, "\(times)"])
    }

    /// Returns the counters that were printed completely.
    private func counters(_ output: String) -> [UInt64] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { UInt64($0) }
    }

    private func withVault(_ body: (String, AccountRecords) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("vault")
            let records = AccountRecords(try VaultDirectory(path: path).createVault(.keyFile))
            _ = try await AuthenticatorFixture(store: records).authenticator.enroll(uri: Sample.hotp)
            try await body(path, records)
        }
    }

    private func next(_ records: AccountRecords) throws -> UInt64 {
        let mechanisms = try records.read { (records: any AccountReader) throws(StoreError) in try records.mechanisms() }
        guard case .counter(let next)? = mechanisms.first?.oath?.factor else { throw Unexpected() }
        return next
    }

    @Test("Each call of three concurrent processes gets a different counter")
    func processesGetDifferentCounters() async throws {
        try await withVault { path, records in
            let workers = try (0..<3).map { _ in try start(path, times: 60) }
            var all: [UInt64] = []
            for worker in workers { all += counters(await worker.end().output) }
            #expect(all.sorted() == Array(7..<187))
            #expect(try next(records) == 187)
        }
    }

    @Test("A process killed at any moment never causes a counter to be used again")
    func killedProcessNeverReusesCounter() async throws {
        try await withVault { path, records in
            var shown: [UInt64] = []
            for round in 0..<12 {
                let worker = try start(path, times: 1_000_000)
                try await worker.waitForOutput { output, _ in output.utf8.count > round * 7 }
                worker.signal(SIGKILL)
                shown += counters(await worker.end().output)
                let last = shown.last ?? 0
                #expect(try next(records) > last)
            }
            #expect(Set(shown).count == shown.count)
            #expect(shown.count >= 12)
        }
    }
}
