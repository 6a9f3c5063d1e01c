import HTTPTypes
import Hummingbird
import SignetCore

/// Admits programs on this machine that know the administration token.
///
/// For other clients the addresses don't exist: they get the same response as for an unknown address.
struct AdminAccessMiddleware: RouterMiddleware {
    /// The minimum length of a token, in bytes.
    ///
    /// A shorter token is never accepted.
    static let minTokenLength = 16

    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        guard let token = server.configuration.adminToken, token.count >= Self.minTokenLength,
            LoopbackPolicy(server, context.client).admitsProgram(request)
        else { throw HTTPError(.notFound) }
        guard let presented = request.credentials("Bearer"), ConstantTime.areEqual(Array(presented.utf8), token.bytes) else {
            throw APIError(
                .unauthorized, "The administration API requires its token.",
                headers: [.wwwAuthenticate: "Bearer realm=\"signet-admin\""])
        }
        return try await next(request, context)
    }
}
