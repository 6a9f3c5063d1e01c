/// A clock for timeouts, which pass only when a test says so.
package final class ManualTimer: Clock {
    package typealias Duration = Swift.Duration

    package struct Instant: InstantProtocol {
        package typealias Duration = Swift.Duration
        package var offset = Swift.Duration.zero
        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    package let now = Instant()
    package let minimumResolution = Swift.Duration.zero
    private let (fired, trigger) = AsyncStream<Void>.makeStream()

    package init() {}

    /// Lets the timeout pass, also one that begins later.
    package func fire() { trigger.yield() }

    package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        for await _ in fired { return }
        throw CancellationError()
    }
}
