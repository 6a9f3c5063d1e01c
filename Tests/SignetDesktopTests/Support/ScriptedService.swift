#if os(Linux)
import SignetCore
import SignetTesting
import TestSupport

@testable import SignetDesktop

/// Returns the code of the ``DBusError`` that a closure throws; nil when it throws none.
func failureCode(_ body: () async throws -> Void) async -> DBusError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? DBusError)?.code
    }
}

/// Returns the next element of a stream; nil when it ends, or when none comes in time.
func next<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
    let found = await withTimeout(TestTimeout.default) { () -> Element? in
        for await element in stream { return element }
        return nil
    }
    return found ?? nil
}

/// Time that a test moves.
final class ManualTime: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }
}
#endif
