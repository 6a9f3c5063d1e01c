import SignetStorage
import SignetTesting

/// The delay of a task without a connection to the vault, while key protectors take a second each: a call that blocked one of the
/// pool's threads would show here.
enum HeartbeatRow {
    private static let name = "a task's p99 lateness while key protectors take 1 s"
    /// More at a time than the pool has threads.
    private static let openings = 16

    static func measure() async throws -> Row {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let store = MemoryStore()
        let protector = FaultyKeyProtector(try KeyFile.create(path: directory.file("key")))
        _ = try Vault.create(in: store, protector: protector)
        protector.fault = .blocking(.seconds(1))
        // In turns, so that what else the machine does meets both.
        var (idle, busy) = ([Double](), [Double]())
        for _ in 0..<3 {
            idle += try await lateness { try await Task.sleep(for: .seconds(1)) }
            busy += try await lateness {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<openings { group.addTask { _ = try await Vault.unlock(store, protectors: [protector]) } }
                    try await group.waitForAll()
                }
            }
        }
        let (ours, reference) = (percentile(99, of: busy), percentile(99, of: idle))
        return Row(
            name: name, ratio: ours / reference, limit: .atMost(2), ours: .init(name: "openings", value: ours, unit: "µs"),
            reference: .init(name: "idle", value: reference, unit: "µs"))
    }

    /// Measures each delay of a sleeping task while `body` runs, in microseconds after the time that it asked for.
    private static func lateness(during body: @Sendable @escaping () async throws -> Void) async throws -> [Double] {
        async let work: Void = body()
        let heart = Task {
            var times: [Double] = []
            while !Task.isCancelled {
                let begin = ContinuousClock.now
                try? await Task.sleep(for: .milliseconds(1))
                times.append((ContinuousClock.now - begin) / .microseconds(1))
            }
            return times
        }
        defer { heart.cancel() }
        try await work
        heart.cancel()
        return await heart.value
    }

    private static func percentile(_ percent: Int, of values: [Double]) -> Double {
        values.isEmpty ? .infinity : values.sorted()[min(values.count - 1, values.count * percent / 100)]
    }
}
