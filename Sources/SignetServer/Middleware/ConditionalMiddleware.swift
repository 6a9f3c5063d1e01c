import HTTPTypes
import Hummingbird

/// Answers a request for what the client already has with 304 (RFC 9110 section 13.1.2).
///
/// The console asks for its lists again and again, and most of them have not changed.
struct ConditionalMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        let response = try await next(request, context)
        guard request.method == .get, response.status == .ok, let tag = response.headers[.eTag],
            request.headers[.ifNoneMatch] == tag
        else { return response }
        return Response(status: .notModified, headers: [.eTag: tag, .cacheControl: "no-store"])
    }
}
