public import SignetCore
public import SignetNetwork

extension AccessTokenVerifier {
    /// Returns the response to a request whose access token was refused (RFC 6750 section 3, RFC 9449 section 7.1).
    ///
    /// The status is 401 for a request without a valid token, 403 for a token without a scope, 400 for a request with several tokens,
    /// and 503 when the token can't be checked now. The challenges name the schemes that the service accepts. The body has the error
    /// and a description, and no part of the token.
    /// - Parameters:
    ///   - error: The error.
    ///   - request: The request.
    ///   - scopes: The scopes that the request needs, which the challenge names.
    /// - Returns: The response.
    public func response(
        to error: AccessTokenError, for request: ResourceRequest, requiring scopes: Set<String> = []
    ) -> HTTPResponse {
        let reply = Reply(error)
        var response = HTTPResponse(status: reply.status, headers: ["Cache-Control": "no-store"])
        if let name = reply.name {
            response.headers.append("Content-Type", "application/json")
            response.body = JSON.encode(
                JSONValue.object(["error": .string(name), "error_description": .string(reply.description)]))
        }
        guard reply.hasChallenge else { return response }
        for scheme in schemes {
            let isUsed = scheme == request.scheme || schemes.count == 1
            response.headers.append("WWW-Authenticate", challenge(scheme, isUsed ? reply : nil, scopes))
        }
        if error.code == .nonce, let nonce = proofs?.nonces?.nonce(at: clock.now) {
            response.headers.append(DPoPProof.nonceField, nonce)
        }
        return response
    }

    /// The nonce for the next request of a client with a DPoP proof; nil when the service requires none.
    ///
    /// A response that contains it as `DPoP-Nonce` spares the client a refused request (RFC 9449 section 8.2).
    public var nextNonce: String? { proofs?.nonces?.nonce(at: clock.now) }

    /// The schemes that the service accepts.
    private var schemes: [AccessTokenScheme] {
        guard let proofs else { return [.bearer] }
        return proofs.isRequired ? [.dpop] : [.bearer, .dpop]
    }

    private func challenge(_ scheme: AccessTokenScheme, _ reply: Reply?, _ scopes: Set<String>) -> String {
        var parameters: [String] = []
        if let reply, let name = reply.name(for: scheme) {
            parameters += ["error=\"\(name)\"", "error_description=\"\(reply.description)\""]
        }
        if !scopes.isEmpty { parameters.append("scope=\"\(Self.text(of: scopes))\"") }
        if scheme == .dpop {
            parameters.append("algs=\"\(ProofCheck.algorithms.map(\.rawValue).joined(separator: " "))\"")
        }
        return parameters.isEmpty ? scheme.rawValue : "\(scheme.rawValue) \(parameters.joined(separator: ", "))"
    }

    /// Returns scopes as a parameter contains them, without those that could end its quotation (RFC 6749 section 3.3).
    private static func text(of scopes: Set<String>) -> String {
        scopes.filter { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") } }
            .sorted().joined(separator: " ")
    }
}

/// The parts of a response to an error.
private struct Reply {
    let status: Int
    /// The error name; nil for a request without a token.
    let name: String?
    let description: String

    init(_ error: AccessTokenError) {
        let code = error.code
        switch code {
        case .missing: (status, name) = (401, nil)
        case .request: (status, name) = (400, "invalid_request")
        case .scope: (status, name) = (403, "insufficient_scope")
        case .proof, .replayed: (status, name) = (401, "invalid_dpop_proof")
        case .nonce: (status, name) = (401, "use_dpop_nonce")
        case .unavailable, .memoryFull: (status, name) = (503, "temporarily_unavailable")
        default: (status, name) = (401, "invalid_token")
        }
        description =
            switch code {
            case .missing: "an access token is needed"
            case .request: "the request has several access tokens or a malformed one"
            case .scope: "the access token lacks a scope"
            case .binding: "the access token is not bound as the request needs it"
            case .proof, .replayed, .nonce: "the DPoP proof was refused: \(code.rawValue)"
            case .unavailable, .memoryFull: "the access token can't be checked now"
            default: "the access token was refused: \(code.rawValue)"
            }
    }

    /// True for a response with challenges.
    var hasChallenge: Bool { status != 503 }

    /// Returns the error name in the challenge of a scheme: an error of a proof does not concern a bearer token.
    func name(for scheme: AccessTokenScheme) -> String? {
        scheme == .bearer && (name?.contains("dpop") ?? false) ? nil : name
    }
}
