import HTTPTypes
import Hummingbird
import ServiceLifecycle
import SignetCore

/// A check that must pass for the server to be ready, for example of a database.
struct ReadinessCheck: Sendable {
    let name: String
    let isHealthy: @Sendable () async -> Bool

    init(_ name: String, _ isHealthy: @escaping @Sendable () async -> Bool) {
        self.name = name
        self.isHealthy = isHealthy
    }
}

/// `/health` tells that the process responds, `/health/ready` tells if the server can do its work.
///
/// Supervisors and load balancers use them.
struct HealthController: Sendable {
    let server: ServerContext

    /// Answers that the process responds.
    func live(_ request: Request, context: AppRequestContext) async throws -> Response {
        try JSONReply.make(.ok, JSONValue.object([:]))
    }

    /// Runs the readiness checks.
    ///
    /// The status is 503 when one fails, or when the server shuts down.
    func ready(_ request: Request, context: AppRequestContext) async throws -> Response {
        var checks: [String: JSONValue] = [:]
        var isReady = !Task.isShuttingDownGracefully
        for check in server.readiness {
            let isHealthy = await check.isHealthy()
            checks[check.name] = .string(isHealthy ? "ok" : "failing")
            isReady = isReady && isHealthy
        }
        let body: [String: JSONValue] = [
            "status": .string(isReady ? "ready" : Task.isShuttingDownGracefully ? "ending" : "failing"),
            "checks": .object(checks),
        ]
        return try JSONReply.make(isReady ? .ok : .serviceUnavailable, JSONValue.object(body))
    }
}
