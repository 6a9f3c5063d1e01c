import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting

/// An OAuth 2.0 server in memory that binds tokens to keys (RFC 9449), takes pushed requests (RFC 9126), and counts requests.
///
/// It checks each proof like a server: once only, for the method, the address, the access token, the time and the nonce.
final class BoundProvider: Sendable {
    static let base = "https://op.example.test"
    static let api = "https://api.example.test/orders"

    struct State: Sendable {
        /// The type of the issued tokens; nil to answer without a type.
        var tokenType: String? = "DPoP"
        /// True to refuse requests for tokens without a proof.
        var requiresProof = true
        /// The nonces that proofs must have, by the host of the server.
        var nonces: [String: String] = [:]
        /// True when each request needs another nonce, so that no proof is ever accepted.
        var changesNonces = false
        /// True to ask for a nonce and to send none.
        var hidesNonces = false
        /// The time by which the server is ahead of the client.
        var offset: TimeInterval = 0
        var sendsDate = true
        var lifetime: Int64 = 3600
        /// The answers to requests by path, instead of the usual ones.
        var answers: [String: HTTPResponse] = [:]
        var requests: [String: [HTTPRequest]] = [:]
        /// The accepted proofs by path.
        var proofs: [String: [DPoPProof]] = [:]
        var usedIDs: Set<String> = []
        /// The parameters of authorization requests by code, and of pushed requests by reference.
        var codes: [String: [String: String]] = [:]
        var pushed: [String: [String: String]] = [:]
        var requiresPush = false
        /// The keys of refresh tokens and of access tokens: empty for a bearer token.
        var refreshTokens: [String: String] = [:]
        var accessTokens: [String: String] = [:]
        var revoked: [String] = []
        var number = 0

        mutating func next(_ kind: String) -> String {
            number += 1
            return "\(kind)-\(number)"
        }
    }

    let clock = ManualClock(Date(timeIntervalSince1970: 1_800_000_000))
    private let state: Mutex<State>

    init(_ change: (inout State) -> Void = { _ in }) {
        var first = State()
        change(&first)
        state = Mutex(first)
    }

    var now: State { state.withLock { $0 } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    func count(_ path: String) -> Int { now.requests[path]?.count ?? 0 }

    /// Returns the forms of the requests to a path.
    func forms(_ path: String) -> [[String: String]] {
        (now.requests[path] ?? []).map { FormCoding.decode(String(decoding: $0.body, as: UTF8.self)) }
    }

    var transport: ScriptedTransport {
        ScriptedTransport { [self] (request) throws(TransportError) in serve(request) }
    }

    static let endpoints = OAuthEndpoints(
        authorize: "\(base)/authorize", token: "\(base)/token", revoke: "\(base)/revoke", userInfo: "\(base)/userinfo",
        deviceAuthorization: "\(base)/device", pushedAuthorization: "\(base)/par", backchannelAuthentication: "\(base)/ciba",
        issuer: base)

    static func client(
        _ dpop: DPoPMode = .software, authentication: ClientAuthentication = .none, pushesRequests: Bool = false
    ) -> OAuthClient {
        OAuthClient(
            clientID: "app", redirectURI: "https://app.example.test/cb", scopes: ["read"], authentication: authentication,
            dpop: dpop, pushesRequests: pushesRequests)
    }

    /// Returns a token source over a store, which has a session if it is a new one.
    func source(
        _ client: OAuthClient = BoundProvider.client(), store: SessionStore? = nil,
        endpoints: OAuthEndpoints = BoundProvider.endpoints, keys: SigningKeyProvider = SigningKeyProvider()
    ) async throws -> TokenSource {
        let used: SessionStore
        if let store {
            used = store
        } else {
            used = try SessionStore.memory()
            try await used.save(SSOToken(value: Secret("sso-1".utf8)))
        }
        return TokenSource(
            endpoints, client: client, store: used, pipeline: RequestPipeline(transport), threshold: .seconds(60), clock: clock,
            keys: keys)
    }

    /// Returns a stored token of this server, bound to a new key unless it is a bearer token.
    func issued(left: TimeInterval = -10, isBound: Bool = true, session: SSOToken? = nil) throws -> AccessToken {
        let key = try SigningKeyProvider().create(.software)
        let thumbprint = isBound ? key.publicKey.thumbprint : ""
        change {
            $0.accessTokens["access-old"] = thumbprint
            $0.refreshTokens["refresh-old"] = thumbprint
        }
        var token = AccessToken(
            value: Secret("access-old".utf8), tokenType: isBound ? "DPoP" : "Bearer", scope: "read", issuedAt: clock.now - 3600,
            expiresAt: clock.now + left, refreshToken: Secret("refresh-old".utf8))
        token.session = session.map(SessionIdentity.init)
        if isBound { token.binding = TokenBinding(key: key.reference) }
        return token
    }

    // MARK: Answers

    static func json(_ status: Int, _ members: [String: JSONValue], headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: JSON.encode(.object(members)))
    }

    static func refusal(_ name: String, status: Int = 400) -> HTTPResponse { json(status, ["error": .string(name)]) }

    private func serve(_ request: HTTPRequest) -> HTTPResponse {
        let address = String(request.url.prefix { $0 != "?" })
        let path = String(address.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
        return state.withLock { state in
            state.requests[path, default: []].append(request)
            var response = state.answers[path] ?? answer(path, request, &state)
            if state.sendsDate { response.headers.set("Date", HTTPDate.text(of: clock.now + state.offset)) }
            return response
        }
    }

    private func answer(_ path: String, _ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let form = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
        switch path {
        case "/authorize": return authorize(FormCoding.query(of: request.url), &state)
        case "/par":
            let reference = "urn:ietf:params:oauth:request_uri:" + state.next("pushed")
            state.pushed[reference] = form
            return Self.json(201, ["request_uri": .string(reference), "expires_in": .integer(60)])
        case "/token": return token(form, request, &state)
        case "/device":
            return Self.json(
                200,
                [
                    "device_code": .string("device-1"), "user_code": .string("WDJB-MJHT"), "expires_in": .integer(300),
                    "verification_uri": .string("\(Self.base)/activate"),
                ])
        case "/ciba":
            return Self.json(
                200, ["auth_req_id": .string("request-1"), "expires_in": .integer(120), "interval": .integer(2)])
        case "/revoke":
            state.revoked.append(form["token"] ?? "")
            return HTTPResponse(status: 200)
        case "/userinfo", "/orders": return resource(path, request, &state)
        default: return HTTPResponse(status: 404)
        }
    }

    private func authorize(_ query: [String: String], _ state: inout State) -> HTTPResponse {
        var parameters = query
        if let reference = query["request_uri"] {
            guard let pushed = state.pushed.removeValue(forKey: reference), pushed["client_id"] == query["client_id"] else {
                return Self.refusal("invalid_request_uri")
            }
            parameters = pushed
        } else if state.requiresPush {
            return Self.refusal("invalid_request")
        }
        let code = state.next("code")
        state.codes[code] = parameters
        let fields = [(name: "code", value: code), (name: "state", value: parameters["state"] ?? "")]
        let location = FormCoding.address(parameters["redirect_uri"] ?? "", adding: fields)
        return HTTPResponse(status: 302, headers: ["Location": location])
    }

    private func token(_ form: [String: String], _ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let thumbprint: String
        switch proof(in: request, token: nil, path: "/token", &state) {
        case .missing where state.requiresProof: return Self.refusal("invalid_dpop_proof")
        case .missing: thumbprint = ""
        case .accepted(let found): thumbprint = found
        case .refused(let name, let nonce): return Self.json(400, ["error": .string(name)], headers: nonce)
        }
        if let code = form["code"] {
            guard let query = state.codes.removeValue(forKey: code), query["dpop_jkt"] ?? thumbprint == thumbprint,
                query["code_challenge"] == ProofKey.challenge(for: form["code_verifier"] ?? "")
            else { return Self.refusal("invalid_grant") }
        }
        if let old = form["refresh_token"] {
            guard let bound = state.refreshTokens.removeValue(forKey: old), bound.isEmpty || bound == thumbprint else {
                return Self.refusal("invalid_grant")
            }
        }
        let (access, refresh) = (state.next("access"), state.next("refresh"))
        state.accessTokens[access] = thumbprint
        state.refreshTokens[refresh] = thumbprint
        var members: [String: JSONValue] = [
            "access_token": .string(access), "refresh_token": .string(refresh), "expires_in": .integer(state.lifetime),
            "scope": .string("read"),
        ]
        members["token_type"] = state.tokenType.map { .string($0) }
        return Self.json(200, members)
    }

    private func resource(_ path: String, _ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let parts = request.headers["Authorization"]?.split(separator: " ").map(String.init) ?? []
        guard parts.count == 2, let bound = state.accessTokens[parts[1]] else {
            return HTTPResponse(status: 401, headers: ["WWW-Authenticate": #"DPoP error="invalid_token""#])
        }
        if !bound.isEmpty {
            guard parts[0] == "DPoP" else { return HTTPResponse(status: 401, headers: ["WWW-Authenticate": "DPoP"]) }
            switch proof(in: request, token: Secret(parts[1].utf8), path: path, &state) {
            case .accepted(bound): break
            case .refused(let name, var headers):
                headers.set("WWW-Authenticate", #"DPoP error="\#(name)", algs="ES256""#)
                return HTTPResponse(status: 401, headers: headers)
            default: return HTTPResponse(status: 401, headers: ["WWW-Authenticate": #"DPoP error="invalid_token""#])
            }
        }
        return Self.json(200, ["sub": .string("mira")])
    }

    // MARK: Proofs

    private enum Proof: Equatable {
        case missing
        /// A right proof, with the thumbprint of its key.
        case accepted(String)
        /// A refused proof, with the name of the error and the header fields that go with it.
        case refused(String, HTTPHeaders)
    }

    private func proof(in request: HTTPRequest, token: Secret?, path: String, _ state: inout State) -> Proof {
        let fields = request.headers.all("DPoP")
        guard let text = fields.first else { return .missing }
        let host = (try? Endpoint(unchecked: request.url))?.host ?? ""
        if state.changesNonces { state.nonces[host] = state.next("nonce") }
        let nonce = state.nonces[host]
        let headers: HTTPHeaders = state.hidesNonces ? [:] : nonce.map { ["DPoP-Nonce": $0] } ?? [:]
        guard fields.count == 1, let expected = DPoPRequest(method: request.method, url: request.url, accessToken: token) else {
            return .refused("invalid_dpop_proof", [:])
        }
        do throws(DPoPError) {
            let proof = try DPoPProof(text)
            try proof.check(for: expected, at: clock.now + state.offset) { nonce == nil || $0 == nonce }
            guard state.usedIDs.insert(proof.id).inserted else { return .refused("invalid_dpop_proof", [:]) }
            state.proofs[path, default: []].append(proof)
            return .accepted(proof.thumbprint)
        } catch {
            return error.code == .nonce ? .refused("use_dpop_nonce", headers) : .refused("invalid_dpop_proof", [:])
        }
    }
}
