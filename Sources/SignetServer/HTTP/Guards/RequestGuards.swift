import HTTPTypes
import Hummingbird
import SignetCore
import Synchronization

/// The checks and headers that apply to every request and response. A request is counted and traced, and checked against CORS and
/// the rate limits; its response gets the security headers.
struct RequestGuards: Sendable {
    let server: ServerContext

    /// Guards a request.
    /// - Parameters:
    ///   - notes: The details of the request for the request log.
    ///   - answer: The closure that answers the request when no guard rejects it.
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

    /// Returns an error when the address has exceeded the rate limit of the route; otherwise nil.
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

/// A kind of request from one network address: the key of the rate limiter.
struct AddressRate: Sendable, Hashable {
    /// The kinds of requests that have a rate limit.
    enum Kind: Sendable, Hashable {
        case authenticate
        case token
        case push

        /// Nil for a request without a rate limit.
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
    /// An IPv4 address, or the first half of an IPv6 address, which is the part that one customer of a provider has.
    let address: String
}

extension APIError {
    /// Builds the response in the format of the route's family.
    /// - Parameter version: The version of the resource, if one was negotiated.
    func response(
        for route: RouteName, _ method: HTTPRequest.Method, at server: ServerContext, version: APIVersion? = nil
    ) throws -> Response {
        switch route.family {
        case .oauth2: try OAuthErrorResponse(self).response
        case .pages, .console: page(again: nil).response(at: server)
        // Servers send it forms and read XML; devices read their inbox in JSON.
        case .gateway where method == .post: SNSError(self).response
        case .json, .health, .gateway, .none: try JSONReply.make(self, version: version)
        }
    }
}
