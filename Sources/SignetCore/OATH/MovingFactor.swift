/// The value that changes from one code to the next: the time or a counter.
public enum MovingFactor: Sendable, Hashable {
    /// TOTP (RFC 6238): the code changes with every period.
    case time(period: OTPPeriod)
    /// HOTP (RFC 4226): `next` is the counter of the next code to show.
    case counter(next: UInt64)
}
