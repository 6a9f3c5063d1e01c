import HTTPTypes
import Hummingbird
import SignetCore

/// The faults of DPoP proofs (RFC 9449), which apply to requests with a proof.
enum DPoPFault {
    /// The endpoints that read proofs.
    private static let routes: Set<Route> = [.accessToken, .userInfo, .pushedAuthorization]

    /// Returns true when a fault can apply to a request: each fault of another kind, and a fault of proofs to a request with one.
    static func applies(_ kind: FaultKind, to request: Request, at route: Route?) -> Bool {
        guard kind.isOfProofs else { return true }
        return route.map { routes.contains($0) } ?? false && request.header(DPoPProof.field.lowercased()) != nil
    }

    /// Returns the response of a fault in the place of the endpoint's own.
    /// - Parameters:
    ///   - kind: The kind of the fault.
    ///   - route: The endpoint.
    ///   - server: The server.
    /// - Returns: The error `use_dpop_nonce` with a new nonce, or that of a proof that was used before.
    /// - Throws: `StoreError` when the state cannot be read.
    static func response(_ kind: FaultKind, at route: Route?, _ server: ServerContext) async throws -> Response {
        let endpoint: DPoPEndpoint = route == .userInfo ? .resource : .authorizationServer
        let needsNonce = kind == .dpopNonceRotates || server.configuration.dpop.requiresNonce
        let nonce = needsNonce ? try await server.store.read { tx in tx.newDPoPNonce } : nil
        return try endpoint.refusal(DPoPError(kind == .dpopNonceRotates ? .nonce : .replayed), nonce: nonce).response
    }
}
