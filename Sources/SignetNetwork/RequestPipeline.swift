/// Sends requests through an app's interceptors and a transport, and passes a summary of each to the app's request logger.
package struct RequestPipeline: Sendable {
    package let transport: any HTTPTransport
    package let interceptors: [any RequestInterceptor]
    package let requestLogger: (@Sendable (LoggedRequest) -> Void)?

    package init(
        _ transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [],
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.transport = transport
        self.interceptors = interceptors
        self.requestLogger = requestLogger
    }

    /// Sends a request for `action`.
    /// - Throws: `TransportError`, and any error of an interceptor.
    package func send(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPResponse {
        let pins = request.pins
        var request = try await interceptors.intercept(request, for: action)
        // An interceptor may add a header; it can't take away the pins of the profile.
        request.pins = pins
        do throws(TransportError) {
            let response = try await transport.deliver(request)
            requestLogger?(LoggedRequest(request, action: action, response: response))
            return response
        } catch {
            requestLogger?(LoggedRequest(request, action: action, failure: error))
            throw error
        }
    }
}
