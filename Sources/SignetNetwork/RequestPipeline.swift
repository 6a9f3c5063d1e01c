package import SignetCore

/// The one way in which the engine sends requests: through the app's interceptors, with the pins of the profile, over the
/// transport, with the time of the response for the server's clock, and with a summary for the app's request logger.
package struct RequestPipeline: Sendable {
    package let transport: any HTTPTransport
    package let interceptors: [any RequestInterceptor]
    package let requestLogger: (@Sendable (LoggedRequest) -> Void)?
    private let clocks: ServerClocks?

    package init(
        _ transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [], clocks: ServerClocks? = nil,
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.transport = transport
        self.interceptors = interceptors
        self.clocks = clocks
        self.requestLogger = requestLogger
    }

    /// Sends a request for `action`.
    /// - Parameters:
    ///   - request: The request, which the interceptors see first.
    ///   - action: The purpose of the request.
    ///   - server: The server whose clock is updated from the response; nil for none.
    /// - Returns: The server's response, whatever its status is.
    /// - Throws: `TransportError`, and any error of an interceptor.
    package func send(
        _ request: HTTPRequest, for action: RequestAction, to server: Endpoint? = nil
    ) async throws -> HTTPResponse {
        try await send(prepared: try await prepare(request, for: action), for: action, to: server)
    }

    /// Sends a request for `action` and passes the content of a successful response to `receive` as it arrives.
    /// - Throws: `TransportError`, any error of an interceptor, and any error of `receive`.
    package func stream(
        _ request: HTTPRequest, for action: RequestAction, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        let request = try await prepare(request, for: action)
        return try await logged(request, action) {
            try transport.checkPins(of: request)
            return try await transport.stream(request, receive: receive)
        }
    }

    /// Passes a request through the interceptors.
    ///
    /// Nothing is sent.
    package func prepare(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var prepared = try await interceptors.intercept(request, for: action)
        // An interceptor may add a header, and pins where there are none; it can't take away the pins of the profile.
        if !request.pins.isEmpty { prepared.pins = request.pins }
        return prepared
    }

    /// Sends a request that the interceptors have seen.
    package func send(
        prepared request: HTTPRequest, for action: RequestAction, to server: Endpoint?
    ) async throws -> HTTPResponse {
        try await logged(request, action) {
            guard let clocks, let server else { return try await transport.deliver(request) }
            return try await clocks.timed(server) { try await transport.deliver(request) }
        }
    }

    private func logged(
        _ request: HTTPRequest, _ action: RequestAction, _ exchange: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        do {
            let response = try await exchange()
            requestLogger?(LoggedRequest(request, action: action, response: response))
            return response
        } catch let error as TransportError {
            requestLogger?(LoggedRequest(request, action: action, failure: error))
            throw error
        }
    }
}
