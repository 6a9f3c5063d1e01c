import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport

/// An OpenID provider that behaves well, except for the deviation of one test.
///
/// It answers without a network, and notes every request that a conformance suite would find fault with.
final class ScriptedProvider: Sendable {
    typealias Members = [String: JSONValue]
    typealias Field = (name: String, value: String)

    static let issuer = "https://op.example.test"
    static let discovery = "\(issuer)/.well-known/openid-configuration"
    static let clientID = "app"

    /// The authentication that the token endpoint and the revocation endpoint require of the client.
    enum Authentication: Sendable, Hashable {
        case none
        case basic(String)
        case post(String)
    }

    /// The behavior of the provider, with the deviation of one test.
    struct Behavior: Sendable {
        var authentication = Authentication.none
        /// Complete responses by path, which replace those of the provider.
        var responses: [String: HTTPResponse] = [:]
        /// The keys of the JWKS, and the position of the one that signs.
        var keys = [PublishedKey(ProviderKey.shared[0], "k1")]
        var signingKey = 0
        var algorithm = "RS256"
        /// The keys that replace the published ones just before an ID token is signed.
        var keysBeforeSigning: [PublishedKey]?
        var keysPath = "jwks"
        var keySetText: @Sendable (String) -> String = { $0 }
        var metadata: @Sendable (inout Members) -> Void = { _ in }
        var metadataText: @Sendable (String) -> String = { $0 }
        var answer: @Sendable (inout [Field]) -> Void = { _ in }
        /// True when the changes of the token response and the ID token apply to refreshes only.
        var deviatesAtRefresh = false
        var header: @Sendable (inout Members) -> Void = { _ in }
        var headerText: @Sendable (String) -> String = { $0 }
        var claims: @Sendable (inout Members) -> Void = { _ in }
        var claimsText: @Sendable (String) -> String = { $0 }
        /// Returns the signature of an ID token instead of the published key.
        var signature: (@Sendable (_ input: String) -> [UInt8])?
        /// Changes the complete ID token.
        var idToken: @Sendable (String) -> String = { $0 }
        var tokens: @Sendable (inout Members) -> Void = { _ in }
        var tokensText: @Sendable (String) -> String = { $0 }
        var tokenHeaders: HTTPHeaders = [:]
        var userInfo: @Sendable (inout Members) -> Void = { _ in }
        var userInfoText: @Sendable (String) -> String = { $0 }
        /// True when userinfo is a JWT, whose header and claims the changes of ID tokens don't concern.
        var signsUserInfo = false
        var userInfoSignature: (@Sendable (_ input: String) -> [UInt8])?
        /// Changes the query with which the browser comes back from the end-session endpoint.
        var logOut: @Sendable (inout [Field]) -> Void = { _ in }
    }

    /// A request that has arrived, and the values that it carried.
    struct Received: Sendable {
        let path: String
        let values: Set<String>
        let request: HTTPRequest
    }

    struct State: Sendable {
        var behavior = Behavior()
        var received: [Received] = []
        /// The authorization requests that the browser brought.
        var authorizations: [[String: String]] = []
        /// The end-session requests that the browser or the client brought.
        var logOuts: [[String: String]] = []
        /// The violations of the specifications by the client.
        var faults: [String] = []
        /// The texts of the tokens in the last token response.
        var lastIssued: Set<String> = []
        var idTokens: Set<String> = []
        var revoked: [String] = []
        var codes: [String: [String: String]] = [:]
        var refreshTokens: [String: String] = [:]
        /// The scope of each access token.
        var accessTokens: [String: String] = [:]
        var number = 0
    }

    let state = Mutex(State())
    let clock: ManualClock

    init(clock: ManualClock, _ change: (inout Behavior) -> Void) {
        self.clock = clock
        state.withLock { change(&$0.behavior) }
    }

    var transport: ScriptedTransport { ScriptedTransport { request in self.respond(to: request) } }
    var now: State { state.withLock { $0 } }

    func change(_ body: (inout Behavior) -> Void) { state.withLock { body(&$0.behavior) } }

    /// Returns the number of requests to an endpoint.
    func count(_ path: String) -> Int { now.received.filter { $0.path == path }.count }

    // MARK: Requests of the client

    private func respond(to request: HTTPRequest) -> HTTPResponse {
        let address = String(request.url.prefix { $0 != "?" })
        let path = address.hasPrefix(Self.issuer + "/") ? String(address.dropFirst(Self.issuer.count + 1)) : address
        let form = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
        let query = FormCoding.query(of: request.url)
        let credential = request.headers["Authorization"]?.split(separator: " ", maxSplits: 1).last.map(String.init)
        return state.withLock { state -> HTTPResponse in
            state.received.append(
                Received(
                    path: path, values: Set(form.values).union(query.values).union([credential].compactMap(\.self)),
                    request: request))
            if let response = state.behavior.responses[path] { return response }
            switch path {
            case ".well-known/openid-configuration": return Self.metadata(state)
            case state.behavior.keysPath:
                let keys = JSONValue.object(["keys": .array(state.behavior.keys.map(\.jwk))])
                return Self.json(state.behavior.keySetText(JSON.text(of: keys)))
            case "token": return token(request, form, &state)
            case "userinfo": return userInfo(request, query, &state)
            case "revoke":
                Self.checkAuthentication(request, form, &state)
                state.revoked.append(form["token"] ?? "")
                return HTTPResponse(status: 200)
            case "endsession":
                return HTTPResponse(status: 302, headers: ["Location": Self.endSession(query, &state)])
            default: return HTTPResponse(status: 404)
            }
        }
    }

    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
    }

    private static func metadata(_ state: State) -> HTTPResponse {
        var members: Members = [
            "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string("\(issuer)/token"), "userinfo_endpoint": .string("\(issuer)/userinfo"),
            "jwks_uri": .string("\(issuer)/\(state.behavior.keysPath)"), "revocation_endpoint": .string("\(issuer)/revoke"),
            "end_session_endpoint": .string("\(issuer)/endsession"),
            "response_types_supported": .array([.string("code")]),
            "response_modes_supported": .array([.string("query"), .string("form_post")]),
            "subject_types_supported": .array([.string("public")]),
            "id_token_signing_alg_values_supported": .array([.string(state.behavior.algorithm)]),
        ]
        state.behavior.metadata(&members)
        return json(state.behavior.metadataText(JSON.text(of: .object(members))))
    }

    /// Notes a missing, wrong or double authentication of the client, and returns whether it was right.
    @discardableResult
    private static func checkAuthentication(
        _ request: HTTPRequest, _ form: [String: String], _ state: inout State
    ) -> Bool {
        let credential = request.headers["Authorization"]
        let isRight: Bool
        switch state.behavior.authentication {
        case .none: isRight = credential == nil && form["client_secret"] == nil && form["client_id"] == clientID
        case .basic(let secret):
            isRight = basicCredential(credential).map { $0 == (clientID, secret) } ?? false && form["client_secret"] == nil
        case .post(let secret):
            isRight = credential == nil && form["client_id"] == clientID && form["client_secret"] == secret
        }
        if !isRight { state.faults.append("the client is not authenticated as it is registered") }
        return isRight
    }

    /// Returns the client ID and the secret, which are form-encoded before they are joined (RFC 6749 section 2.3.1).
    private static func basicCredential(_ field: String?) -> (String, String)? {
        let words = field?.split(separator: " ").map(String.init) ?? []
        guard words.count == 2, words[0].lowercased() == "basic", let bytes = try? Base64.decode(words[1]) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let values = parts.map { FormCoding.decode("value=\($0)")["value"] ?? "" }
        return (values[0], values[1])
    }

    private func token(_ request: HTTPRequest, _ form: [String: String], _ state: inout State) -> HTTPResponse {
        guard Self.checkAuthentication(request, form, &state) else {
            return Self.json(#"{"error":"invalid_client"}"#, status: 401)
        }
        switch form["grant_type"] {
        case "authorization_code":
            guard let query = state.codes.removeValue(forKey: form["code"] ?? ""),
                query["redirect_uri"] == form["redirect_uri"],
                query["code_challenge"] == ProofKey.challenge(for: form["code_verifier"] ?? "")
            else { break }
            return tokens(scope: query["scope"] ?? "", nonce: query["nonce"], isRefresh: false, &state)
        case "refresh_token":
            guard let scope = state.refreshTokens.removeValue(forKey: form["refresh_token"] ?? "") else { break }
            return tokens(scope: scope, nonce: nil, isRefresh: true, &state)
        default: break
        }
        state.faults.append("the token request is not that of a grant")
        return Self.json(#"{"error":"invalid_grant"}"#, status: 400)
    }

    private func tokens(scope: String, nonce: String?, isRefresh: Bool, _ state: inout State) -> HTTPResponse {
        state.number += 1
        let (access, refresh) = ("access-\(state.number)-x", "refresh-\(state.number)-x")
        let deviates = isRefresh || !state.behavior.deviatesAtRefresh
        var members: Members = [
            "access_token": .string(access), "refresh_token": .string(refresh), "token_type": .string("Bearer"),
            "expires_in": .integer(3600), "scope": .string(scope),
        ]
        let idToken = idToken(nonce: nonce, accessToken: access, deviates: deviates, &state)
        members["id_token"] = .string(idToken)
        if deviates { state.behavior.tokens(&members) }
        var text = JSON.text(of: .object(members))
        if deviates { text = state.behavior.tokensText(text) }
        let issued = ["access_token", "refresh_token", "id_token"].compactMap { members[$0]?.string }
        state.lastIssued = Set(issued + [access, refresh, idToken])
        state.idTokens.insert(idToken)
        state.accessTokens[members["access_token"]?.string ?? access] = scope
        state.refreshTokens[refresh] = scope
        var response = Self.json(text)
        if deviates { for field in state.behavior.tokenHeaders.fields { response.headers.append(field.name, field.value) } }
        return response
    }

    private func idToken(nonce: String?, accessToken: String, deviates: Bool, _ state: inout State) -> String {
        if let keys = state.behavior.keysBeforeSigning, deviates { state.behavior.keys = keys }
        let behavior = state.behavior
        let published = behavior.keys[behavior.signingKey]
        let now = Int64(clock.now.timeIntervalSince1970)
        var claims: Members = [
            "iss": .string(Self.issuer), "sub": .string("alice"), "aud": .string(Self.clientID), "iat": .integer(now),
            "exp": .integer(now + 600), "auth_time": .integer(Self.authenticationTime),
        ]
        claims["nonce"] = nonce.map { .string($0) }
        claims["at_hash"] = IDTokenRules.hash(of: Secret(accessToken.utf8), algorithm: behavior.algorithm).map { .string($0) }
        var header: Members = ["alg": .string(behavior.algorithm), "typ": .string("JWT")]
        header["kid"] = published.identifier.map { .string($0) }
        guard deviates else {
            return Self.compact([JSON.text(of: .object(header)), JSON.text(of: .object(claims))]) {
                published.key.signature(of: $0, algorithm: behavior.algorithm)
            }
        }
        behavior.header(&header)
        behavior.claims(&claims)
        let parts = [
            behavior.headerText(JSON.text(of: .object(header))), behavior.claimsText(JSON.text(of: .object(claims))),
        ]
        return behavior.idToken(
            Self.compact(parts) {
                behavior.signature?($0) ?? published.key.signature(of: $0, algorithm: behavior.algorithm)
            })
    }

    /// The time of the person's authentication, which all ID tokens of the provider name.
    static let authenticationTime: Int64 = 1_700_000_000

    /// Returns a JWS in compact form (RFC 7515 section 7.1).
    static func compact(_ parts: [String], signedBy sign: (String) -> [UInt8]) -> String {
        let input = parts.map { Base64.encode(Array($0.utf8), as: .url) }.joined(separator: ".")
        return "\(input).\(Base64.encode(sign(input), as: .url))"
    }

    private func userInfo(_ request: HTTPRequest, _ query: [String: String], _ state: inout State) -> HTTPResponse {
        let words = request.headers["Authorization"]?.split(separator: " ").map(String.init) ?? []
        guard words.count == 2, words[0].lowercased() == "bearer", let scope = state.accessTokens[words[1]] else {
            state.faults.append("the access token is not in the Authorization field of the userinfo request")
            return Self.json(#"{"error":"invalid_token"}"#, status: 401)
        }
        if query["access_token"] != nil { state.faults.append("the access token is in an address") }
        let scopes = scope.split(separator: " ")
        var claims: Members = ["sub": .string("alice")]
        if scopes.contains("profile") { claims["name"] = .string("Alice") }
        if scopes.contains("email") { claims["email"] = .string("alice@example.test") }
        if scopes.contains("phone") { claims["phone_number"] = .string("+1 555 0100") }
        if scopes.contains("address") { claims["address"] = .object(["country": .string("AT")]) }
        let behavior = state.behavior
        guard behavior.signsUserInfo else {
            behavior.userInfo(&claims)
            return Self.json(behavior.userInfoText(JSON.text(of: .object(claims))))
        }
        claims["iss"] = .string(Self.issuer)
        claims["aud"] = .string(Self.clientID)
        behavior.userInfo(&claims)
        let published = behavior.keys[behavior.signingKey]
        var header: Members = ["alg": .string(behavior.algorithm)]
        header["kid"] = published.identifier.map { .string($0) }
        let token = Self.compact(
            [JSON.text(of: .object(header)), behavior.userInfoText(JSON.text(of: .object(claims)))]
        ) { behavior.userInfoSignature?($0) ?? published.key.signature(of: $0, algorithm: behavior.algorithm) }
        return HTTPResponse(status: 200, headers: ["Content-Type": "application/jwt"], body: Array(token.utf8))
    }
}
