import HTTPTypes
import Hummingbird
import Metrics
import Tracing

/// The metrics and traces of the server, reported through the common Swift interfaces. The process chooses the backend; without
/// one, they are discarded (docs/guides/operations.md). Each label has a small set of values, and no value contains data about a user.
struct Telemetry: Sendable {
    private let ownMetrics: (any MetricsFactory)?
    private let ownTracer: (any Tracer)?

    /// Creates the telemetry.
    /// - Parameters:
    ///   - metrics: The factory for counters and timers; nil to use the process-wide one.
    ///   - tracer: The tracer; nil to use the process-wide one.
    init(metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil) {
        ownMetrics = metrics
        ownTracer = tracer
    }

    private var metrics: any MetricsFactory { ownMetrics ?? MetricsSystem.factory }

    /// Answers a request within a span, and records its duration.
    func observe(
        _ request: Request, _ route: RouteName, _ answer: () async throws -> Response
    ) async throws -> Response {
        let began = ContinuousClock.now
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        let tracer = ownTracer ?? InstrumentationSystem.tracer
        var caller = ServiceContext.current ?? .topLevel
        tracer.extract(request.headers, into: &caller, using: HeaderExtractor())
        let response = try await tracer.withAnySpan("\(method) \(route)", context: caller, ofKind: .server) { span in
            let response = try await answer()
            span.attributes["http.request.method"] = method
            span.attributes["http.route"] = route.description
            span.attributes["http.response.status_code"] = response.status.code
            if response.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
            return response
        }
        let dimensions = [
            ("http.request.method", method), ("http.route", route.description),
            ("http.response.status_code", String(response.status.code)),
        ]
        Metrics.Timer(label: "http.server.request.duration", dimensions: dimensions, factory: metrics)
            .record(duration: ContinuousClock.now - began)
        return response
    }

    /// The methods with their own label value. All others share one, because a client can send any method name.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options, .patch]

    /// Counts events.
    func count(_ events: [MetricEvent]) {
        for event in events {
            let (label, dimensions) = event.metric
            Counter(label: label, dimensions: dimensions, factory: metrics).increment()
        }
    }
}

/// Reads the client's trace context from the header fields of its request.
private struct HeaderExtractor: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { carrier[$0] }
    }
}

/// An event that increments a counter.
enum MetricEvent: Sendable, Hashable {
    /// A journey ended; its name is one from the configuration.
    case login(journey: String, LoginOutcome)
    case push(PushEvent)
    /// Tokens were issued.
    case tokens(TokenController.GrantType)
    case refused(RefusalReason)
    /// Wrong passwords locked an account.
    case lockedOut

    enum PushEvent: String, Sendable {
        /// A journey created a message.
        case sent
        /// A stream delivered the message to a device; each stream of a device counts.
        case delivered
        case approved
        case denied
        /// An answer was rejected.
        case refused
    }

    enum RefusalReason: String, Sendable {
        case tooManyRequests
        case tooManyGuesses
        case lockedOut
        case bodyTooLarge
        case bodyTooSlow
        case headTooLarge
        case headTooSlow
    }

    fileprivate var metric: (label: String, dimensions: [(String, String)]) {
        switch self {
        case .login(let journey, let outcome): ("signet.logins", [("journey", journey), ("outcome", outcome.rawValue)])
        case .push(let event): ("signet.pushes", [("event", event.rawValue)])
        case .tokens(let grant): ("signet.tokens", [("grant", grant.rawValue)])
        case .refused(let reason): ("signet.refusals", [("reason", reason.rawValue)])
        case .lockedOut: ("signet.lockouts", [])
        }
    }
}

/// The result of a journey.
enum LoginOutcome: String, Sendable {
    case success
    case failure
    case lockedOut
    case timeout
    /// The journey ended for another reason, for example after too many attempts.
    case refused

    init(_ refusal: APIError) {
        self =
            switch refusal {
            case .lockedOut: .lockedOut
            case .journeyTimedOut: .timeout
            case let other where other.status == .unauthorized: .failure
            default: .refused
            }
    }
}
