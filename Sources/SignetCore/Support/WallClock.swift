#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A source of the current time.
///
/// Rules that depend on the time take it as a parameter; only composition roots read a clock.
public protocol WallClock: Sendable {
    /// The current time.
    var now: Date { get }
}

/// The system clock of this machine.
public struct SystemWallClock: WallClock {
    /// Creates the clock.
    ///
    /// It has no state.
    public init() {}
    /// The current time of this machine.
    public var now: Date { Date() }
}
