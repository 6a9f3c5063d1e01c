import NIOCore

/// The time between two warnings about the same problem, so that a problem that lasts does not fill the logs.
struct WarningInterval {
    /// The time after a warning in which no further one is logged.
    static let pause = TimeAmount.minutes(1)

    private var last: NIODeadline?

    /// Returns true when a warning is due, which then counts as logged.
    mutating func isDue(at now: NIODeadline) -> Bool {
        guard last.map({ now >= $0 + Self.pause }) ?? true else { return false }
        last = now
        return true
    }
}
