import SignetCore

/// The metrics of a server in memory, for `/admin/metrics`.
///
/// It records what ``Telemetry`` reports to the metrics backend of the process, so the labels have few values and no data about users.
final class MetricsRegistry: Sendable {
    /// A time series: a metric with the values of its labels.
    private struct Series: Sendable, Hashable {
        let name: String
        /// The names of the labels, each followed by its value.
        let parts: [String]

        init(_ name: String, _ labels: [(String, String)]) {
            self.name = name
            parts = labels.flatMap { [$0, $1] }
        }

        /// The labels in Prometheus' format, without the braces.
        var labels: String {
            PrometheusText.labels(stride(from: 0, to: parts.count, by: 2).map { (parts[$0], parts[$0 + 1]) })
        }
    }

    private struct Histogram: Sendable {
        /// The number of observations up to each of ``MetricsRegistry/bounds``, not cumulative.
        var counts = [Int](repeating: 0, count: MetricsRegistry.bounds.count)
        var count = 0
        var sum = 0.0

        mutating func observe(_ seconds: Double) {
            if let index = MetricsRegistry.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
            count += 1
            sum += seconds
        }
    }

    private struct Content: Sendable {
        var counters: [Series: Int] = [:]
        var histograms: [Series: Histogram] = [:]
    }

    /// The upper bounds of the histogram's buckets, in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let content = Mutex(Content())

    /// Increments a counter.
    func count(_ name: String, _ labels: [(String, String)]) {
        let series = Series(name, labels)
        content.withLock { $0.counters[series, default: 0] += 1 }
    }

    /// Adds a duration to a histogram.
    func observe(_ name: String, _ labels: [(String, String)], _ duration: Duration) {
        let series = Series(name, labels)
        let seconds = duration / .seconds(1)
        content.withLock { $0.histograms[series, default: Histogram()].observe(seconds) }
    }

    /// Writes all metrics.
    func write(to text: inout PrometheusText) {
        let content = content.withLock { $0 }
        for (name, group) in Dictionary(grouping: content.counters, by: \.key.name).sorted(by: { $0.key < $1.key }) {
            text.add("\(PrometheusText.name(name))_total", .counter, group.map { ($0.key.labels, Double($0.value)) })
        }
        for (name, group) in Dictionary(grouping: content.histograms, by: \.key.name).sorted(by: { $0.key < $1.key }) {
            text.add(
                "\(PrometheusText.name(name))_seconds",
                histograms: group.map { series, histogram in
                    (series.labels, zip(Self.bounds, histogram.counts).map { ($0, $1) }, histogram.count, histogram.sum)
                })
        }
    }
}

/// Metrics in the text format of Prometheus, version 0.0.4.
struct PrometheusText: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The descriptions of the metrics, by name.
    private static let help = [
        "http_server_request_duration_seconds":
            "Requests by method, route and status, with the time to the head of the response.",
        "signet_logins_total": "Journeys that ended, by name and outcome.",
        "signet_pushes_total": "Push messages that were sent, delivered, approved, denied, or whose answer was refused.",
        "signet_tokens_total": "Token responses by grant type.",
        "signet_refusals_total": "Requests and connections that a limit refused.",
        "signet_lockouts_total": "Accounts and factors that wrong passwords, answers or codes have locked.",
        "signet_logouts_total": "Logout tokens whose delivery to a client is over.",
        "signet_emails_total": "Emails whose delivery over SMTP is over.",
        "signet_connections_full_total": "Connections that took the last place.",
        "signet_faults_fired_total": "Faults that were applied, by kind.",
        "signet_store_commits_total": "Commits of the state that wrote or removed rows.",
        "signet_store_rows_total": "Rows of the state that were written or removed.",
        "signet_sessions": "Sessions that have not ended; counting stops at 10,000.",
        "signet_access_tokens": "Access tokens that have not expired; counting stops at 10,000.",
        "signet_refresh_tokens": "Refresh tokens that have not expired; counting stops at 10,000.",
    ]

    private(set) var text = ""

    /// Returns the name of a metric, with underscores in place of dots.
    static func name(_ name: String) -> String { name.replacing(".", with: "_") }

    /// Returns labels without braces, for example `journey="Login",outcome="success"`.
    static func labels(_ labels: [(String, String)]) -> String {
        labels.map { label, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name(label))=\"\(escaped)\""
        }.joined(separator: ",")
    }

    /// Adds a metric with its time series.
    mutating func add(_ name: String, _ kind: Kind, _ series: [(labels: String, value: Double)]) {
        head(name, kind)
        for (labels, value) in series.sorted(by: { $0.labels < $1.labels }) { line(name, labels, value) }
    }

    /// Adds a histogram with its time series, each with the counts of its buckets, the number and the sum of the observations.
    mutating func add(
        _ name: String, histograms: [(labels: String, buckets: [(bound: Double, count: Int)], count: Int, sum: Double)]
    ) {
        head(name, .histogram)
        for (labels, buckets, count, sum) in histograms.sorted(by: { $0.labels < $1.labels }) {
            let prefix = labels.isEmpty ? "" : "\(labels),"
            var total = 0
            for (bound, count) in buckets {
                total += count
                line("\(name)_bucket", "\(prefix)le=\"\(Self.number(bound))\"", Double(total))
            }
            line("\(name)_bucket", "\(prefix)le=\"+Inf\"", Double(count))
            line("\(name)_sum", labels, sum)
            line("\(name)_count", labels, Double(count))
        }
    }

    private mutating func head(_ name: String, _ kind: Kind) {
        if let help = Self.help[name] { text += "# HELP \(name) \(help)\n" }
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func line(_ name: String, _ labels: String, _ value: Double) {
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}
