#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A one-time code to show to the user, with its validity.
public struct OneTimeCode: Sendable, Hashable {
    /// The digits, with leading zeros; letters and digits for ``OTPEncoding/steam``.
    public let digits: String
    /// The step or counter that determined the code.
    public let basis: Basis

    /// The step or counter that determines a code.
    public enum Basis: Sendable, Hashable {
        /// A TOTP step. The code is valid from `start` up to, but not including, `end`.
        case time(start: Date, end: Date)
        /// An HOTP counter, which this code has used up.
        case counter(UInt64)
    }

    package init(digits: String, basis: Basis) {
        self.digits = digits
        self.basis = basis
    }

    /// Returns true when the code is valid at `date`.
    ///
    /// This is always true for an HOTP code, which is valid until it is used.
    public func isValid(at date: Date) -> Bool {
        switch basis {
        case .time(let start, let end): date >= start && date < end
        case .counter: true
        }
    }

    /// Returns the remaining whole seconds at `date`, rounded up; nil for an HOTP code.
    public func secondsLeft(at date: Date) -> Int? {
        guard case .time(_, let end) = basis else { return nil }
        return max(0, Int(end.timeIntervalSince(date).rounded(.up)))
    }

    /// Returns the elapsed share of the code's period at `date`, from 0 to 1; 0 for an HOTP code.
    public func progress(at date: Date) -> Double {
        guard case .time(let start, let end) = basis else { return 0 }
        return min(1, max(0, date.timeIntervalSince(start) / end.timeIntervalSince(start)))
    }
}
