import HTTPTypes
import Hummingbird
import SignetCore

extension AdminController {
    /// Answers with the metrics in the text format of Prometheus.
    func metrics(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        var text = PrometheusText()
        server.telemetry.registry?.write(to: &text)
        text.add(
            "signet_faults_fired_total", .counter,
            server.faults.firedCounts.map { (PrometheusText.labels([("kind", $0.key)]), Double($0.value)) })
        let queue = try await server.store.queue
        let writes = queue.writes
        text.add("signet_store_commits_total", .counter, [("", Double(writes.commits))])
        text.add("signet_store_rows_total", .counter, [("", Double(writes.rows))])
        let counts = try await server.store.read(skippingUnreadableRows: true) { tx in
            let limit = ConsoleFacts.maxCounted
            let tokens = try tx.tokens.counts(limit)
            return (try tx.sessions.count(limit: limit), tokens.access, tokens.refresh)
        }
        text.add("signet_sessions", .gauge, [("", Double(counts.0))])
        text.add("signet_access_tokens", .gauge, [("", Double(counts.1))])
        text.add("signet_refresh_tokens", .gauge, [("", Double(counts.2))])
        return Response(Array(text.text.utf8), type: PrometheusText.contentType, headers: [.cacheControl: "no-store"])
    }
}
