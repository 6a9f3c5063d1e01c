#if os(Linux)
import Dispatch
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

@Suite("Threads for calls that may never return")
struct DetachedThreadTests {
    @Test("A hundred detached threads run at once, although each of them waits")
    func detachedThreadsWaitAtOnce() async throws {
        let (count, running, end) = (100, Mutex(0), DispatchSemaphore(value: 0))
        defer { for _ in 0..<count { end.signal() } }
        for _ in 0..<count {
            let isStarted = DetachedThread.start {
                running.withLock { $0 += 1 }
                end.wait()
            }
            try #require(isStarted)
        }
        let areRunning = try await eventually { running.withLock { $0 } == count }
        #expect(areRunning)
    }
}
#endif
