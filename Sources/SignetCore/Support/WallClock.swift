#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What time it is. Every rule that depends on the time takes it as a parameter; only a composition root asks a clock.
public protocol WallClock: Sendable {
    /// The present moment.
    var now: Date { get }
}

/// The machine's own clock.
public struct SystemWallClock: WallClock {
    /// Makes the clock; it has no state.
    public init() {}
    /// The machine's present moment.
    public var now: Date { Date() }
}
