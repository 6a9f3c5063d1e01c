/// The length of a one-time code: 4 to 10 digits.
///
/// Ten digits are the whole 31-bit number of RFC 4226 section 5.3; the first one is 0, 1 or 2.
///
/// A value of this type is always in range.
public struct OTPDigits: Sendable, Hashable {
    /// The valid lengths.
    public static let range = 4...10
    /// Five digits, the length of Steam's codes.
    package static let five = OTPDigits(unchecked: 5)
    /// Six digits, the default.
    public static let six = OTPDigits(unchecked: 6)
    /// Eight digits.
    public static let eight = OTPDigits(unchecked: 8)

    /// The number of digits.
    public let count: Int

    /// Creates a length.
    ///
    /// Returns nil when `count` is outside ``range``.
    public init?(_ count: Int) {
        guard Self.range.contains(count) else { return nil }
        self.count = count
    }

    private init(unchecked count: Int) {
        self.count = count
    }
}
