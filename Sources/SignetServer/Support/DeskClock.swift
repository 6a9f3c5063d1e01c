import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one clock of a server: that which it was given, and how far somebody who tests has moved it.
final class DeskClock: WallClock {
    private let base: any WallClock
    private let shift = Mutex(0.0)

    init(_ base: any WallClock) { self.base = base }

    var now: Date { base.now.addingTimeInterval(offset) }

    /// How many seconds it is ahead of the clock that it was given.
    var offset: Double { shift.withLock { $0 } }

    func move(by seconds: Double) { shift.withLock { $0 += seconds } }

    /// Goes by the clock that it was given again.
    func reset() { shift.withLock { $0 = 0 } }
}
