import HTTPTypes
import Hummingbird
import Metrics
import Tracing

/// What is counted and traced, over the interfaces that every Swift server uses: who starts the server chooses where it goes, and without a
/// choice it goes nowhere (docs/operations.md). A label has one of a few values, and none of them says anything about a person.
struct Telemetry: Sendable {
    private let ownMetrics: (any MetricsFactory)?
    private let ownTracer: (any Tracer)?

    /// - Parameters:
    ///   - metrics: Nil for what the process has chosen.
    ///   - tracer: Nil for what the process has chosen.
    init(metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil) {
        ownMetrics = metrics
        ownTracer = tracer
    }

    private var metrics: any MetricsFactory { ownMetrics ?? MetricsSystem.factory }

    /// Answers a request within a span, and counts it.
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

    /// The methods that have a name of their own among the labels; anybody can make up others.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options, .patch]

    /// Counts what happened.
    func count(_ events: [MetricEvent]) {
        for event in events {
            let (label, dimensions) = event.metric
            Counter(label: label, dimensions: dimensions, factory: metrics).increment()
        }
    }
}

/// Finds a caller's span in the fields of its request.
private struct HeaderExtractor: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { carrier[$0] }
    }
}

/// Something that is counted.
enum MetricEvent: Sendable, Hashable {
    /// A journey came to an end; its name is one of the configuration's.
    case login(journey: String, LoginOutcome)
    case push(PushEvent)
    /// Tokens were given.
    case tokens(TokenResource.GrantType)
    case refused(RefusalReason)
    /// Wrong passwords locked an account.
    case lockedOut

    enum PushEvent: String, Sendable {
        /// A journey made a message.
        case sent
        /// A stream carried it to a device; each stream of a device counts.
        case delivered
        case approved
        case denied
        /// An answer that was not taken.
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

/// How a journey ended.
enum LoginOutcome: String, Sendable {
    case success
    case failure
    case lockedOut
    case timeout
    /// It was refused for another reason, too many guesses for example.
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
