public import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A clock that stands still until a test moves it.
public final class ManualClock: WallClock {
    private let date: Mutex<Date>

    /// A clock that stands at `start`.
    public init(_ start: Date) {
        date = Mutex(start)
    }

    /// The moment the clock stands at.
    public var now: Date { date.withLock { $0 } }

    /// Moves the clock by so many seconds, backwards if negative.
    public func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}
