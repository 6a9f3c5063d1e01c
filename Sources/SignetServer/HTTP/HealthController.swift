import HTTPTypes
import Hummingbird
import ServiceLifecycle
import SignetCore

/// A check that must pass for the server to be ready, for example of a database.
struct ReadinessCheck: Sendable {
    let name: String
    let isWell: @Sendable () async -> Bool

    init(_ name: String, _ isWell: @escaping @Sendable () async -> Bool) {
        self.name = name
        self.isWell = isWell
    }
}

/// `/health` tells that the process responds, `/health/ready` tells if the server can do its work. Supervisors and load balancers
/// use them.
struct HealthController: Sendable {
    let server: ServerContext

    /// Answers a health request.
    /// - Parameter path: The part of the path after `/health`.
    func respond(to reader: RequestReader, path: Substring) async throws -> Response {
        try reader.require(.get, .head)
        switch path {
        case "", "/live": return try JSONReply.make(.ok, JSONValue.object([:]))
        case "/ready":
            var checks: [String: JSONValue] = [:]
            var isReady = !Task.isShuttingDownGracefully
            for check in server.readiness {
                let isWell = await check.isWell()
                checks[check.name] = .string(isWell ? "ok" : "failing")
                isReady = isReady && isWell
            }
            let body: [String: JSONValue] = [
                "status": .string(isReady ? "ready" : Task.isShuttingDownGracefully ? "ending" : "failing"),
                "checks": .object(checks),
            ]
            return try JSONReply.make(isReady ? .ok : .serviceUnavailable, JSONValue.object(body))
        default: throw APIError.resourceNotFound
        }
    }
}
