import HTTPTypes
import Hummingbird
import SignetCore
import Synchronization

/// What every request passes on its way to its resource, and every answer on its way back: it is counted and traced, asked whether its page
/// may read the answer, and whether it comes too often; and the answer gets the headers that protect it.
struct RequestGuards: Sendable {
    let server: ServerContext

    /// - Parameters:
    ///   - notes: what the journal is told of the request.
    ///   - answer: what answers the request when nothing is in the way.
    func pass(
        _ request: Request, for route: RouteName, _ context: AppRequestContext, _ notes: RequestLogContext,
        to answer: (Request) async throws -> Response
    ) async throws -> Response {
        try await server.telemetry.observe(request, route) {
            let origin = CrossOrigin(request, route, server.configuration)
            var response: Response
            if let preflight = origin?.preflight {
                response = preflight
            } else if let refusal = tooMany(request, route, context) {
                notes.note { $0.problem = refusal.message }
                response = try refusal.response(for: route, request.method, at: server)
            } else {
                response = try await answer(request)
            }
            origin?.allow(&response.headers)
            response.headers.setSecurity(isStrictlySecure: server.isStrictlySecure)
            return response
        }
    }

    /// Not nil when the address has asked for this too often.
    private func tooMany(_ request: Request, _ route: RouteName, _ context: AppRequestContext) -> APIError? {
        guard let address = context.network, let kind = AddressRate.Kind(route, request.method),
            let limit = server.configuration.rateLimits[keyPath: kind.limit]
        else { return nil }
        let now = server.clock.now
        let wait = server.rates.withLock { $0.take(AddressRate(kind: kind, address: address), limit, at: now) }
        guard let wait else { return nil }
        server.telemetry.count([.refused(.tooManyRequests)])
        return .tooMany(waiting: wait)
    }
}

/// Somebody who asks for something, by their address.
struct AddressRate: Sendable, Hashable {
    /// What is asked for.
    enum Kind: Sendable, Hashable {
        case authenticate
        case token
        case push

        /// Nil for what is not limited.
        init?(_ route: RouteName, _ method: HTTPRequest.Method) {
            guard method == .post else { return nil }
            switch route.resource {
            case .authenticate: self = .authenticate
            case .accessToken, .deviceCode, .introspection, .revocation: self = .token
            case .pushMessage: self = .push
            case nil where route.family == .pages: self = .authenticate
            default: return nil
            }
        }

        var limit: any KeyPath<RateLimits, RateLimit?> & Sendable {
            switch self {
            case .authenticate: \.authenticate
            case .token: \.token
            case .push: \.push
            }
        }
    }

    let kind: Kind
    /// An IP address, or of IPv6 the first half: that much one customer has.
    let address: String
}

extension APIError {
    /// The refusal in the words of the address that it is for.
    /// - Parameter version: the version of the resource, where one was negotiated.
    func response(
        for route: RouteName, _ method: HTTPRequest.Method, at server: ServerContext, version: APIVersion? = nil
    ) throws -> Response {
        switch route.family {
        case .oauth2: try OAuthErrorResponse(self).response
        case .pages, .console: page(again: nil).response(at: server)
        // Servers speak to it in forms and XML, devices ask it for their mailbox.
        case .front where method == .post: SNSError(self).response
        case .json, .health, .front, .none: try JSONReply.make(self, version: version)
        }
    }
}
