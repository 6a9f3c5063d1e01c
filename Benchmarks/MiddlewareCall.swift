import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SignetCore
import SignetVerifier

/// One request through the middleware of SignetVerifier, without a connection and a router.
struct MiddlewareCall: Sendable {
    private let middleware: AccessTokenMiddleware<Context>
    private let request: Request
    private let context: Context

    /// A context that needs no connection.
    private struct Context: AccessTokenRequestContext {
        typealias Source = LoggerSource

        var coreContext: CoreRequestContextStorage
        var accessToken: VerifiedAccessToken?

        init(source: LoggerSource) { coreContext = CoreRequestContextStorage(source: source) }
    }

    private struct LoggerSource: RequestContextSource {
        let logger: Logger
    }

    init(_ verifier: AccessTokenVerifier, token: String) {
        middleware = AccessTokenMiddleware(verifier, scopes: ["orders"])
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.test", path: "/orders",
            headerFields: [.authorization: "Bearer \(token)"])
        request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        context = Context(source: LoggerSource(logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Passes the request through the middleware.
    /// - Returns: The status.
    /// - Throws: `BenchError` when the next responder is not called with the token.
    func run() async throws -> Int {
        let response = try await middleware.handle(request, context: context) { _, context in
            Response(status: context.accessToken?.subject == "alice" ? .ok : .internalServerError)
        }
        guard response.status == .ok else { throw BenchError("the middleware refused the token") }
        return response.status.code
    }
}
