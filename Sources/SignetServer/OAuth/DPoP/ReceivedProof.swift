import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// A DPoP proof with a valid signature that came with a request (RFC 9449).
///
/// ``ServerTransaction/accept(_:)`` compares it with the request and uses it up.
struct ReceivedProof: Sendable {
    /// The algorithms of proofs (`dpop_signing_alg_values_supported`).
    static let algorithms: [JWSAlgorithm] = [.es256, .edDSA, .ps256, .rs256]

    private static let field = HTTPField.Name(DPoPProof.field)

    let proof: DPoPProof
    /// The endpoint of the request.
    let endpoint: DPoPEndpoint
    /// The request, with each address at which the client may have reached the server.
    private let requests: [DPoPRequest]

    /// Reads the proof of a request and verifies its signature.
    ///
    /// Returns nil for a request without a proof.
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context of the request.
    ///   - server: The server.
    ///   - accessToken: The access token in the request; nil for a request without one.
    /// - Throws: ``OAuthErrorResponse`` for more than one proof, and for a proof that isn't valid.
    init?(
        _ request: Request, _ context: AppRequestContext, at server: ServerContext, accessToken: String? = nil
    ) throws(OAuthErrorResponse) {
        let texts = Self.field.map { request.headers[values: $0] } ?? []
        guard let text = texts.first else { return nil }
        endpoint = accessToken == nil ? .authorizationServer : .resource
        do throws(DPoPError) {
            // Clients that repeat a field, and proxies that join the fields, don't agree on the proof.
            guard texts.count == 1 else { throw DPoPError(.form) }
            proof = try DPoPProof(text, algorithms: Self.algorithms, verifiedBy: JSONWebKey.verify)
        } catch {
            throw endpoint.refusal(error)
        }
        let token = accessToken.map { Secret($0.utf8) }
        requests = Self.addresses(of: request, context, at: server)
            .compactMap { DPoPRequest(method: context.method.rawValue, url: $0, accessToken: token) }
    }

    /// Returns the addresses of a request: below the server's public address, and below the host that the client named.
    ///
    /// They differ when a client reaches the server by another name, such as `localhost`.
    private static func addresses(of request: Request, _ context: AppRequestContext, at server: ServerContext) -> [String] {
        let base = server.baseURL
        let scheme = base.prefix { $0 != ":" }
        let own = base.dropFirst(scheme.count + 3).prefix { $0 != "/" }
        let named = request.head.authority ?? String(own)
        return [String(own), named].map { "\(scheme)://\($0)\(context.fullPath)" }
    }

    /// Compares the proof with the request.
    fileprivate func check(at now: Date, acceptsNonce: (String?) -> Bool) throws(DPoPError) {
        guard let request = requests.first(where: { $0.url == proof.url }) ?? requests.first else { throw DPoPError(.url) }
        try proof.check(for: request, at: now, acceptsNonce: acceptsNonce)
    }
}

/// An endpoint that accepts DPoP proofs.
enum DPoPEndpoint: Sendable {
    /// The token endpoint, or the one for pushed requests.
    case authorizationServer
    /// An endpoint that needs an access token.
    case resource

    /// Returns the error response for a proof that isn't accepted (RFC 9449 sections 5, 7.1, 8 and 9).
    /// - Parameters:
    ///   - error: The error in the proof.
    ///   - nonce: The nonce for the next proof; nil for none.
    /// - Returns: The response, in the form of the endpoint.
    func refusal(_ error: DPoPError, nonce: String? = nil) -> OAuthErrorResponse {
        refusal(code: error.code == .nonce ? "use_dpop_nonce" : "invalid_dpop_proof", "\(error)", nonce: nonce)
    }

    /// Returns the error response with a code.
    func refusal(code: String, _ message: String, nonce: String? = nil) -> OAuthErrorResponse {
        var headers: HTTPFields = [:]
        if let nonce { headers.set(DPoPProof.nonceField, nonce) }
        switch self {
        case .authorizationServer: return OAuthErrorResponse(.badRequest, code, message, headers: headers)
        case .resource:
            headers[.wwwAuthenticate] = Self.challenge(error: code, message)
            return OAuthErrorResponse(.unauthorized, code, message, headers: headers)
        }
    }

    /// The algorithms as a parameter of a challenge (RFC 9449 section 7.1).
    private static let algorithms = "algs=\"\(ReceivedProof.algorithms.map(\.rawValue).joined(separator: " "))\""

    /// The challenge for a request without an access token.
    static let challenge = "DPoP \(algorithms)"

    /// Returns the challenge for a request with an access token or a proof that isn't accepted.
    static func challenge(error: String, _ message: String) -> String {
        "DPoP error=\"\(error)\", error_description=\"\(message)\", \(algorithms)"
    }
}

extension ServerTransaction {
    /// Accepts a proof, which is valid once.
    /// - Parameter received: The proof.
    /// - Returns: The thumbprint of its key.
    /// - Throws: ``OAuthErrorResponse`` for a proof of another request, without the server's nonce, or that was used before;
    ///   `StoreError`.
    mutating func accept(_ received: ReceivedProof) throws -> String {
        let needsNonce = time.configuration.dpop.requiresNonce
        do throws(DPoPError) {
            try received.check(at: now) { nonce in !needsNonce || nonce.map { isDPoPNonce($0) } ?? false }
        } catch {
            throw received.endpoint.refusal(error, nonce: needsNonce ? newDPoPNonce : nil)
        }
        let (proof, end) = (received.proof, received.proof.lastUse())
        guard try usedIDs.use(proof.id, of: .dpopProof, by: proof.thumbprint, until: end) else {
            throw received.endpoint.refusal(DPoPError(.replayed), nonce: needsNonce ? newDPoPNonce : nil)
        }
        return proof.thumbprint
    }

    /// Binds the tokens that this transaction issues to the key of the request's proof (RFC 9449 section 5).
    /// - Throws: ``OAuthErrorResponse`` for a proof that isn't accepted, and without one for a client that needs one.
    mutating func bindTokens(to received: ReceivedProof?, of client: RegisteredClient) throws {
        guard let received else {
            guard !client.requiresDPoP else {
                throw DPoPEndpoint.authorizationServer.refusal(
                    code: "invalid_dpop_proof", "The client needs a DPoP proof",
                    nonce: time.configuration.dpop.requiresNonce ? newDPoPNonce : nil)
            }
            return
        }
        tokens.dpopKey = try accept(received)
    }
}

extension ServerContext {
    /// Returns the fields of a successful response to a request with a proof: the nonce for the next one, when proofs need one.
    /// - Throws: `StoreError` when the state cannot be read.
    func nonceHeaders(for proof: ReceivedProof?) async throws -> HTTPFields {
        guard proof != nil, configuration.dpop.requiresNonce else { return [:] }
        var headers: HTTPFields = [:]
        headers.set(DPoPProof.nonceField, try await store.read { tx in tx.newDPoPNonce })
        return headers
    }
}
