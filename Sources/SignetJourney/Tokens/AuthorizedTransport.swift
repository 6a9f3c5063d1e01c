public import SignetCore
public import SignetNetwork

/// Sends an app's own requests with its access token, and renews the token once when a server does not take it.
///
///     let api = AuthorizedTransport(transport, tokens: tokens, origins: [try Endpoint("https://api.example.com")])
///     let response = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))
public struct AuthorizedTransport: Sendable {
    private let transport: any HTTPTransport
    private let tokens: TokenSource
    private let origins: [Endpoint]
    private let settle: @Sendable () async throws -> Void

    /// A helper for the servers that the token is meant for.
    /// - Parameters:
    ///   - transport: How servers are reached.
    ///   - tokens: Where the token comes from.
    ///   - origins: Scheme, host and port of each. The token goes nowhere else.
    public init(_ transport: any HTTPTransport, tokens: TokenSource, origins: [Endpoint]) {
        self.init(transport, tokens: tokens, origins: origins) {}
    }

    init(
        _ transport: any HTTPTransport, tokens: TokenSource, origins: [Endpoint],
        after settle: @escaping @Sendable () async throws -> Void
    ) {
        self.transport = transport
        self.tokens = tokens
        self.origins = origins
        self.settle = settle
    }

    /// Sends a request with the token. After a 401 the token is renewed and the request sent once more; the second answer is
    /// the answer, whatever it is.
    /// - Throws: ``TokenError`` when there is no token to be had, or its renewal fails for a reason that is not the server's;
    ///   `TransportError`, with `TransportError.Code.invalidRequest` for a server that the token is not meant for.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let target = try? Endpoint(unchecked: request.url), origins.contains(where: { $0.hasSameOrigin(as: target) })
        else {
            throw TransportError(
                .invalidRequest, host: (try? Endpoint(unchecked: request.url))?.host ?? "?",
                "the token is not meant for this server: name it among the origins")
        }
        try await settle()
        let token = try await tokens.token()
        let response = try await transport.deliver(request.authorized(by: token))
        guard response.status == 401 else { return response }
        let renewed: AccessToken
        do throws(TokenError) {
            renewed = try await tokens.renewed(insteadOf: token)
        } catch {
            // Nothing better can be sent. The server's own answer says more than ours would.
            guard [.refused, .loginRequired, .unreachable].contains(error.code) else { throw error }
            return response
        }
        return try await transport.deliver(request.authorized(by: renewed))
    }
}

extension HTTPRequest {
    fileprivate func authorized(by token: AccessToken) -> HTTPRequest {
        var request = self
        request.headers.set("Authorization", token.authorization)
        return request
    }
}
