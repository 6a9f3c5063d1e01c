import Dispatch
import SignetCore
import Testing

@Suite("Mutex, counter and latch")
struct MutexTests {
    private struct Refusal: Error {}

    @Test("One thread at a time runs its closure", arguments: [2, 8])
    func excludesOtherThreads(threads: Int) {
        let words = Mutex<[String: Int]>([:])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for round in 0..<1_000 {
                words.withLock { $0["\((thread + round) % 7)", default: 0] += 1 }
            }
        }
        let sum = words.withLock { $0.values.reduce(0, +) }
        #expect(sum == threads * 1_000)
    }

    @Test("A lock that is in use is not waited for")
    func returnsNilWhileLocked() {
        let value = Mutex(1)
        let whileLocked = value.withLock { _ in
            let results = Mutex<[Int?]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                let result = value.withLockIfAvailable { $0 }
                results.withLock { $0.append(result) }
            }
            return results.withLock { $0 }
        }
        #expect(whileLocked == [nil, nil])
        let unlocked = value.withLockIfAvailable { $0 }
        #expect(unlocked == 1)
    }

    @Test("A closure that throws keeps its changes and releases the lock")
    func releasesLockAfterError() {
        let value = Mutex(0)
        #expect(throws: Refusal.self) {
            try value.withLock { (value) throws(Refusal) in
                value = 1
                throw Refusal()
            }
        }
        let kept = value.withLock { $0 }
        #expect(kept == 1)
    }

    @Test("The value is released with its mutex")
    func releasesValueWithMutex() {
        final class Content: Sendable {}
        weak var content: Content?
        do {
            let mutex = Mutex(Content())
            content = mutex.withLock { $0 }
            #expect(content != nil)
        }
        #expect(content == nil)
    }

    @Test("A counter adds from any thread and returns the sum")
    func countsFromThreads() {
        let counter = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<500 { counter.add() }
        }
        #expect(counter.count == 4_000)
        #expect(counter.add(-3_999) == 1)
    }

    @Test("A latch stays set")
    func latchStaysSet() {
        let latch = Latch()
        #expect(!latch.isSet)
        latch.set()
        latch.set()
        #expect(latch.isSet)
    }
}
