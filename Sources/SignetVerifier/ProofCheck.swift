import Crypto
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The check of the DPoP proof of a request with an access token (RFC 9449 section 7.1).
struct ProofCheck: Sendable {
    /// The signature algorithms that a proof may have.
    static let algorithms: [JWSAlgorithm] = [.es256, .edDSA]

    let policy: ProofPolicy

    /// Checks the proof of a request, and remembers it.
    ///
    /// It is remembered only after everything else is right, so that only holders of valid tokens can fill the memory.
    /// - Parameters:
    ///   - request: The request.
    ///   - token: The access token in the request.
    ///   - thumbprint: The thumbprint of the key to which the token is bound.
    ///   - now: The current time.
    /// - Throws: `AccessTokenError`.
    func check(
        _ request: ResourceRequest, token: Secret, thumbprint: String, now: Date
    ) async throws(AccessTokenError) {
        let proof = try verifiedProof(of: request)
        guard ConstantTime.areEqual(proof.thumbprint, thumbprint) else {
            throw AccessTokenError(.binding, explanation: "the token is bound to another key than that of the proof")
        }
        let base = policy.baseURL.hasSuffix("/") ? policy.baseURL.dropLast() : policy.baseURL[...]
        guard let described = DPoPRequest(method: request.method, url: "\(base)\(request.path)", accessToken: token) else {
            throw AccessTokenError(.proof, explanation: "the base URL of the service is not an absolute address")
        }
        let window = DPoPProof.Window(age: policy.maximumAge.seconds, lead: policy.maximumAge.seconds)
        do throws(DPoPError) {
            try proof.check(for: described, at: now, within: window) { nonce in
                guard let nonces = policy.nonces else { return true }
                return nonce.map { nonces.accepts($0, at: now) } ?? false
            }
        } catch {
            throw AccessTokenError(error.code == .nonce ? .nonce : .proof, explanation: error.description)
        }
        try await remember(proof, until: proof.lastUse(within: window), now: now)
    }

    private func verifiedProof(of request: ResourceRequest) throws(AccessTokenError) -> DPoPProof {
        guard let text = request.proofs.first else { throw AccessTokenError(.proof, explanation: "the request has no proof") }
        guard request.proofs.count == 1 else { throw AccessTokenError(.proof, explanation: "the request has several proofs") }
        do throws(DPoPError) {
            return try DPoPProof(text, algorithms: Self.algorithms)
        } catch {
            throw AccessTokenError(.proof, explanation: error.description)
        }
    }

    private func remember(_ proof: DPoPProof, until end: Date, now: Date) async throws(AccessTokenError) {
        // The values are encoded as an array, so that different values have different encodings.
        let text = JSON.encode(JSONValue.array([.string(proof.thumbprint), .string(proof.id)]))
        let digest = Base64.encode(Array(SHA256.hash(data: text)), as: .url)
        let isNew: Bool
        do {
            isNew = try await policy.memory.remember(digest, until: end, now: now)
        } catch let error as AccessTokenError {
            throw error
        } catch {
            // The error may contain the data on which it failed, so only its type is reported.
            throw AccessTokenError(
                .unavailable, explanation: "the memory of proofs failed: \(type(of: error))", isRetryable: true)
        }
        guard isNew else { throw AccessTokenError(.replayed) }
    }
}
