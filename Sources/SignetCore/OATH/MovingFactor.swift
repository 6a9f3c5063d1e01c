/// What makes one code differ from the next: the time, or a counter. A counter has no period and a clock no counter.
public enum MovingFactor: Sendable, Hashable {
    /// TOTP (RFC 6238): a new code every period.
    case time(period: OTPPeriod)
    /// HOTP (RFC 4226): `next` is the counter of the next code to show.
    case counter(next: UInt64)
}
