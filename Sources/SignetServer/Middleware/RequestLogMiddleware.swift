import HTTPTypes
import Hummingbird
import NIOHTTP1
import SignetCore

/// Adds each request with its response to the request log.
struct RequestLogMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        let (began, time) = (ContinuousClock.now, server.clock.now)
        func record(_ status: HTTPResponse.Status) {
            guard !context.isForTesters || status.kind == .serverError else { return }
            context.log.update {
                $0.resource = context.route?.rawValue
                $0.client.address = context.client.address
            }
            server.requestLog.add(
                request, context.method, path: Self.path(context.fullPath), status, context.log, at: time, took: .now - began)
        }
        do {
            let response = try await next(request, context)
            record(response.status)
            return response
        } catch let error as HTTPParserError {
            // The request isn't HTTP: the HTTP layer below answers it.
            record(.badRequest)
            throw error
        }
    }

    /// Returns a path for the log without secrets: some session addresses contain a session token.
    private static func path(_ path: String) -> String {
        let readable = path.contains("%") ? path.percentDecoded() ?? path : path
        guard let start = readable.firstRange(of: "/sessions/")?.upperBound else { return path }
        return readable[..<start] + "..."
    }
}
