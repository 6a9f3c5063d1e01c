import SignetCore
import SignetNetwork
import SignetOAuth

/// The requests of `signet check --active --browser` with the codes and tokens of a user's logins.
///
/// Each part begins with a code of its own, so that the refusal of one does not change the next.
struct GrantProbe: Sendable {
    typealias Fields = [(name: String, value: String)]

    /// A code, and the redirect URI with which it was requested.
    struct Code: Sendable {
        let code: Secret
        let redirectURI: String
    }

    /// The answer of the token endpoint.
    enum Answer: Sendable {
        case tokens(refresh: Secret?)
        case refused(String)

        var isRefused: Bool { if case .refused = self { true } else { false } }
    }

    /// The token endpoint.
    let endpoint: String
    /// The revocation endpoint; nil for a provider without one.
    let revocation: String?
    let client: OAuthClient
    let transport: any HTTPTransport
    /// Gets a code with these fields of the request beside `response_type`, `client_id`, `redirect_uri`, `scope` and `state`; nil when
    /// the server refuses the request.
    let code: @Sendable (_ fields: [String: String]) async throws -> Code?

    /// The tokens that the provider has issued.
    private let issued = Mutex<[Secret]>([])

    /// Sends all requests, revokes the tokens, and returns the findings.
    func findings() async throws -> [CheckFinding] {
        let outcome = await Result(of: { try await allFindings() })
        await revoke()
        return try outcome.get()
    }

    private func allFindings() async throws -> [CheckFinding] {
        var findings = [try await missingVerifier()]
        findings += try await replay()
        findings += try await refresh()
        findings += try await downgrade()
        return findings
    }

    /// Revokes all tokens.
    ///
    /// Most are revoked already, and the rest expires by itself, so the answers are not read.
    private func revoke() async {
        guard let revocation else { return }
        for token in issued.withLock({ $0 }) { _ = try? await send([("token", token.text)], to: revocation) }
    }

    // MARK: Codes

    private func missingVerifier() async throws -> CheckFinding {
        let id = "code-without-verifier"
        let verifier = Self.newVerifier()
        guard let code = try await challengedCode(verifier) else {
            return CheckFinding(id, .codeGrant, .skipped, "the provider issued no code")
        }
        let answer = try await exchange(code, verifier: nil)
        return CheckFinding(
            id, .codeGrant, answer.isRefused ? .pass : .fail,
            answer.isRefused
                ? "a code with a challenge is refused without its verifier"
                : "a code with a challenge gives tokens without its verifier")
    }

    private func replay() async throws -> [CheckFinding] {
        let (id, idOfRevocation) = ("code-replay", "code-replay-revocation")
        let verifier = Self.newVerifier()
        guard let code = try await challengedCode(verifier),
            case .tokens(let refresh) = try await exchange(code, verifier: verifier)
        else {
            let reason = "the provider issued no tokens for a code"
            return [CheckFinding(id, .codeGrant, .skipped, reason), CheckFinding(idOfRevocation, .codeGrant, .skipped, reason)]
        }
        let second = try await exchange(code, verifier: verifier)
        let finding = CheckFinding(
            id, .codeGrant, second.isRefused ? .pass : .fail,
            second.isRefused ? "a code is refused the second time" : "a code gives tokens a second time (RFC 6749 section 4.1.2)")
        guard let refresh else {
            return [finding, CheckFinding(idOfRevocation, .codeGrant, .skipped, "the client gets no refresh token")]
        }
        let isRevoked = try await self.refresh(refresh).isRefused
        return [
            finding,
            CheckFinding(
                idOfRevocation, .codeGrant, isRevoked ? .pass : .warn,
                isRevoked
                    ? "a repeated code revokes the tokens that it gave"
                    : "the tokens of a code stay valid after the code was repeated (RFC 6749 section 4.1.2)"),
        ]
    }

    private func downgrade() async throws -> [CheckFinding] {
        let id = "pkce-downgrade"
        guard let code = try await self.code([:]) else {
            return [CheckFinding(id, .codeGrant, .pass, "the provider issues no code for a request without a challenge")]
        }
        let answer = try await exchange(code, verifier: Self.newVerifier())
        return [
            CheckFinding(
                "code-without-challenge", .codeGrant, .warn,
                "the provider issues a code for a request without a challenge" + (isPublic ? " of a public client" : "")),
            CheckFinding(
                id, .codeGrant, answer.isRefused ? .pass : .fail,
                answer.isRefused
                    ? "a code without a challenge is refused with a verifier"
                    : "a code without a challenge gives tokens with a verifier, so a challenge can be removed (section 4.8)"),
        ]
    }

    // MARK: Refresh tokens

    private func refresh() async throws -> [CheckFinding] {
        let ids = ["refresh-rotation", "refresh-reuse", "refresh-reuse-revocation"]
        func skipped(_ ids: some Sequence<String>, _ reason: String) -> [CheckFinding] {
            ids.map { CheckFinding($0, .refreshTokens, .skipped, reason) }
        }
        let verifier = Self.newVerifier()
        guard let code = try await challengedCode(verifier),
            case .tokens(let first?) = try await exchange(code, verifier: verifier)
        else { return skipped(ids, "the client gets no refresh token") }
        guard case .tokens(let second) = try await refresh(first) else { return skipped(ids, "the refresh token is refused") }
        guard let second, second != first else {
            let finding = CheckFinding(
                ids[0], .refreshTokens, isPublic ? .fail : .pass,
                isPublic
                    ? "the refresh token of a public client is neither rotated nor bound to a key"
                    : "the refresh token is not rotated, and is bound to the client by its authentication")
            return [finding] + skipped(ids.dropFirst(), "the refresh token is not rotated")
        }
        let isReuseRefused = try await refresh(first).isRefused
        let isRevoked = try await refresh(second).isRefused
        return [
            CheckFinding(ids[0], .refreshTokens, .pass, "a refresh gives a new refresh token"),
            CheckFinding(
                ids[1], .refreshTokens, isReuseRefused ? .pass : .fail,
                isReuseRefused
                    ? "a used refresh token is refused"
                    : "a used refresh token gives tokens, at least for some time after its use"),
            CheckFinding(
                ids[2], .refreshTokens, isRevoked ? .pass : .warn,
                isRevoked
                    ? "a reused refresh token revokes its successor"
                    : "the successor of a reused refresh token stays valid (section 4.14.2)"),
        ]
    }

    // MARK: Requests

    private var isPublic: Bool { client.authentication.secret == nil }

    private static func newVerifier() -> Secret { Secret(text: Base64.encode(Secret.random(byteCount: 32).bytes, as: .url)) }

    private func challengedCode(_ verifier: Secret) async throws -> Code? {
        try await code(["code_challenge": ProofKey.challenge(for: verifier.text), "code_challenge_method": "S256"])
    }

    private func exchange(_ code: Code, verifier: Secret?) async throws -> Answer {
        var fields: Fields = [
            ("grant_type", "authorization_code"), ("code", code.code.text), ("redirect_uri", code.redirectURI),
        ]
        if let verifier { fields.append(("code_verifier", verifier.text)) }
        return try await post(fields)
    }

    private func refresh(_ token: Secret) async throws -> Answer {
        try await post([("grant_type", "refresh_token"), ("refresh_token", token.text)])
    }

    private func send(_ fields: Fields, to url: String) async throws -> HTTPResponse {
        var (fields, headers): (Fields, HTTPHeaders) = (
            fields, ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"]
        )
        if let secret = client.authentication.secret {
            let credentials = "\(client.clientID.percentEncoded()):\(secret.text.percentEncoded())"
            headers.append("Authorization", "Basic " + Base64.encode(Array(credentials.utf8), as: .standard))
        } else {
            fields.append(("client_id", client.clientID))
        }
        return try await transport.send(
            HTTPRequest("POST", url, headers: headers, body: Array(FormCoding.encode(fields).utf8)))
    }

    private func post(_ fields: Fields) async throws -> Answer {
        let response = try await send(fields, to: endpoint)
        let members = (try? JSON.value(of: response.body))?.object ?? [:]
        guard response.status < 500, !members.isEmpty else {
            throw Failure(
                .protocolBroken, "check.answer", "the token endpoint answered with status \(response.status) and without JSON")
        }
        guard response.status == 200, let access = members["access_token"]?.string else {
            return .refused(members["error"]?.string ?? "status \(response.status)")
        }
        let refresh = members["refresh_token"]?.string.map { Secret(text: $0) }
        issued.withLock { $0 += [Secret(text: access), refresh].compactMap(\.self) }
        return .tokens(refresh: refresh)
    }
}
