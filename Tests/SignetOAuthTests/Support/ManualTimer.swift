/// A clock for timeouts, which pass only when a test says so.
final class ManualTimer: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        typealias Duration = Swift.Duration
        var offset = Swift.Duration.zero
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    let now = Instant()
    let minimumResolution = Swift.Duration.zero
    private let (fired, trigger) = AsyncStream<Void>.makeStream()

    /// Lets the timeout pass, also one that begins later.
    func fire() { trigger.yield() }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        for await _ in fired { return }
        throw CancellationError()
    }
}
