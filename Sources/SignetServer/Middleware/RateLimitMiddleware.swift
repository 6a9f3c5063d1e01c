import HTTPTypes
import Hummingbird
import SignetCore

/// Rejects a request when its network address has exceeded the rate limit of the route.
struct RateLimitMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        if let address = context.client.network, let kind = AddressRate.Kind(context.route, request),
            let limit = kind.limit(in: server.configuration.rateLimits)
        {
            let now = server.clock.now
            let wait = server.rates.withLock { $0.take(AddressRate(kind: kind, address: address), limit, at: now) }
            if let wait {
                server.telemetry.count([.refused(.tooManyRequests)])
                throw APIError.tooMany(waiting: wait)
            }
        }
        return try await next(request, context)
    }
}

/// A kind of request from one network address: the key of the rate limiter.
struct AddressRate: Sendable, Hashable {
    /// The kinds of requests that have a rate limit.
    enum Kind: Sendable, Hashable {
        case authenticate
        case token
        case push
        /// Wrong user codes of devices, which the controller counts.
        case userCode

        /// Nil for a request without a rate limit.
        ///
        /// A request for a login page that starts a flow counts like one that starts a journey.
        init?(_ route: Route?, _ request: Request) {
            let startsFlow =
                route == .pages && request.method == .get && request.uri.path == Route.pages.label && request.query("flow") == nil
                && request.opensPage
            guard request.method == .post || startsFlow else { return nil }
            switch route {
            case .authenticate, .pages: self = .authenticate
            case .accessToken, .deviceCode, .introspection, .revocation, .pushedAuthorization, .backchannelAuthorization:
                self = .token
            case .pushMessage: self = .push
            default: return nil
            }
        }

        func limit(in limits: RateLimits) -> RateLimit? {
            switch self {
            case .authenticate: limits.authenticate
            case .token: limits.token
            case .push: limits.push
            case .userCode: limits.userCode
            }
        }
    }

    let kind: Kind
    /// An IPv4 address, or the first half of an IPv6 address, which is the part that one customer of a provider has.
    let address: String
}
