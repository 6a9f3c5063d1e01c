import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

// The keys that sign the server's tokens.
extension AdminController {
    func keys(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        return try await replyKeys()
    }

    /// Makes new keys, which sign from now on.
    func rotateKeys(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        try await AdminBody(request, context).end()
        try await server.signer.rotate()
        server.logger.notice("the signing keys were replaced")
        return try await replyKeys(.created)
    }

    private func replyKeys(_ status: HTTPResponse.Status = .ok) async throws -> Response {
        let overlap = Double(server.holder.current.longestTokenLifetime)
        let keys = try await server.signer.acceptedKeys()
        let newest = Dictionary(keys.map { ($0.kind, $0.id) }, uniquingKeysWith: { first, _ in first })
        let entries = keys.flatMap { key in
            key.kind.algorithms.map { AdminJSON.signingKey(key, $0, isSigning: newest[key.kind] == key.id, overlap) }
        }
        return try reply(.object(["keys": .array(entries)]), status)
    }
}

extension AdminJSON {
    fileprivate static func signingKey(
        _ key: SigningKey, _ algorithm: JWSAlgorithm, isSigning: Bool, _ overlap: Double
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "kid": .string(key.id(for: algorithm)), "alg": .string(algorithm.rawValue), "signing": .bool(isSigning),
        ]
        members["retiredAt"] = key.retiredAt.map { .string($0.ISO8601Format()) }
        members["acceptedUntil"] = key.retiredAt.map { .string($0.addingTimeInterval(overlap).ISO8601Format()) }
        return .object(members)
    }
}
