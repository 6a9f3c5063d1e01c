public import SignetCore
public import SignetNetwork

/// Sends an app's own requests with its access token, and renews the token once when a server does not take it.
///
///     let api = AuthorizedTransport(transport, tokens: tokens, origins: [try Endpoint("https://api.example.com")])
///     let response = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))
public struct AuthorizedTransport: Sendable {
    private let transport: any HTTPTransport
    private let tokens: TokenSource
    private let origins: [Origin]
    private let settle: @Sendable () async throws -> Void

    /// A server that the token is meant for.
    struct Origin: Sendable {
        let address: Endpoint
        /// The keys of which it must have one; none for what the request itself insists on.
        let pins: Set<PublicKeyPin>

        /// The keys of which both the server's and the request's own must have one.
        func demanded(by request: HTTPRequest) throws(TransportError) -> Set<PublicKeyPin> {
            if pins.isEmpty || request.pins.isEmpty { return pins.union(request.pins) }
            let common = pins.intersection(request.pins)
            // No pins would be no demand at all.
            guard !common.isEmpty else {
                throw TransportError(
                    .invalidRequest, host: address.host, "the request insists on other keys than this server must have")
            }
            return common
        }
    }

    /// A helper for the servers that the token is meant for.
    /// - Parameters:
    ///   - transport: How servers are reached.
    ///   - tokens: Where the token comes from.
    ///   - origins: Scheme, host and port of each. The token goes nowhere else.
    ///   - pins: The keys of which each of them must have one; a request may insist on some of them. None for what the request
    ///     insists on.
    public init(
        _ transport: any HTTPTransport, tokens: TokenSource, origins: [Endpoint], pins: Set<PublicKeyPin> = []
    ) {
        self.init(transport, tokens: tokens, origins: origins.map { Origin(address: $0, pins: pins) }) {}
    }

    init(
        _ transport: any HTTPTransport, tokens: TokenSource, origins: [Origin],
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
    ///   `TransportError`, with `TransportError.Code.invalidRequest` for a server that the token is not meant for, and
    ///   `TransportError.Code.cannotPin` where it must have a key that nobody would look at.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let target = try? Endpoint(unchecked: request.url),
            let origin = origins.first(where: { $0.address.hasSameOrigin(as: target) })
        else {
            throw TransportError(
                .invalidRequest, host: (try? Endpoint(unchecked: request.url))?.host ?? "?",
                "the token is not meant for this server: name it among the origins")
        }
        var request = request
        request.pins = try origin.demanded(by: request)
        try await settle()
        let token = try await tokens.token()
        let response = try await transport.deliver(request.authorized(by: token))
        guard response.status == 401 else { return response }
        let renewed: AccessToken
        do throws(TokenError) {
            renewed = try await tokens.renewed(insteadOf: token)
        } catch {
            // Nothing better can be sent. The server's own answer says more than ours would.
            guard [.refused, .loginRequired, .interactionRequired, .unreachable].contains(error.code) else { throw error }
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
