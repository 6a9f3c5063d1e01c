/// The category of an error.
///
/// A code is a struct with static members and not an enum, so that a new code does not break the source of an app: a `switch` over
/// codes always has a `default`.
public protocol ErrorCode: RawRepresentable, CaseIterable, Sendable, Hashable, CustomStringConvertible where RawValue == String {
    /// Creates a code from its name.
    init(rawValue: String)
}

extension ErrorCode {
    /// The name of the code.
    public var description: String { rawValue }
}

/// An error that tells whether the same call may succeed later.
///
///     } catch let error as any RetryableError where error.isRetryable {
///         try await Task.sleep(for: error.retryAfter ?? .seconds(5))
public protocol RetryableError: Error {
    /// True when the same call may succeed later without a change by the user or the app.
    var isRetryable: Bool { get }
    /// The time that the server asks the client to wait before the next request; nil when no server stated one.
    var retryAfter: Duration? { get }
}

extension RetryableError {
    /// Nil: most errors don't come with a time.
    public var retryAfter: Duration? { nil }
}
