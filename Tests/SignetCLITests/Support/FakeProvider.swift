import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport

/// An OpenID provider with one user and one client, `app`, that answers as others than `signet serve` do.
///
/// It is not an AM, so it has only the addresses of its discovery document; or it is an OpenAM with one journey, which logs in at
/// once.
final class FakeProvider: Sendable {
    /// A response.
    struct Answer: Sendable {
        var status = "200 OK"
        var headers = ["Content-Type: application/json"]
        var body = "{}"

        static func page(_ status: String, _ body: String) -> Answer {
            Answer(status: status, headers: ["Content-Type: text/html;charset=UTF-8"], body: body)
        }

        static func error(_ status: String, _ name: String, _ description: String) -> Answer {
            Answer(status: status, body: #"{"error":"\#(name)","error_description":"\#(description)"}"#)
        }
    }

    /// The provider's capabilities and its answers.
    struct Behavior: Sendable {
        /// The redirect address of the client, which is compared as OpenAM does it; nil for any.
        var redirectURI: String?
        /// The answer to each request of a code instead of a redirect.
        var authorizeAnswer: Answer?
        var issuesRefreshTokens = true
        var issuesIDTokenToDevice = true
        var hasRevocation = true
        /// The issuer that the discovery document names instead of the provider's own.
        var namedIssuer: String?
        var hasEndSession = true
        /// True to send a browser with an address for its return back there after a logout, with its state.
        var returnsFromLogout = false
        var endSessionAnswer = Answer.page("200 OK", "<title>Sign in</title><p>You are logged out</p>")
        var userInfoAnswer: Answer?
        /// The claims of a signed userinfo, beside `iss`, `aud` and `sub`.
        var signedUserInfo: [String: JSONValue]?
        /// The answer of a provider other than AM to a request of a journey; nil for ``unknownAnswer``.
        var journeyAnswer: Answer?
        /// The answer at any other address that the provider does not have, such as that of an AM's discovery document.
        var unknownAnswer = Answer.error(
            "404 Not Found", "HTTP 404 Not Found", "For more on this error consult the server log.")
        /// The answers to the first polls of a device, or for the answer of a user on another device.
        var devicePolls: [Answer] = []
        /// True to issue tokens whose type says that they are bound to a key.
        var isBinding = false
    }

    private struct State {
        var behavior: Behavior
        var count = 0
        /// The parameters of the authorization requests by their codes.
        var codes: [String: [String: String]] = [:]
        /// The request that began the login of a device, or asked a user on another device.
        var device: [String: String] = [:]
        var paths: [String] = []
        var revoked: [String] = []
    }

    private let isAM: Bool
    private let state: Mutex<State>
    private let server: Mutex<RawServer?> = Mutex(nil)
    private let key = P256.Signing.PrivateKey()

    init(isAM: Bool = false, _ change: (inout Behavior) -> Void = { _ in }) throws {
        self.isAM = isAM
        var behavior = Behavior()
        change(&behavior)
        state = Mutex(State(behavior: behavior))
        let server = try RawServer { [weak self] connection in
            while let self, let request = connection.request() {
                let answer = self.answer(request)
                connection.answer(answer.status, headers: answer.headers, answer.body)
            }
        }
        self.server.withLock { $0 = server }
    }

    deinit { server.withLock { $0?.stop() } }

    /// The address of the provider, which is the issuer of one that is not an AM.
    var url: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })" + (isAM ? "/openam" : "/realms/staff") }
    private var issuer: String { isAM ? "\(url)/oauth2" : url }
    /// The paths of all requests, without the provider's own.
    var paths: [String] { state.withLock { $0.paths } }
    /// The fields of the last request that began the login of a device, or asked a user on another device.
    var deviceRequest: [String: String] { state.withLock { $0.device } }
    /// The tokens that were revoked.
    var revoked: [String] { state.withLock { $0.revoked } }

    func change(_ body: (inout Behavior) -> Void) { state.withLock { body(&$0.behavior) } }

    // MARK: Answers

    private func answer(_ request: RawConnection.Request) -> Answer {
        let words = request.line.split(separator: " ")
        let target = words.count > 1 ? words[1].split(separator: "?", maxSplits: 1) : []
        let path = target.first.map(String.init) ?? ""
        let query = FormCoding.decode(target.count > 1 ? target[1] : "")
        let own = url.dropFirst("http://".count).drop { $0 != "/" }
        guard path.hasPrefix(own) else { return .page("404 Not Found", "<p>Nothing</p>") }
        let resource = String(path.dropFirst(own.count))
        return state.withLock { state in
            state.paths.append(resource)
            return answer(resource, query, FormCoding.decode(request.body), &state)
        }
    }

    private func answer(
        _ resource: String, _ query: [String: String], _ form: [String: String], _ state: inout State
    ) -> Answer {
        let isDiscovery = resource == (isAM ? "/oauth2/realms/root" : "") + "/.well-known/openid-configuration"
        switch resource.split(separator: "/").last {
        case "openid-configuration" where isDiscovery: return Answer(body: discovery(state.behavior))
        case "authenticate" where isAM: return Answer(body: #"{"tokenId":"sso-1","successUrl":"/console","realm":"/"}"#)
        case "authenticate": return state.behavior.journeyAnswer ?? state.behavior.unknownAnswer
        case "sessions" where isAM: return Answer(body: #"{"result":"Successfully logged out"}"#)
        case "authorize": return authorize(query, &state)
        case "token", "access_token": return token(form, &state)
        case "jwks", "jwk_uri": return Answer(body: JSON.text(of: keys))
        case "device", "code": return device(form, &state)
        case "ciba":
            state.device = form
            return Answer(body: #"{"auth_req_id":"ask-1","expires_in":300,"interval":1}"#)
        case "revoke" where state.behavior.hasRevocation:
            state.revoked.append(form["token"] ?? "")
            return Answer()
        case "logout", "endSession":
            guard state.behavior.returnsFromLogout, let back = query["post_logout_redirect_uri"] else {
                return state.behavior.endSessionAnswer
            }
            let location = FormCoding.address(back, adding: [("state", query["state"] ?? "")])
            return Answer(status: "302 Found", headers: ["Location: \(location)"], body: "")
        case "userinfo": return userInfo(state.behavior)
        default: return state.behavior.unknownAnswer
        }
    }

    private func discovery(_ behavior: Behavior) -> String {
        let base = isAM ? "\(url)/oauth2/realms/root" : "\(url)/protocol"
        var members: [String: String] = [
            "issuer": behavior.namedIssuer ?? issuer, "authorization_endpoint": "\(base)/authorize",
            "token_endpoint": "\(base)/token", "userinfo_endpoint": "\(base)/userinfo", "jwks_uri": "\(base)/jwks",
            "end_session_endpoint": "\(base)/logout", "device_authorization_endpoint": "\(base)/device",
            "backchannel_authentication_endpoint": "\(base)/ciba",
        ]
        if behavior.hasRevocation { members["revocation_endpoint"] = "\(base)/revoke" }
        if !behavior.hasEndSession { members["end_session_endpoint"] = nil }
        return JSON.text(of: .object(members.mapValues { .string($0) }))
    }

    private func authorize(_ query: [String: String], _ state: inout State) -> Answer {
        if let answer = state.behavior.authorizeAnswer { return answer }
        let back = query["redirect_uri"] ?? ""
        guard state.behavior.redirectURI == nil || back == state.behavior.redirectURI else {
            return .page("400 Bad Request", Self.openAMPage)
        }
        state.count += 1
        let code = "code-\(state.count)"
        state.codes[code] = query
        let location = FormCoding.address(back, adding: [("code", code), ("state", query["state"] ?? ""), ("iss", issuer)])
        return Answer(status: "302 Found", headers: ["Location: \(location)"], body: "")
    }

    /// The page of OpenAM 16.0.5 for an unknown redirect address, with its script's members only.
    static let openAMPage = """
        <!DOCTYPE html><html><head><title>OAuth2 Error Page</title></head><body>Loading...<script>
        pageData = { realm : "\\/", error: { description: "The redirection URI provided does not match a pre-registered value.", \
        message: "redirect_uri_mismatch" } }
        </script></body></html>
        """

    private func device(_ form: [String: String], _ state: inout State) -> Answer {
        // As OpenAM 16.0.5 was recorded to answer (oauth-sessions 175 to 179): it requires no code challenge.
        let hasRequired = ["client_id", "scope", "response_type"].allSatisfy { form[$0]?.isEmpty == false }
        guard !isAM || hasRequired else {
            return .error("400 Bad Request", "bad_request", "client_id, scope and response_type are required parameters")
        }
        guard isAM || form["code_challenge_method"] == "S256" && form["code_challenge"] != nil else {
            return .error("400 Bad Request", "invalid_request", "Missing parameter: code_challenge")
        }
        state.device = form
        return Answer(
            body:
                #"{"device_code":"dev-1","user_code":"WDJB-MJHT","verification_uri":"\#(url)/device","interval":1,"expires_in":300}"#
        )
    }

    private func token(_ form: [String: String], _ state: inout State) -> Answer {
        let asked: [String: String]
        switch form["grant_type"] {
        case "authorization_code":
            asked = state.codes.removeValue(forKey: form["code"] ?? "") ?? [:]
            guard asked["redirect_uri"] == form["redirect_uri"] else {
                return .error("400 Bad Request", "invalid_grant", "Incorrect redirect_uri")
            }
        case "refresh_token": return Answer(body: JSON.text(of: .object(tokens([:], &state))))
        default:
            if !state.behavior.devicePolls.isEmpty { return state.behavior.devicePolls.removeFirst() }
            asked = state.device
        }
        // OpenAM grants tokens to a device that sent no code challenge (oauth-sessions 176 and 192).
        let isPlainDevice = isAM && form["device_code"] != nil && asked["code_challenge"] == nil
        let needsNoVerifier = isPlainDevice || form["auth_req_id"] != nil
        guard needsNoVerifier || asked["code_challenge"] == ProofKey.challenge(for: form["code_verifier"] ?? "") else {
            return .error("400 Bad Request", "invalid_grant", "PKCE verification failed")
        }
        var members = tokens(asked, &state)
        if form["grant_type"] != "authorization_code", !state.behavior.issuesIDTokenToDevice { members["id_token"] = nil }
        return Answer(body: JSON.text(of: .object(members)))
    }

    private func tokens(_ asked: [String: String], _ state: inout State) -> [String: JSONValue] {
        state.count += 1
        var members: [String: JSONValue] = [
            "access_token": .string("access-\(state.count)"), "expires_in": .integer(86_400),
            "token_type": .string(state.behavior.isBinding ? "DPoP" : "Bearer"),
        ]
        if state.behavior.issuesRefreshTokens { members["refresh_token"] = .string("refresh-\(state.count)") }
        guard asked["scope"]?.contains("openid") == true else { return members }
        let now = Int64(Date().timeIntervalSince1970)
        var claims: [String: JSONValue] = ["iat": .integer(now), "exp": .integer(now + 600)]
        claims["nonce"] = asked["nonce"].map { .string($0) }
        members["id_token"] = .string(signed(claims))
        return members
    }

    private func userInfo(_ behavior: Behavior) -> Answer {
        if let answer = behavior.userInfoAnswer { return answer }
        guard let claims = behavior.signedUserInfo else { return Answer(body: #"{"sub":"alice","name":"Alice"}"#) }
        return Answer(headers: ["Content-Type: application/jwt"], body: signed(claims))
    }

    // MARK: Signatures

    private var keys: JSONValue {
        let point = key.publicKey.rawRepresentation
        return .object([
            "keys": .array([
                .object([
                    "kty": .string("EC"), "crv": .string("P-256"), "kid": .string("k1"), "use": .string("sig"),
                    "x": .string(Base64.encode(Array(point.prefix(32)), as: .url)),
                    "y": .string(Base64.encode(Array(point.suffix(32)), as: .url)),
                ])
            ])
        ])
    }

    /// Returns a token about the user for the client, with changes of its claims.
    private func signed(_ claims: [String: JSONValue]) -> String {
        let own: [String: JSONValue] = ["iss": .string(issuer), "aud": .string("app"), "sub": .string("alice")]
        let header: [String: JSONValue] = ["alg": .string("ES256"), "kid": .string("k1")]
        let input = [header, own.merging(claims) { $1 }]
            .map { Base64.encode(Array(JSON.text(of: .object($0)).utf8), as: .url) }.joined(separator: ".")
        let signature = (try? key.signature(for: Data(input.utf8)).rawRepresentation) ?? Data()
        return "\(input).\(Base64.encode(Array(signature), as: .url))"
    }
}

extension CommandLineFixture {
    /// The environment of a command whose desktop has a browser that opens nothing.
    func withIdleBrowser() throws -> [String: String] {
        let folder = directory.file("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try write("#!/bin/sh\nexit 0\n".utf8, to: "bin/xdg-open", mode: 0o700)
        return ["PATH": "\(folder):\(Program.environment["PATH"] ?? "/usr/bin:/bin")"]
    }

    /// Runs `signet login --browser`, and visits the printed address and the one to which it redirects, as a browser does.
    ///
    /// The command ends by itself when it prints no address, or when the address redirects to no other.
    func logInWithBrowser(_ arguments: String...) async throws -> Outcome {
        let login = try start(["login"] + arguments + ["--browser"], environment: try withIdleBrowser())
        let address = try await login.waitForAddress()
        if let address {
            try await AsyncHTTPTransport().use { transport in
                let answer = try await transport.send(HTTPRequest("GET", address))
                guard let back = answer.headers["Location"] else { return }
                _ = try await transport.send(HTTPRequest("GET", back))
            }
        }
        return await login.end()
    }
}

extension TestProcess {
    /// Waits until the command has printed the address of a login page; nil when it ended without one.
    func waitForAddress() async throws -> String? {
        let errors = try await waitForOutput { [self] _, errors in
            errors.contains("\n  http") && errors.hasSuffix("\n") || hasEnded
        }.errors
        return errors.firstMatch(of: /\n  (http\S+)/).map { String($0.1) }
    }
}
