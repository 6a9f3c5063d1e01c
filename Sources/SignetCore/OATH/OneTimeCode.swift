#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A code to show to a person, and how long it is good for.
public struct OneTimeCode: Sendable, Hashable {
    /// The digits, with leading zeros.
    public let digits: String
    /// What the code was made from.
    public let basis: Basis

    /// What a code was made from.
    public enum Basis: Sendable, Hashable {
        /// A TOTP step: the code is valid from `start` until, not including, `end`.
        case time(start: Date, end: Date)
        /// An HOTP counter, which this code has used up.
        case counter(UInt64)
    }

    /// Whether the code is still good at `date`. An HOTP code is until it is used.
    public func isValid(at date: Date) -> Bool {
        switch basis {
        case .time(let start, let end): date >= start && date < end
        case .counter: true
        }
    }

    /// The whole seconds that are left at `date`, rounded up; nil for an HOTP code.
    public func secondsLeft(at date: Date) -> Int? {
        guard case .time(_, let end) = basis else { return nil }
        return max(0, Int(end.timeIntervalSince(date).rounded(.up)))
    }

    /// How much of the code's time has gone at `date`, from 0 to 1; 0 for an HOTP code.
    public func progress(at date: Date) -> Double {
        guard case .time(let start, let end) = basis else { return 0 }
        return min(1, max(0, date.timeIntervalSince(start) / end.timeIntervalSince(start)))
    }
}
