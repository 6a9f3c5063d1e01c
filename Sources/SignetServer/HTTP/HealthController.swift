import HTTPTypes
import Hummingbird
import ServiceLifecycle
import SignetCore

/// `/health` tells that the process responds, `/health/ready` tells if the server can do its work.
///
/// Supervisors and load balancers use them.
struct HealthController: Sendable {
    let server: ServerContext

    /// Answers that the process responds.
    func live(_ request: Request, context: AppRequestContext) async throws -> Response {
        try JSONReply.make(.ok, JSONValue.object([:]))
    }

    /// Checks the signing key and the state, which the server needs to do its work.
    ///
    /// The status is 503 when a check fails, or when the server shuts down.
    func ready(_ request: Request, context: AppRequestContext) async throws -> Response {
        let checks: [String: Bool] = [
            "signingKey": (try? await server.signer.keySet) != nil,
            "state": (try? await server.store.queue.checkKey()) != nil,
        ]
        let isReady = !Task.isShuttingDownGracefully && !checks.values.contains(false)
        let body: [String: JSONValue] = [
            "status": .string(isReady ? "ready" : Task.isShuttingDownGracefully ? "ending" : "failing"),
            "checks": .object(checks.mapValues { .string($0 ? "ok" : "failing") }),
        ]
        return try JSONReply.make(isReady ? .ok : .serviceUnavailable, JSONValue.object(body))
    }
}
