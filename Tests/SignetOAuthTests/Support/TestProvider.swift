import Crypto
import Foundation
import SignetCore
import SignetOAuth
import TestSupport

/// An OAuth 2.0 server for tests that counts requests and fails on demand, which real servers do not do.
///
/// It is strict about security: it checks PKCE, accepts codes and refresh tokens once, and detects the reuse of refresh tokens.
final class TestProvider: Sendable {
    /// A failure of the requests to one address.
    enum Fault: Sendable, Hashable {
        case none
        /// The connection is reset or closed after the request has arrived.
        case reset, cut
        /// No response, only a head, or half a body, until the client times out.
        case silent, silentAfterHead, silentInBody
        case status(Int, [String], String)
        /// A complete HTTP response with half of its JSON.
        case halfJSON
        /// A response that ends before its announced length.
        case brokenOff
        /// A response that is not HTTP.
        case garbage

        static let page = Fault.status(200, ["Content-Type: text/html"], "<html><title>Hotel</title>Log in first</html>")
        static let failed = Fault.status(500, [], "Internal error")
        static let busy = Fault.status(503, ["Retry-After: 7"], "<html>Back soon</html>")
    }

    struct State: Sendable {
        var isRotating = true
        var lifetime = 3600
        var sessions: Set<String> = ["sso-1"]
        /// The supported versions of the sessions resource; OpenAM responds with 404 to every other one.
        var sessionsVersions: Set<String> = ["2.0", "2.1", "3.1"]
        /// The versions that requests to the sessions resource have asked for.
        var askedSessionsVersions: [String] = []
        var faults: [String: Fault] = [:]
        /// The response to each refresh instead of tokens.
        var refreshRefusal: Fault?
        var counts: [String: Int] = [:]
        /// The time that the token endpoint waits, so that other requests arrive meanwhile.
        var delay: TimeInterval = 0
        var codes: [String: [String: String]] = [:]
        /// Refresh tokens by their family; used ones are kept to detect their reuse.
        var families: [String: String] = [:]
        var used: Set<String> = []
        var dead: Set<String> = []
        var accessTokens: [String: String] = [:]
        var revoked: [String] = []
        var reuses = 0
        var number = 0
        var devicePolls: [Fault] = []
        var claims: [String: JSONValue] = [:]
        /// Changes of the text of a JSON response, by its address, and of an ID token's parts `header` and `claims` before they are
        /// signed.
        var changes: [String: @Sendable (String) -> String] = [:]
        var authorizeError: String?
        /// Invalid fields for the authorization endpoint's response.
        var authorizeChanges: [String: String] = [:]
        var cookies: [String] = []
        /// The received `Cookie` headers by address.
        var cookieHeaders: [String: [String]] = [:]
        /// The scopes granted to a device and to a refresh, in addition to tokens without a named scope.
        var deviceScope = "read"
        var refreshScope = ""
        /// True when a grant of `openid` comes without an ID token.
        var omitsIDToken = false
        var sendsDate = false
        var key = P256.Signing.PrivateKey()
        var bodies: [String: [String]] = [:]
        /// True to issue tokens that are bound to the key of the proof in each request, which is recorded (RFC 9449).
        var isBinding = false
        var proofs: [String] = []

        mutating func next(_ kind: String) -> String {
            number += 1
            return "\(kind)-\(number)"
        }
    }

    let state: Mutex<State>
    private let server: Mutex<RawServer?> = Mutex(nil)

    init(_ change: (inout State) -> Void = { _ in }) throws {
        var first = State()
        change(&first)
        state = Mutex(first)
        let server = try RawServer { [weak self] connection in
            while let self, let request = connection.request(), self.serve(request, connection) {}
        }
        self.server.withLock { $0 = server }
    }

    deinit { server.withLock { $0?.stop() } }

    var url: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })" }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    func count(_ path: String) -> Int { state.withLock { $0.counts[path] ?? 0 } }
    var now: State { state.withLock { $0 } }

    private static let wellKnown = ".well-known/openid-configuration"
    var discoveryAddress: String { "\(url)/\(Self.wellKnown)" }

    /// Returns the server's addresses.
    func endpoints(timeout: Duration = .seconds(240)) -> OAuthEndpoints {
        OAuthEndpoints(
            authorize: "\(url)/authorize", token: "\(url)/token", revoke: "\(url)/revoke", userInfo: "\(url)/userinfo",
            endSession: "\(url)/endsession", session: "\(url)/sessions", deviceAuthorization: "\(url)/device",
            jwks: "\(url)/jwks", issuer: url, timeout: timeout)
    }

    /// Returns the addresses as a profile, for this server or one with another address.
    static func profile(of url: String, timeout: Duration = .seconds(240)) throws -> ServerProfile {
        let endpoints: EndpointOverrides = [
            .authenticate: "authenticate", .authorize: "authorize", .token: "token", .revoke: "revoke", .userInfo: "userinfo",
            .endSession: "endsession", .session: "sessions", .deviceCode: "device", .jwks: "jwks",
            .discovery: wellKnown,
        ]
        return try ServerProfile(url: url, endpoints: endpoints) {
            $0.issuer = url
            $0.timeout = timeout
            $0.client = TokenSourceFixture.client
        }
    }

    // MARK: Serving

    /// Returns whether the connection can serve another request.
    private func serve(_ request: RawConnection.Request, _ connection: RawConnection) -> Bool {
        let parts = request.line.split(separator: " ")
        let target = parts.count > 1 ? parts[1].split(separator: "?", maxSplits: 1) : []
        let address = String((target.first ?? "/").dropFirst())
        let path = address == Self.wellKnown ? "discovery" : address
        let query = FormCoding.decode(target.count > 1 ? target[1] : "")
        let form = FormCoding.decode(request.body)
        let (fault, delay) = state.withLock { state -> (Fault, TimeInterval) in
            state.counts[path, default: 0] += 1
            state.bodies[path, default: []].append(request.body)
            if path == "token", let proof = request.sentHeader("dpop") { state.proofs.append(proof) }
            if let cookie = request.header("cookie") { state.cookieHeaders[path, default: []].append(cookie) }
            return (state.faults[path] ?? .none, path == "token" ? state.delay : 0)
        }
        if delay > 0 { Thread.sleep(forTimeInterval: delay) }
        switch fault {
        case .none, .halfJSON, .brokenOff, .silentInBody: break
        case .reset:
            connection.reset()
            return false
        case .cut: return false
        case .silent:
            connection.waitForEnd()
            return false
        case .silentAfterHead:
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            connection.waitForEnd()
            return false
        case .status(let status, let headers, let body):
            connection.answer("\(status) Test", headers: headers, body)
            return true
        case .garbage:
            connection.send("no HTTP at all\r\n\r\n")
            return false
        }
        var answer = state.withLock { self.answer(path, query, form, request, &$0) }
        if let change = now.changes[path] { answer.body = change(answer.body) }
        if now.sendsDate { answer.headers.append("Date: \(Self.dates.string(from: Date()))") }
        return send(answer, fault, connection)
    }

    private static var dates: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter
    }

    struct Answer {
        var status = 200
        var headers: [String] = []
        var body = ""
    }

    private func send(_ answer: Answer, _ fault: Fault, _ connection: RawConnection) -> Bool {
        let half = String(answer.body.prefix(answer.body.count / 2))
        switch fault {
        case .halfJSON: connection.answer("\(answer.status) Test", headers: answer.headers, half)
        case .brokenOff, .silentInBody:
            let head = ["HTTP/1.1 \(answer.status) Test", "Content-Length: \(answer.body.utf8.count + 10)"] + answer.headers
            connection.send(head.joined(separator: "\r\n") + "\r\n\r\n" + half)
            if fault == .silentInBody { connection.waitForEnd() }
            return false
        default: connection.answer("\(answer.status) Test", headers: answer.headers, answer.body)
        }
        return true
    }

    private func answer(
        _ path: String, _ query: [String: String], _ form: [String: String], _ request: RawConnection.Request,
        _ state: inout State
    ) -> Answer {
        switch path {
        case "discovery": Answer(body: discovery)
        case "jwks": Answer(body: JSON.text(of: Self.keys(of: state.key)))
        case "authorize": authorize(query, request, &state)
        case "authenticate": Answer(body: request.body.contains("authId") ? #"{"tokenId":"sso-1"}"# : Self.step)
        case "token": token(form, &state)
        case "revoke": revoke(form, &state)
        case "userinfo": userInfo(request, state)
        case "sessions": sessions(query, request, &state)
        case "endsession": Answer(status: 302, headers: ["Location: \(query["post_logout_redirect_uri"] ?? "/login")"])
        case "device":
            Answer(
                body:
                    #"{"device_code":"dev","user_code":"WDJB-MJHT","verification_uri":"https://op/device","interval":1,"expires_in":600}"#
            )
        case "api":
            bearer(request).flatMap { state.accessTokens[$0] } == nil ? Answer(status: 401) : Answer(body: "data")
        default: Answer(status: 404)
        }
    }

    static let step = #"{"authId":"a","callbacks":[{"type":"TextOutputCallback","output":[]}]}"#

    private func refuse(_ status: Int, _ name: String) -> Answer { Answer(status: status, body: #"{"error":"\#(name)"}"#) }

    // MARK: Endpoints

    private func authorize(_ query: [String: String], _ request: RawConnection.Request, _ state: inout State) -> Answer {
        let session = request.header("iplanetdirectorypro")
        let back = query["redirect_uri"] ?? ""
        guard let session, state.sessions.contains(session) else {
            return Answer(status: 302, headers: ["Location: \(url)/login?goto=x"])
        }
        state.bodies["authorize-query", default: []].append(
            FormCoding.encode(query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
        if let error = state.authorizeError {
            return Answer(status: 302, headers: ["Location: \(back)?error=\(error)&state=\(query["state"] ?? "")"])
        }
        let code = state.next("code")
        state.codes[code] = query
        let answer = ["code": code, "state": query["state"] ?? "", "iss": url].merging(state.authorizeChanges) { $1 }
        let location = FormCoding.address(back, adding: answer.map { ($0.key, $0.value) })
        return Answer(status: 302, headers: ["Location: \(location)"] + state.cookies.map { "Set-Cookie: \($0)" })
    }

    private func token(_ form: [String: String], _ state: inout State) -> Answer {
        switch form["grant_type"] {
        case "authorization_code":
            guard let query = state.codes.removeValue(forKey: form["code"] ?? ""), query["redirect_uri"] == form["redirect_uri"],
                query["code_challenge_method"] == "S256",
                query["code_challenge"] == ProofKey.challenge(for: form["code_verifier"] ?? "")
            else { return refuse(400, "invalid_grant") }
            let scope = query["scope"] ?? ""
            return tokens(family: state.next("family"), scope, nonce: query["nonce"], &state)
        case "refresh_token":
            if case .status(let status, _, let body) = state.refreshRefusal { return Answer(status: status, body: body) }
            let presented = form["refresh_token"] ?? ""
            guard let family = state.families[presented], !state.dead.contains(family) else {
                return refuse(400, "invalid_grant")
            }
            if state.used.contains(presented) {
                state.reuses += 1
                state.dead.insert(family)
                return refuse(400, "invalid_grant")
            }
            if state.isRotating { state.used.insert(presented) }
            return tokens(family: family, state.refreshScope, nonce: nil, isRefresh: true, &state)
        default:
            guard !state.devicePolls.isEmpty else {
                return tokens(family: state.next("family"), state.deviceScope, nonce: nil, &state)
            }
            if case .status(let status, _, let body) = state.devicePolls.removeFirst() {
                return Answer(status: status, body: body)
            }
            return Answer(status: 500)
        }
    }

    private func tokens(
        family: String, _ scope: String, nonce: String?, isRefresh: Bool = false, _ state: inout State
    ) -> Answer {
        let access = state.next("access")
        state.accessTokens[access] = family
        var members: [String: JSONValue] = [
            "access_token": .string(access), "token_type": .string(state.isBinding ? "DPoP" : "Bearer"),
            "expires_in": .integer(Int64(state.lifetime)),
        ]
        if !scope.isEmpty { members["scope"] = .string(scope) }
        if !isRefresh || state.isRotating {
            let refresh = state.next("refresh")
            state.families[refresh] = family
            members["refresh_token"] = .string(refresh)
        }
        if scope.contains("openid"), !state.omitsIDToken {
            members["id_token"] = .string(idToken(nonce: nonce, accessToken: access, state))
        }
        return Answer(body: JSON.text(of: .object(members)))
    }

    private func revoke(_ form: [String: String], _ state: inout State) -> Answer {
        let token = form["token"] ?? ""
        state.revoked.append(token)
        if let family = state.families[token] ?? state.accessTokens[token] {
            state.dead.insert(family)
            state.accessTokens = state.accessTokens.filter { $0.value != family }
        }
        return Answer(body: "{}")
    }

    private func bearer(_ request: RawConnection.Request) -> String? {
        request.header("authorization").map { String($0.dropFirst("bearer ".count)) }
    }

    private func userInfo(_ request: RawConnection.Request, _ state: State) -> Answer {
        guard let token = bearer(request), state.accessTokens[token] != nil else { return refuse(401, "invalid_token") }
        return Answer(body: #"{"sub":"alice","name":"Alice","email_verified":true}"#)
    }

    private func sessions(_ query: [String: String], _ request: RawConnection.Request, _ state: inout State) -> Answer {
        guard let session = request.header("iplanetdirectorypro"), state.sessions.contains(session) else {
            return Answer(status: 401, body: #"{"code":401,"reason":"Unauthorized","message":"Access Denied"}"#)
        }
        // `resource=3.1, protocol=1.0`
        let asked = request.header("accept-api-version") ?? ""
        let version = asked.split(separator: ",").first.map { String($0.trimmingPrefix("resource=")) } ?? ""
        state.askedSessionsVersions.append(version)
        guard state.sessionsVersions.contains(version) else {
            return Answer(status: 404, body: #"{"code":404,"reason":"Not Found","message":"Resource &#39;&#39; not found"}"#)
        }
        if query["_action"] == "logout" { state.sessions.remove(session) }
        return Answer(body: #"{"result":"Successfully logged out"}"#)
    }

    // MARK: ID tokens

    private var discovery: String {
        #"{"issuer":"\#(url)","authorization_endpoint":"\#(url)/authorize","token_endpoint":"\#(url)/token","#
            + #""revocation_endpoint":"\#(url)/revoke","userinfo_endpoint":"\#(url)/userinfo","jwks_uri":"\#(url)/jwks","#
            + #""authorization_response_iss_parameter_supported":true}"#
    }

    private static func keys(of key: P256.Signing.PrivateKey) -> JSONValue {
        let point = key.publicKey.rawRepresentation
        return .object([
            "keys": .array([
                .object(["kty": .string("oct"), "k": .string("AAAA")]), .object(["kty": .string("future")]),
                .object([
                    "kty": .string("EC"), "crv": .string("P-256"), "kid": .string("k1"), "alg": .string("ES256"),
                    "use": .string("sig"), "x": .string(Base64.encode(Array(point.prefix(32)), as: .url)),
                    "y": .string(Base64.encode(Array(point.suffix(32)), as: .url)),
                ]),
            ])
        ])
    }

    /// Returns an ID token, signed without the library that checks it.
    private func idToken(nonce: String?, accessToken: String, _ state: State) -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(url), "aud": .string("app"), "sub": .string("alice"), "iat": .integer(now),
            "exp": .integer(now + 600),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        claims["at_hash"] = IDTokenRules.hash(of: Secret(accessToken.utf8), algorithm: "ES256").map { .string($0) }
        claims.merge(state.claims) { $1 }
        let header: [String: JSONValue] = ["alg": .string("ES256"), "kid": .string("k1")]
        let input = [("header", header), ("claims", claims)].map { part, members in
            let text = JSON.text(of: .object(members))
            return Base64.encode(Array((state.changes[part]?(text) ?? text).utf8), as: .url)
        }.joined(separator: ".")
        return Self.signed(input, by: state.key)
    }

    /// Returns a token with these claims, signed by this key, or by the key of the server.
    func signed(
        _ claims: [String: JSONValue], algorithm: String = "ES256", by key: P256.Signing.PrivateKey? = nil
    ) -> String {
        let header: [String: JSONValue] = ["alg": .string(algorithm), "kid": .string("k1")]
        let input = [header, claims].map { Base64.encode(Array(JSON.text(of: .object($0)).utf8), as: .url) }
        return Self.signed(input.joined(separator: "."), by: key ?? now.key)
    }

    private static func signed(_ input: String, by key: P256.Signing.PrivateKey) -> String {
        let signature = (try? key.signature(for: Data(input.utf8)).rawRepresentation) ?? Data()
        return "\(input).\(Base64.encode(Array(signature), as: .url))"
    }
}
