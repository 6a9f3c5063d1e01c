/// The period of a time-based code: one second or more.
///
/// A value of this type is always in range.
public struct OTPPeriod: Sendable, Hashable {
    /// The valid periods, in seconds.
    public static let range = 1...Int(Int32.max)
    /// Thirty seconds, the default.
    public static let thirtySeconds = OTPPeriod(unchecked: 30)

    /// The number of seconds.
    public let seconds: Int

    /// Creates a period.
    ///
    /// Returns nil when `seconds` is outside ``range``.
    public init?(seconds: Int) {
        guard Self.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    private init(unchecked seconds: Int) {
        self.seconds = seconds
    }
}
