import HTTPTypes
import Metrics
import Tracing

/// The metrics and traces of the server, reported through the common Swift interfaces.
///
/// The process chooses the backend; without one, they are discarded (docs/guides/operations.md). Each label has a small set of
/// values, and no value contains data about a user.
struct Telemetry: Sendable {
    private let ownMetrics: (any MetricsFactory)?
    private let ownTracer: (any Tracer)?
    /// The metrics for `/admin/metrics`; nil without the administration API.
    private(set) var registry: MetricsRegistry?

    /// Creates the telemetry.
    /// - Parameters:
    ///   - metrics: The factory for counters and timers; nil to use the process-wide one.
    ///   - tracer: The tracer; nil to use the process-wide one.
    init(metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil) {
        ownMetrics = metrics
        ownTracer = tracer
    }

    /// The factory in use.
    var metrics: any MetricsFactory { ownMetrics ?? MetricsSystem.factory }
    /// The tracer in use.
    var tracer: any Tracer { ownTracer ?? InstrumentationSystem.tracer }

    /// Returns the telemetry with metrics for `/admin/metrics`.
    func recording(to registry: MetricsRegistry?) -> Telemetry {
        var telemetry = self
        telemetry.registry = registry
        return telemetry
    }

    /// Records the duration of a request.
    func record(_ duration: Duration, _ label: String, _ dimensions: [(String, String)]) {
        registry?.observe(label, dimensions, duration)
        Metrics.Timer(label: label, dimensions: dimensions, factory: metrics).record(duration: duration)
    }

    /// Counts events.
    func count(_ events: [MetricEvent]) {
        for event in events {
            let (label, dimensions) = event.metric
            registry?.count(label, dimensions)
            Counter(label: label, dimensions: dimensions, factory: metrics).increment()
        }
    }
}

/// An event that increments a counter.
enum MetricEvent: Sendable, Hashable {
    /// A journey ended; its name is one from the configuration.
    case login(journey: String, LoginOutcome)
    case push(PushEvent)
    /// Tokens were issued.
    case tokens(RegisteredClient.GrantType)
    case refused(RejectionReason)
    /// A connection took the last place, so that further ones wait.
    case connectionsFull
    /// Wrong passwords locked an account, or wrong answers or codes locked a factor.
    case lockedOut
    /// The delivery of a logout token to a client is over.
    case backChannelLogout(BackChannelLogout)
    /// The delivery of an email over SMTP is over.
    case email(EmailOutcome)

    enum EmailOutcome: String, Sendable {
        case delivered, failed
    }

    enum BackChannelLogout: String, Sendable {
        case delivered
        /// The client answered that the token is not valid.
        case refused
        /// All attempts failed, or the token expired.
        case failed
    }

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

    enum RejectionReason: String, Sendable {
        case tooManyRequests
        case tooManyGuesses
        case tooManyMessages
        case lockedOut
        case bodyTooLarge
        case bodyTooSlow
        case headTooLarge
        case headTooSlow
        /// The operating system refused a connection.
        case notAccepted
    }

    fileprivate var metric: (label: String, dimensions: [(String, String)]) {
        switch self {
        case .login(let journey, let outcome): ("signet.logins", [("journey", journey), ("outcome", outcome.rawValue)])
        case .push(let event): ("signet.pushes", [("event", event.rawValue)])
        case .tokens(let grant): ("signet.tokens", [("grant", grant.rawValue)])
        case .refused(let reason): ("signet.refusals", [("reason", reason.rawValue)])
        case .connectionsFull: ("signet.connections.full", [])
        case .lockedOut: ("signet.lockouts", [])
        case .backChannelLogout(let outcome): ("signet.logouts", [("outcome", outcome.rawValue)])
        case .email(let outcome): ("signet.emails", [("outcome", outcome.rawValue)])
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
