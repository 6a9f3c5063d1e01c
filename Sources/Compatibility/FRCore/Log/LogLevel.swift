/// A set of levels that are logged.
public struct LogLevel: OptionSet, Sendable, Hashable {
    /// The bit set, with one bit for each level.
    public let rawValue: Int

    /// Creates a set of levels from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No level, whatever else the set contains.
    public static let none = LogLevel(rawValue: 1 << 0)
    /// Messages that help with debugging.
    public static let verbose = LogLevel(rawValue: 1 << 1)
    /// Informational messages.
    public static let info = LogLevel(rawValue: 1 << 2)
    /// Requests and answers, without their content.
    public static let network = LogLevel(rawValue: 1 << 3)
    /// Problems that don't stop the work.
    public static let warning = LogLevel(rawValue: 1 << 4)
    /// Errors.
    public static let error = LogLevel(rawValue: 1 << 5)
    /// All levels.
    public static let all = LogLevel(rawValue: 1 << 6)

    /// Returns true when messages of `level` are logged.
    package func includes(_ level: LogLevel) -> Bool {
        !contains(.none) && (contains(.all) || contains(level))
    }
}
