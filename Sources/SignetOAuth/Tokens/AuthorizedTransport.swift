public import SignetCore
public import SignetNetwork

/// Sends an app's own requests with its access token, and renews the token once when a server rejects it.
///
/// A token that is bound to a key goes with a proof of possession (RFC 9449). A request is sent once more when the server requires
/// another nonce in it.
///
///     let api = AuthorizedTransport(transport, tokens: tokens, origins: [try Endpoint("https://api.example.com")])
///     let response = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))
public struct AuthorizedTransport: Sendable {
    private let transport: any HTTPTransport
    private let tokens: TokenSource
    private let origins: [Origin]
    private let prepare: @Sendable () async throws -> Void

    /// A server that may receive the token.
    package struct Origin: Sendable {
        let address: Endpoint
        /// The pins of the server, which must present one of these keys.
        ///
        /// Empty when only the pins of the request apply.
        let pins: Set<PublicKeyPin>

        /// Creates a server.
        package init(address: Endpoint, pins: Set<PublicKeyPin>) {
            self.address = address
            self.pins = pins
        }

        /// Returns the pins that apply to a request: the common pins of the server and the request when both have pins.
        func demanded(by request: HTTPRequest) throws(TransportError) -> Set<PublicKeyPin> {
            if pins.isEmpty || request.pins.isEmpty { return pins.union(request.pins) }
            let common = pins.intersection(request.pins)
            // An empty set would accept any key.
            guard !common.isEmpty else {
                throw TransportError(
                    .invalidRequest, host: address.host,
                    "the pins of the request and the pins for this server have no key in common")
            }
            return common
        }
    }

    /// Creates a transport for the servers that may receive the token.
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - tokens: The source of the token.
    ///   - origins: The scheme, host and port of each server. The token is sent only to these servers.
    ///   - pins: The pins of each server. A request may restrict them further. Empty when only the pins of the request apply.
    public init(
        _ transport: any HTTPTransport, tokens: TokenSource, origins: [Endpoint], pins: Set<PublicKeyPin> = []
    ) {
        self.init(transport, tokens: tokens, origins: origins.map { Origin(address: $0, pins: pins) }) {}
    }

    /// Creates a transport that runs `prepare` before each request.
    ///
    /// When it throws, no token is requested.
    package init(
        _ transport: any HTTPTransport, tokens: TokenSource, origins: [Origin],
        after prepare: @escaping @Sendable () async throws -> Void
    ) {
        self.transport = transport
        self.tokens = tokens
        self.origins = origins
        self.prepare = prepare
    }

    /// Sends a request with the token.
    ///
    /// After a response with status 401, the token is renewed and the request is sent once more. The second response is returned
    /// in all cases.
    /// - Throws: ``TokenError`` when no token is available, or when its renewal fails for a reason that doesn't come from the
    ///   server; `TransportError`, with `TransportError.Code.invalidRequest` for a server that may not receive the token, and
    ///   `TransportError.Code.cannotPin` when the server has pins and the transport can't check keys.
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
        try await prepare()
        let token = try await tokens.token()
        let response: HTTPResponse
        do {
            response = try await deliver(request, with: token)
        } catch is LostKey {
            return try await deliver(request, with: try await tokens.renewed(insteadOf: token))
        }
        // Another token doesn't help when the server refuses the proof.
        guard response.status == 401, ProofSender.proofError(of: response) == nil else { return response }
        let renewed: AccessToken
        do throws(TokenError) {
            renewed = try await tokens.renewed(insteadOf: token)
        } catch {
            // The response of the server is more informative than the error of the renewal.
            guard [.refused, .loginRequired, .interactionRequired, .unreachable].contains(error.code) else { throw error }
            return response
        }
        return try await deliver(request, with: renewed)
    }

    /// Sends a request with a token, and with a proof of possession if the token is bound.
    private func deliver(_ request: HTTPRequest, with token: AccessToken) async throws -> HTTPResponse {
        try await tokens.send(request, with: token) { try await transport.deliver($0) }
    }
}
