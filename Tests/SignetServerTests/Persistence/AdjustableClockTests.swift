import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Adjustable clock of a server", .postgresServer, .serialized, .timeLimit(.minutes(3)))
struct AdjustableClockTests {
    @Test("A stopped clock can be set and moved, and continues from its time")
    func stopsAndSetsClock() {
        let base = ManualClock()
        let clock = AdjustableClock(base)
        clock.stop()
        base.advance(by: 10)
        #expect(clock.now == base.now.addingTimeInterval(-10) && clock.isStopped && clock.offset == -10)
        clock.advance(by: .seconds(3))
        #expect(clock.offset == -7)
        let time = Date(timeIntervalSince1970: 2_000_000_000)
        clock.set(to: time)
        base.advance(by: 1)
        #expect(clock.now == time)
        clock.resume()
        base.advance(by: 1)
        #expect(clock.now == time.addingTimeInterval(1) && !clock.isStopped)
        clock.set(to: time)
        #expect(clock.now == time)
        clock.reset()
        #expect(clock.now == base.now && clock.offset == 0)
    }

    @Test("An unwritten change stays when the state is read and applies to the stored setting")
    func unwrittenChangeAppliesToStoredSetting() {
        let base = ManualClock()
        let clock = AdjustableClock(base)
        clock.stop()
        clock.adopt(AdjustableClock.Setting(shift: 5))
        #expect(clock.isStopped && clock.offset == 5)
        let move = clock.begin(.move(7))
        #expect(clock.offset == 12)
        // Meanwhile another server moved the clock by 100 s.
        clock.complete(clock.unwritten[0], as: AdjustableClock.Setting(shift: 100, stoppedAt: base.now.addingTimeInterval(100)))
        #expect(clock.offset == 107)
        clock.complete(move, as: nil)
        #expect(clock.offset == 100 && clock.unwritten.isEmpty)
    }

    @Test("Each change is written once, by its caller or by the first taker of pending changes")
    func writesEachChangeOnce() {
        let clock = AdjustableClock(ManualClock())
        _ = clock.begin(.move(1))
        clock.advance(by: .seconds(2))
        clock.advance(by: .seconds(4))
        var moved = 0.0
        for _ in 0..<2 {
            clock.takeChanges { change in moved += change.applied(to: AdjustableClock.Setting()).shift }
        }
        #expect(moved == 6 && clock.unwritten.count == 3 && clock.offset == 7)
    }

    @Test("A change before the state is open is stored with the state", arguments: StateKind.available)
    func storesEarlyClockChange(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            try await location.server(clock: clock) { server in
                server.devServer.moveClock(by: .seconds(60))
                _ = try await server.session()
                #expect(server.devServer.clock.offset == 60)
            }
            guard kind != .memory else { return }
            try await location.server(clock: clock) { server in
                _ = try await server.session()
                #expect(server.devServer.clock.offset == 60)
            }
        }
    }

    @Test(
        "A clock change is durable when it returns; one that cannot be written fails and is undone",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func clockChangeIsDurable() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock) { server in
                try await server.devServer.context.change(clock: .move(9))
                #expect(server.devServer.context.clock.unwritten.isEmpty)
                let postgres = try #require(PostgresTrait.server)
                try await postgres.crash()
                await #expect(throws: StoreError.self) { try await server.devServer.context.change(clock: .move(50)) }
                #expect(server.devServer.clock.offset == 9)
                server.devServer.moveClock(by: .seconds(50))
                let isUndone = try await eventually { server.devServer.clock.offset == 9 }
                #expect(isUndone)
                try await postgres.start()
            }
            try await location.server(clock: clock) { server in
                _ = try await server.session()
                #expect(server.devServer.clock.offset == 9)
            }
        }
    }

    @Test(
        "Simultaneous moves of the clock by two servers add up",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func concurrentClockMovesAddUp() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock) { one in
                try await location.server(clock: clock) { other in
                    let servers = [one.devServer.context, other.devServer.context]
                    _ = try await atOnce(20) { try await servers[$0 % 2].change(clock: .move(1)) }
                    for server in servers {
                        let hasMoved = try await eventually { server.clock.offset == 20 }
                        #expect(hasMoved)
                    }
                }
            }
        }
    }

    @Test("The clock setting of another server is read until that succeeds, and every failure is logged")
    func retriesReadingClock() async throws {
        let (rows, log) = (UnreadableRowStore(), RecordingLog())
        let coder = RowCoder(Secret.random(byteCount: 32))
        let (one, other) = (AdjustableClock(ManualClock()), AdjustableClock(ManualClock()))
        let moving = TransactionQueue(rows, coder, clock: one)
        await withCheckedContinuation { done in moving.keep(one.begin(.move(60))) { _ in done.resume() } }

        let engine = TransactionQueue(rows, coder, clock: other)
        rows.failures.withLock { $0 = 2 }
        ClockReader(engine, log.logger).read()
        let hasMoved = try await eventually { other.offset == 60 }
        #expect(hasMoved)
        let errors = log.lines.split(separator: "\n").filter { $0.contains("another server has set could not be read") }
        let areErrors = errors.allSatisfy { $0.contains("error") }
        #expect(errors.count == 2 && areErrors)
    }

    @Test("An unreadable clock row is logged once and read again on the next signal")
    func rereadsUnreadableClockOnSignal() async throws {
        let (rows, log) = (UnreadableRowStore(code: .corrupt), RecordingLog())
        let coder = RowCoder(Secret.random(byteCount: 32))
        let (one, other) = (AdjustableClock(ManualClock()), AdjustableClock(ManualClock()))
        let moving = TransactionQueue(rows, coder, clock: one)
        await withCheckedContinuation { done in moving.keep(one.begin(.move(60))) { _ in done.resume() } }

        let engine = TransactionQueue(rows, coder, clock: other)
        let reader = ClockReader(engine, log.logger)
        rows.failures.withLock { $0 = 1 }
        // A second attempt would succeed.
        await reader.read().value
        #expect(log.lines.contains("another server has set could not be read"))
        #expect(other.offset == 0)
        reader.read()
        let hasMoved = try await eventually { other.offset == 60 }
        #expect(hasMoved)
        let errors = log.lines.split(separator: "\n").filter { $0.contains("could not be read") }
        #expect(errors.count == 1)
        withExtendedLifetime(engine) {}
    }

    @Test("Observers are told of every change of the clock's time and of nothing else")
    func notifiesObserversOfMoves() {
        let clock = AdjustableClock(ManualClock())
        let moves = Mutex(0)
        clock.onMove { moves.withLock { $0 += 1 } }
        let change = clock.begin(.move(5))
        clock.complete(change, as: AdjustableClock.Setting(shift: 5))
        let movesAtFirst = moves.withLock { $0 }
        #expect(movesAtFirst == 1, "the written setting equals the current one")
        clock.adopt(AdjustableClock.Setting(shift: 9))
        clock.adopt(AdjustableClock.Setting(shift: 9))
        clock.reset()
        clock.complete(clock.unwritten[0], as: nil)
        let movesInAll = moves.withLock { $0 }
        #expect(movesInAll == 4 && clock.offset == 9)
    }
}

/// Rows whose next transactions fail, as many as `failures` says.
private final class UnreadableRowStore: RowStore {
    let failures = Mutex(0)
    private let rows = MemoryRows()
    private let code: StoreError.Code

    init(code: StoreError.Code = .failed) { self.code = code }

    func transact<R>(_ body: (any RowReader) throws(StoreError) -> (R, RowChanges)) throws(StoreError) -> R {
        let fails = failures.withLock { failures in
            failures -= 1
            return failures >= 0
        }
        if fails { throw StoreError(code, "read the rows", "a test wants it so") }
        return try rows.transact(body)
    }

    func close() {}
}
