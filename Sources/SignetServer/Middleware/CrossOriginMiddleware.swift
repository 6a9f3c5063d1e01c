import HTTPTypes
import Hummingbird

/// Lets pages of the configured origins read the responses of AM's resources (the Fetch standard's CORS protocol).
///
/// Apps with the JavaScript SDK send such requests with cookies.
///
/// Hummingbird's middleware answers every `OPTIONS` request, and names the methods and headers to every origin. This one answers
/// only a configured origin, and a preflight request only.
struct CrossOriginMiddleware: RouterMiddleware {
    let configuration: ServerConfiguration

    /// The request headers that a page may send.
    private static let headers = [
        "Accept-API-Version", "Authorization", "Content-Type", "DPoP", "If-Match", "If-None-Match", "X-Requested-With",
        "X-Requested-Platform", "X-OpenAM-Username", "X-OpenAM-Password",
    ]
    /// The response headers that a page may read besides the body.
    private static let exposed = ["Content-API-Version", "DPoP-Nonce", "Link", "Retry-After", "WWW-Authenticate"]
    /// The time in seconds for which a browser may cache a preflight response.
    private static let maxAge = 600

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        guard context.family == .json || context.family == .oauth2, let origin = request.headers[.origin],
            configuration.corsOrigins.contains(origin)
        else { return try await next(request, context) }
        let isPreflight = request.method == .options && request.headers.contains(.accessControlRequestMethod)
        var response = isPreflight ? preflight : try await next(request, context)
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.accessControlExposeHeaders] = Self.exposed.joined(separator: ", ")
        response.headers.set("Cross-Origin-Resource-Policy", "cross-origin")
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        return response
    }

    private var preflight: Response {
        let headers: HTTPFields = [
            .accessControlAllowMethods: "GET, POST, PUT, DELETE",
            .accessControlAllowHeaders: (Self.headers + [configuration.cookieName]).joined(separator: ", "),
            .accessControlMaxAge: String(Self.maxAge),
        ]
        return Response(status: .ok, headers: headers)
    }
}
