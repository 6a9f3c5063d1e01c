public import FRCore
public import SignetCore

extension NetworkError: RetryableError {
    /// True when the same call may succeed later without further action.
    public var isRetryable: Bool { cause?.isRetryable ?? false }
    /// The time that the server asks the client to wait before the next request; nil when no server stated one.
    public var retryAfter: Duration? { cause?.retryAfter }

    private var cause: (any RetryableError)? {
        if case .apiRequestFailure(_, _, let error) = self { error as? any RetryableError } else { nil }
    }
}
