#if os(Linux)
import SignetCore

extension FakeOpenAM {
    /// The OAuth 2.0 provider, with the public client `app`.
    package struct OAuth {
        /// The tokens that were asked for at the authorization endpoint.
        struct Grant {
            let challenge: String
            let scope: String
            let nonce: String?

            var hasIDToken: Bool { scope.split(separator: " ").contains("openid") }
        }

        /// The grants of the codes that were not exchanged.
        private var codes: [String: Grant] = [:]
        /// The grants of the refresh tokens that were not used.
        private var refreshTokens: [String: Grant] = [:]
        package var revoked: [String] = []
        /// The grant types of the requests for tokens, in order.
        package var grants: [String] = []
        /// The number of requests for the keys of ID tokens.
        package var keyRequests = 0
        /// True when the token endpoint refuses the client.
        package var refusesClient = false
        /// True when the authorization endpoint shows its login page also with a session.
        package var showsLogin = false
        /// True when the signatures of ID tokens are invalid.
        package var forgesIDTokens = false
        private var count = 0

        static let client = "app"
        /// The user of each session.
        static let user = "dave"
        private static let unauthenticated = Answer(
            status: "400 Bad Request", body: #"{"error_description":"Client authentication failed","error":"invalid_client"}"#)
        private static let invalidGrant = Answer(
            status: "400 Bad Request", body: #"{"error_description":"grant is invalid","error":"invalid_grant"}"#)

        /// Ends all refresh tokens.
        package mutating func removeRefreshTokens() { refreshTokens = [:] }

        static func answer(
            _ path: String, _ request: RawConnection.Request, _ query: [String: String], _ state: inout State
        ) -> Answer {
            let address = "http://\(request.header("host") ?? "")/openam"
            let issuer = "\(address)/oauth2"
            let form = FormCoding.decode(request.body)
            switch path {
            case let path where path.hasSuffix("/.well-known/openid-configuration"):
                return Answer(
                    body: #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/authorize","#
                        + #""token_endpoint":"\#(issuer)/access_token","jwks_uri":"\#(issuer)/connect/jwk_uri"}"#)
            case let path where path.hasSuffix("/connect/jwk_uri"):
                state.oauth.keyRequests += 1
                return Answer(body: JSON.text(of: IDToken.keys))
            case let path where path.hasSuffix("/authorize"): return authorize(request, query, address, &state)
            case let path where path.hasSuffix("/access_token"): return state.oauth.token(form, issuer)
            case let path where path.hasSuffix("/token/revoke"):
                state.oauth.revoked.append(form["token"] ?? "")
                return Answer()
            default: return .error("404 Not Found", "Not found")
            }
        }

        /// Reads the session from the cookie only.
        private static func authorize(
            _ request: RawConnection.Request, _ query: [String: String], _ address: String, _ state: inout State
        ) -> Answer {
            let pairs = (request.header("cookie") ?? "").split(separator: ";").map { $0.split(separator: "=", maxSplits: 1) }
            let session = pairs.first { $0.first?.drop(while: { $0 == " " }) == "iplanetdirectorypro" }?.last
            guard let session, state.sessions.contains(String(session)), !state.oauth.showsLogin else {
                return Answer(status: "301 Moved Permanently", headers: ["Location: \(address)/UI/Login?realm=%2F"], body: "")
            }
            state.oauth.count += 1
            let code = "code-\(state.oauth.count)"
            state.oauth.codes[code] = Grant(
                challenge: query["code_challenge"] ?? "", scope: query["scope"] ?? "", nonce: query["nonce"])
            let location = FormCoding.address(
                query["redirect_uri"] ?? "",
                adding: [
                    ("code", code), ("scope", query["scope"] ?? ""), ("iss", "\(address)/oauth2"),
                    ("state", query["state"] ?? ""), ("client_id", query["client_id"] ?? ""),
                ])
            return Answer(status: "302 Found", headers: ["Location: \(location)"], body: "")
        }

        private mutating func token(_ form: [String: String], _ issuer: String) -> Answer {
            grants.append(form["grant_type"] ?? "")
            guard form["client_id"] == Self.client, !refusesClient else { return Self.unauthenticated }
            let code = form["code"]
            let used: Grant? =
                switch form["grant_type"] {
                case "authorization_code": codes.removeValue(forKey: code ?? "")
                case "refresh_token": refreshTokens.removeValue(forKey: form["refresh_token"] ?? "")
                default: nil
                }
            guard let used, code == nil || used.challenge == ProofKey.challenge(for: form["code_verifier"] ?? "") else {
                return Self.invalidGrant
            }
            count += 1
            let access = "access-\(count)"
            // The tokens of a refresh have no nonce.
            refreshTokens["refresh-\(count)"] = Grant(challenge: "", scope: used.scope, nonce: nil)
            var members: [String: JSONValue] = [
                "access_token": .string(access), "refresh_token": .string("refresh-\(count)"), "scope": .string(used.scope),
                "token_type": .string("Bearer"), "expires_in": .integer(3599),
            ]
            members["nonce"] = used.nonce.map { .string($0) }
            if used.hasIDToken {
                let token = IDToken(issuer: issuer, nonce: used.nonce, code: code, accessToken: access)
                members["id_token"] = .string(token.signed(isForged: forgesIDTokens))
            }
            return Answer(body: JSON.text(of: .object(members)))
        }
    }
}
#endif
