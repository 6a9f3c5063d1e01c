import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@testable import signet

@Suite("The requests of signet check --active")
struct CheckProbeTests {
    private static let issuer = "https://id.example.test"
    private static let registered = "https://app.example.test/callback"

    /// The weaknesses of a scripted provider.
    struct Weakness: OptionSet, Sendable {
        let rawValue: Int

        static let prefixRedirects = Weakness(rawValue: 1)
        static let anyRedirect = Weakness(rawValue: 2)
        static let noChallenge = Weakness(rawValue: 4)
        static let plainChallenge = Weakness(rawValue: 8)
        static let implicit = Weakness(rawValue: 16)
        static let noState = Weakness(rawValue: 32)
        static let status307 = Weakness(rawValue: 64)
        static let lateRedirectCheck = Weakness(rawValue: 128)
    }

    private static func back(_ to: String, _ fields: [(name: String, value: String)], status: Int = 302) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Location": FormCoding.address(to, adding: fields)])
    }

    /// Answers an authorization request as a provider with weaknesses.
    private static func answer(_ request: HTTPRequest, _ weakness: Weakness) -> HTTPResponse {
        let query = FormCoding.query(of: request.url)
        let redirect = query["redirect_uri"] ?? ""
        let isKnown =
            redirect == registered || weakness.contains(.anyRedirect)
            || weakness.contains(.prefixRedirects) && redirect.hasPrefix(registered)
        let page = HTTPResponse(status: 302, headers: ["Location": "\(issuer)/login?state=1"])
        guard isKnown else {
            return weakness.contains(.lateRedirectCheck) ? page : HTTPResponse(status: 400, body: Array("<p>No".utf8))
        }
        var fields = [(name: "iss", value: issuer)]
        if !weakness.contains(.noState) { fields.append((name: "state", value: query["state"] ?? "")) }
        let status = weakness.contains(.status307) ? 307 : 302
        func refusal(_ error: String) -> HTTPResponse { back(redirect, [(name: "error", value: error)] + fields, status: status) }
        if query["response_type"] == "token" {
            guard weakness.contains(.implicit) else { return refusal("unsupported_response_type") }
            return HTTPResponse(status: 302, headers: ["Location": "\(redirect)#access_token=x&state=1"])
        }
        guard query["code_challenge"] != nil || weakness.contains(.noChallenge) else { return refusal("invalid_request") }
        guard query["code_challenge_method"] != "plain" || weakness.contains(.plainChallenge) else {
            return refusal("invalid_request")
        }
        // A provider with an open redirect answers an attacker's address at once.
        if redirect != registered { return refusal("login_required") }
        return query["prompt"] == "none" ? refusal("login_required") : page
    }

    private func findings(_ weakness: Weakness, redirectURI: String = registered) async throws -> [CheckFinding] {
        let transport = ScriptedTransport { request in Self.answer(request, weakness) }
        return try await AuthorizationProbe(
            endpoint: "\(Self.issuer)/authorize", clientID: "app", redirectURI: redirectURI, scope: "openid",
            issuer: Self.issuer, namesIssuer: true, transport: transport
        ).findings()
    }

    @Test("A provider that refuses each changed request passes")
    func passesStrictProvider() async throws {
        let findings = try await findings([])
        let others = findings.filter { $0.result != .pass }
        #expect(others.isEmpty && findings.count == 17)
        #expect(Set(findings.map(\.id)).count == findings.count)
    }

    static let weaknesses: [(weakness: Weakness, id: String, result: CheckFinding.Result)] = [
        (.prefixRedirects, "redirect-path-suffix", .fail), (.prefixRedirects, "redirect-path-traversal", .fail),
        (.prefixRedirects, "redirect-query", .fail), (.prefixRedirects, "redirect-other-host", .pass),
        (.anyRedirect, "redirect-other-host", .fail), (.anyRedirect, "redirect-host-suffix", .fail),
        (.anyRedirect, "redirect-plain-http", .fail), (.lateRedirectCheck, "redirect-other-host", .warn),
        (.noChallenge, "pkce-absent", .warn), (.plainChallenge, "pkce-plain-request", .warn),
        (.implicit, "implicit-request", .fail), (.noState, "response-state", .fail), (.status307, "redirect-status", .fail),
    ]

    @Test("A weakness of the authorization endpoint is found", arguments: weaknesses)
    func findsWeakness(weakness: Weakness, id: String, result: CheckFinding.Result) async throws {
        let findings = try await findings(weakness)
        let named = findings.first { $0.id == id }
        let finding = try #require(named)
        #expect(finding.result == result, "\(finding.reason)")
    }

    @Test("A client or a redirect URI that the provider does not know ends the check with what to do")
    func endsCheckOfUnknownClient() async throws {
        var failure: Failure?
        do {
            _ = try await findings([], redirectURI: "https://other.example.test/callback")
        } catch let error as Failure {
            failure = error
        }
        let refusal = try #require(failure)
        #expect(refusal.code == "check.client" && refusal.exit == .badInput && refusal.message.contains("register"))
    }

    @Test("The variants of a redirect URI differ from it, and those of another host lead to a name that exists nowhere")
    func variesRedirectURI() {
        for registered in [
            Self.registered, "http://127.0.0.1/callback", "https://app.example.test/cb?tenant=1", "com.example:/cb",
        ] {
            let variants = RedirectVariants(registered).all
            let addresses = Set(variants.map(\.address))
            #expect(addresses.count == variants.count && !addresses.contains(registered), "\(registered)")
            let reached = variants.filter { $0.isReached(by: registered) }
            #expect(reached.isEmpty, "\(registered)")
        }
        let added = RedirectVariants("https://app.example.test/cb?tenant=1").all.first { $0.id == "query" }
        #expect(added?.address == "https://app.example.test/cb?tenant=1&signet=check")
        #expect(added?.isReached(by: "https://app.example.test/cb?tenant=1&signet=check&error=x") == true)
    }

    // MARK: Codes and refresh tokens

    /// A token endpoint with weaknesses, and its codes and tokens.
    final class TokenEndpoint: Sendable {
        struct Weakness: OptionSet, Sendable {
            let rawValue: Int

            static let ignoresVerifier = Weakness(rawValue: 1)
            static let allowsReplay = Weakness(rawValue: 2)
            static let keepsTokens = Weakness(rawValue: 4)
            static let allowsReuse = Weakness(rawValue: 8)
            static let doesNotRotate = Weakness(rawValue: 16)
            static let refusesMissingChallenge = Weakness(rawValue: 32)
            static let noRefreshTokens = Weakness(rawValue: 64)
        }

        private struct State {
            var count = 0
            /// The challenge of each code; the text is empty for a code without one.
            var codes: [String: String] = [:]
            var used: Set<String> = []
            /// The grant of each refresh token.
            var refreshTokens: [String: Int] = [:]
            var usedRefreshTokens: Set<String> = []
            var ended: Set<Int> = []
            var grants: [String: Int] = [:]
        }

        private let weakness: Weakness
        private let state = Mutex(State())

        init(_ weakness: Weakness) { self.weakness = weakness }

        func code(_ fields: [String: String]) -> GrantProbe.Code? {
            state.withLock { state in
                guard fields["code_challenge"] != nil || !weakness.contains(.refusesMissingChallenge) else { return nil }
                state.count += 1
                state.codes["code-\(state.count)"] = fields["code_challenge"] ?? ""
                state.grants["code-\(state.count)"] = state.count
                return GrantProbe.Code(code: Secret(text: "code-\(state.count)"), redirectURI: "http://127.0.0.1:1/callback")
            }
        }

        func respond(_ request: HTTPRequest) -> HTTPResponse {
            let form = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
            return state.withLock { state in
                form["grant_type"] == "refresh_token" ? refresh(form, &state) : exchange(form, &state)
            }
        }

        private static let refusal = HTTPResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))

        private func tokens(_ grant: Int, _ state: inout State, refresh: String? = nil) -> HTTPResponse {
            state.count += 1
            var members: [String: JSONValue] = ["access_token": .string("a\(state.count)"), "token_type": .string("Bearer")]
            if !weakness.contains(.noRefreshTokens) {
                let token = refresh ?? "r\(state.count)"
                state.refreshTokens[token] = grant
                members["refresh_token"] = .string(token)
            }
            return HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(members)))
        }

        private func exchange(_ form: [String: String], _ state: inout State) -> HTTPResponse {
            guard let code = form["code"], let challenge = state.codes[code], let grant = state.grants[code] else {
                return Self.refusal
            }
            if !state.used.insert(code).inserted, !weakness.contains(.allowsReplay) {
                if !weakness.contains(.keepsTokens) { state.ended.insert(grant) }
                return Self.refusal
            }
            let expected = form["code_verifier"].map { ProofKey.challenge(for: $0) } ?? ""
            guard expected == challenge || weakness.contains(.ignoresVerifier) else { return Self.refusal }
            return tokens(grant, &state)
        }

        private func refresh(_ form: [String: String], _ state: inout State) -> HTTPResponse {
            guard let token = form["refresh_token"], let grant = state.refreshTokens[token], !state.ended.contains(grant) else {
                return Self.refusal
            }
            if weakness.contains(.doesNotRotate) { return tokens(grant, &state, refresh: token) }
            if !state.usedRefreshTokens.insert(token).inserted, !weakness.contains(.allowsReuse) {
                if !weakness.contains(.keepsTokens) { state.ended.insert(grant) }
                return Self.refusal
            }
            return tokens(grant, &state)
        }
    }

    private func tokenFindings(
        _ weakness: TokenEndpoint.Weakness, authentication: ClientAuthentication = .none
    ) async throws -> [CheckFinding] {
        let server = TokenEndpoint(weakness)
        let client = OAuthClient(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: [], authentication: authentication)
        return try await GrantProbe(
            endpoint: "\(Self.issuer)/token", revocation: nil, client: client,
            transport: ScriptedTransport { request in server.respond(request) }
        ) { fields in server.code(fields) }.findings()
    }

    @Test("A provider that binds codes to their challenge, and uses codes and refresh tokens once, passes")
    func passesStrictTokenEndpoint() async throws {
        let findings = try await tokenFindings(.refusesMissingChallenge)
        let others = findings.filter { $0.result != .pass }
        #expect(others.isEmpty && findings.count == 7)
    }

    static let tokenWeaknesses: [(weakness: TokenEndpoint.Weakness, id: String, result: CheckFinding.Result)] = [
        (.ignoresVerifier, "code-without-verifier", .fail), (.ignoresVerifier, "pkce-downgrade", .fail),
        ([], "pkce-downgrade", .pass), ([], "code-without-challenge", .warn), (.allowsReplay, "code-replay", .fail),
        (.keepsTokens, "code-replay-revocation", .warn), (.keepsTokens, "refresh-reuse-revocation", .warn),
        (.allowsReuse, "refresh-reuse", .fail), (.doesNotRotate, "refresh-rotation", .fail),
        (.doesNotRotate, "refresh-reuse", .skipped), (.noRefreshTokens, "refresh-rotation", .skipped),
        (.noRefreshTokens, "code-replay-revocation", .skipped),
    ]

    @Test("A weakness of the token endpoint is found", arguments: tokenWeaknesses)
    func findsTokenWeakness(
        weakness: TokenEndpoint.Weakness, id: String, result: CheckFinding.Result
    ) async throws {
        let findings = try await tokenFindings(weakness)
        let named = findings.first { $0.id == id }
        let finding = try #require(named)
        #expect(finding.result == result, "\(finding.reason)")
    }

    @Test("A refresh token of a client with a secret need not be rotated")
    func acceptsBoundRefreshToken() async throws {
        let findings = try await tokenFindings(.doesNotRotate, authentication: .clientSecretBasic(Secret(text: "s3cret")))
        let named = findings.first { $0.id == "refresh-rotation" }
        let finding = try #require(named)
        #expect(finding.result == .pass)
    }
}
