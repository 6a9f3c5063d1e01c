#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A time on the clock of this machine until which the agent may begin an operation.
///
/// A client that no longer waits has found another way. An agent that was stopped meanwhile reads the request later, and must not
/// use up a code for it.
package struct AgentDeadline: Sendable, Hashable {
    /// The milliseconds since the start of the system, without the time in which it slept (`CLOCK_MONOTONIC`).
    private let milliseconds: UInt64

    /// Creates a time that is some seconds from now.
    package init(secondsFromNow seconds: Int) { milliseconds = Self.now() + UInt64(seconds) * 1000 }

    /// Reads the text of a request; returns nil for another text.
    package init?(_ text: String) {
        guard let milliseconds = UInt64(text) else { return nil }
        self.milliseconds = milliseconds
    }

    /// The text for a request.
    package var text: String { "\(milliseconds)" }

    /// True when the time is over.
    package var isOver: Bool { Self.now() >= milliseconds }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
