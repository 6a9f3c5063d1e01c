public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A clock whose time changes only when a test advances it.
public final class ManualClock: WallClock {
    private let date: Mutex<Date>

    /// Creates a clock that shows `start`.
    public init(_ start: Date) {
        date = Mutex(start)
    }

    /// The time that the clock shows.
    public var now: Date { date.withLock { $0 } }

    /// Advances the clock by a number of seconds.
    ///
    /// A negative number sets it back.
    public func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}
