import HTTPTypes
import Hummingbird
import Tracing

/// Answers each request within a span, and records its duration.
///
/// Hummingbird's middleware records the path, the query and any method that a client sends. Here these could contain codes and
/// tokens, so spans and metrics get the name of the route, the method if HTTP defines it, and the status only.
struct TelemetryMiddleware: RouterMiddleware {
    let telemetry: Telemetry

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        let began = ContinuousClock.now
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        let route = context.label
        let tracer = telemetry.tracer
        let response: Response
        if tracer is NoOpTracer {
            response = try await next(request, context)
        } else {
            response = try await traced(by: tracer, method, route, request, context, next)
        }
        let dimensions = [
            ("http.request.method", method), ("http.route", route),
            ("http.response.status_code", String(response.status.code)),
        ]
        telemetry.record(ContinuousClock.now - began, "http.server.request.duration", dimensions)
        return response
    }

    /// Answers a request within a span.
    private func traced(
        by tracer: any Tracer, _ method: String, _ route: String, _ request: Request, _ context: AppRequestContext,
        _ next: NextResponder
    ) async throws -> Response {
        var caller = ServiceContext.current ?? .topLevel
        tracer.extract(request.headers, into: &caller, using: HeaderExtractor())
        return try await tracer.withAnySpan("\(method) \(route)", context: caller, ofKind: .server) { span in
            let response = try await next(request, context)
            span.attributes["http.request.method"] = method
            span.attributes["http.route"] = route
            span.attributes["http.response.status_code"] = response.status.code
            if response.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
            return response
        }
    }

    /// The methods with their own label value.
    ///
    /// All others share one, because a client can send any method name.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options, .patch]
}

extension AppRequestContext {
    /// The name of the route in metrics and spans.
    fileprivate var label: String { route?.label ?? (family == .console ? family.prefix : "none") }
}

/// Reads the client's trace context from the header fields of its request.
private struct HeaderExtractor: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { carrier[$0] }
    }
}
