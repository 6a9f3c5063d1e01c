#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Everything that determines a one-time code: the secret, the hash, the length and the moving factor.
public struct OATHSettings: Sendable, Hashable {
    /// The shared key.
    public var secret: Secret
    /// The hash under the HMAC.
    public var algorithm: OTPAlgorithm
    /// The length of a code.
    public var digits: OTPDigits
    /// Time or counter.
    public var factor: MovingFactor

    /// Settings with the field's defaults: SHA-1, six digits, a period of 30 seconds.
    public init(
        secret: Secret, algorithm: OTPAlgorithm = .sha1, digits: OTPDigits = .six,
        factor: MovingFactor = .time(period: .thirtySeconds)
    ) {
        self.secret = secret
        self.algorithm = algorithm
        self.digits = digits
        self.factor = factor
    }

    /// The code at `date`. For HOTP it is the code of the next counter, which the caller must have reserved:
    /// see ``reserveCounter()``.
    public func code(at date: Date) -> OneTimeCode {
        switch factor {
        case .time(let period):
            let step = TOTP.step(at: date, period: period)
            let length = Double(period.seconds)
            let start = Date(timeIntervalSince1970: Double(step) * length)
            return OneTimeCode(
                digits: HOTP.code(secret: secret, counter: step, digits: digits, algorithm: algorithm),
                basis: .time(start: start, end: start.addingTimeInterval(length)))
        case .counter(let next):
            return OneTimeCode(
                digits: HOTP.code(secret: secret, counter: next, digits: digits, algorithm: algorithm), basis: .counter(next))
        }
    }

    /// Takes the next HOTP counter: returns settings with the reserved counter and moves these on by one. The moved settings
    /// must be durable before the reserved code is shown, so that no counter is ever used twice.
    ///
    /// Nil for TOTP, and for an HOTP counter that has no successor.
    public mutating func reserveCounter() -> OATHSettings? {
        guard case .counter(let next) = factor, next < .max else { return nil }
        defer { factor = .counter(next: next + 1) }
        return self
    }
}
