/// What makes one code differ from the next: the time, or a counter. A counter has no period and a clock no counter.
public enum MovingFactor: Sendable, Hashable {
    /// TOTP (RFC 6238): a new code every `period` seconds. The period is positive.
    case time(period: Int)
    /// HOTP (RFC 4226): `next` is the counter of the next code to show.
    case counter(next: UInt64)

    /// The period that is used when none is given, in seconds.
    public static let defaultPeriod = 30
}
