import SignetCore
import SignetNetwork

/// The way in which requests are sent.
extension AuthorizationServerClient {
    static let version = "resource=2.1, protocol=1.0"

    func headers(_ session: SSOToken, for url: String, _ cookies: CookieJar) -> HTTPHeaders {
        SessionHeaders(given, dialect.current).headers(session.value, for: url, cookies, now: clock.now)
    }

    /// Sends a form with the authentication of the client.
    ///
    /// All endpoints that take a form authenticate the client. The server may repeat the secret in its response, so the caller
    /// removes it from the error; see ``withoutSecret(_:)``.
    /// - Parameters:
    ///   - fields: The fields of the form.
    ///   - url: The address of the endpoint.
    ///   - headers: More header fields.
    ///   - action: The purpose of the request, which interceptors receive.
    ///   - key: The key that signs a proof of possession; nil for a request without one.
    ///   - token: The access token in the header fields; nil for none.
    /// - Returns: The response.
    /// - Throws: The errors of the request, of the keys and of interceptors.
    func post(
        _ fields: [(name: String, value: String)], to url: String, headers: HTTPHeaders = [:], for action: RequestAction,
        boundTo key: DPoPKey? = nil, presenting token: Secret? = nil
    ) async throws -> HTTPResponse {
        try await send(for: action, boundTo: key, presenting: token) {
            var (fields, headers) = (fields, headers)
            // Another attempt needs another assertion of the client, which is accepted once.
            try await authenticate(&fields, &headers, for: action)
            headers.append("Content-Type", "application/x-www-form-urlencoded")
            headers.append("Accept", "application/json")
            return request("POST", url, headers: headers, body: Array(FormCoding.encode(fields).utf8))
        }.response
    }

    /// Sends a request with a proof of possession; see ``ProofSender``.
    /// - Parameters:
    ///   - action: The purpose of the request, which interceptors receive.
    ///   - key: The key that signs; nil for a request without a proof.
    ///   - token: The access token in the request; nil for none.
    ///   - request: Returns the request for each attempt.
    /// - Returns: The response, and the request to which it belongs.
    /// - Throws: The errors of the request, of the key and of interceptors.
    func send(
        for action: RequestAction, boundTo key: DPoPKey?, presenting token: Secret? = nil,
        _ request: () async throws -> HTTPRequest
    ) async throws -> (response: HTTPResponse, request: HTTPRequest) {
        guard let key else {
            let plain = try await request()
            return (try await observed(plain, for: action), plain)
        }
        // The proof is about the address that the interceptors leave in the request.
        return try await proofs.send(with: key, presenting: token) {
            try await pipeline.prepare(try await request(), for: action)
        } deliver: { bound in
            try await pipeline.send(prepared: bound, for: action, to: nil)
        }
    }

    func send(
        _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [], for action: RequestAction
    ) async throws -> (response: HTTPResponse, request: HTTPRequest) {
        let request = self.request(method, url, headers: headers, body: body)
        return (try await observed(request, for: action), request)
    }

    /// Sends a request without a proof, and remembers the time and the nonce in the response for the next proof.
    private func observed(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPResponse {
        let sent = clock.now
        let response = try await pipeline.send(request, for: action)
        if let server = try? Endpoint(unchecked: request.url) { proofs.observe(response, of: server, sent: sent) }
        return response
    }

    /// Returns a request with the timeout and the pins of the server.
    func request(_ method: String, _ url: String, headers: HTTPHeaders, body: [UInt8] = []) -> HTTPRequest {
        HTTPRequest(method, url, headers: headers, body: body, timeout: given.timeout, pins: given.pins)
    }
}
