import SignetCore

/// An app's hook that sees each request of the SDK before it is sent and may change it.
///
/// It can't change the headers by which servers recognize the SDK (`x-requested-with` and `x-requested-platform`).
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send: a changed one, or the given one.
    func intercept(request: Request, action: Action) -> Request
}

/// The interceptors of this process.
open class RequestInterceptorRegistry {
    private init() {}

    /// The registry of this process.
    public static var shared: RequestInterceptorRegistry { RequestInterceptorRegistry() }

    /// Registers interceptors, which see every request from now on, in this order.
    ///
    /// Nil with `shouldOverride` removes all interceptors.
    /// - Parameters:
    ///   - interceptors: The interceptors.
    ///   - shouldOverride: True to replace the registered interceptors; false to append to them.
    public func registerInterceptors(interceptors: [any RequestInterceptor]?, shouldOverride: Bool = true) {
        FRCoreProcess.current.state.withLock { state in
            state.interceptors = (shouldOverride ? [] : state.interceptors) + (interceptors ?? [])
        }
    }
}
