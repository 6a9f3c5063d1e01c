import SignetCore
import Testing

@Suite("Timeouts", .timeLimit(.minutes(1)))
struct TimeoutTests {
    private enum Failure: Error {
        case expected
    }

    @Test("An operation that ends within the limit gives its value or its error")
    func returnsValueInTime() async throws {
        let undone = Counter()
        let undo: @Sendable (Int) async -> Void = { undone.add($0) }
        let value = try await withTimeout(.seconds(3600), undoing: undo, { 7 })
        #expect(value == 7)
        await #expect(throws: Failure.expected) {
            _ = try await withTimeout(.seconds(3600), undoing: undo, { throw Failure.expected })
        }
        #expect(undone.count == 0)
    }

    @Test("An operation that ignores its cancellation is waited for, and its value is undone", arguments: [true, false])
    func undoesLateValue(isCallerCanceled: Bool) async throws {
        let undone = Counter()
        let limit = isCallerCanceled ? Duration.seconds(3600) : .zero
        let (starts, start) = AsyncStream<Void>.makeStream()
        let work: @Sendable () async throws -> Int = {
            start.finish()
            // The wait ends when the operation is canceled, and the operation continues.
            try? await Task.sleep(for: .seconds(3600))
            return 7
        }
        let caller = Task { try await withTimeout(limit, undoing: { undone.add($0) }, work) }
        if isCallerCanceled {
            for await _ in starts {}
            caller.cancel()
        }
        switch await caller.result {
        case .success(let value): #expect(value == nil && !isCallerCanceled)
        case .failure(let error): #expect(error is CancellationError && isCallerCanceled)
        }
        #expect(undone.count == 7)
    }

    @Test("An async lock that is not free within the limit is not acquired, and is free for the next caller after its release")
    func lockTimesOut() async {
        let lock = AsyncLock()
        await lock.lock()
        let isAcquiredInTime = await lock.lock(within: .zero)
        #expect(!isAcquiredInTime)
        lock.unlock()
        let isAcquiredNext = await lock.lock(within: .seconds(3600))
        #expect(isAcquiredNext)
    }

    @Test("The error of an operation that was canceled with its caller is a CancellationError")
    func reportsCancellation() async {
        let (starts, start) = AsyncStream<Void>.makeStream()
        let caller = Task {
            try await withTimeout(.seconds(3600), undoing: { (_: Int) in }) {
                start.finish()
                try? await Task.sleep(for: .seconds(3600))
                throw Failure.expected
            }
        }
        for await _ in starts {}
        caller.cancel()
        await #expect(throws: CancellationError.self) { _ = try await caller.value }
    }

    @Test("An operation is not started for a caller that is canceled already")
    func startsNothingForCanceledCaller() async {
        let started = Counter()
        let caller = Task {
            // The wait ends when the caller is canceled.
            try? await Task.sleep(for: .seconds(3600))
            return try await withTimeout(.seconds(3600), undoing: { _ in }, { started.add() })
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { _ = try await caller.value }
        #expect(started.count == 0)
    }
}
