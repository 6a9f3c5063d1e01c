import SignetCore
import TestSupport

extension FakeOpenAM {
    /// The OAuth 2.0 provider, with the public client `app` and without ID tokens.
    struct OAuth {
        /// The code challenges of the codes that were not exchanged.
        var challenges: [String: String] = [:]
        var refreshTokens: Set<String> = []
        var revoked: [String] = []
        /// The grant types of the requests for tokens, in order.
        var grants: [String] = []
        /// True when the token endpoint refuses the client.
        var refusesClient = false
        private var count = 0

        static let client = "app"
        private static let unauthenticated = Answer(
            status: "400 Bad Request", body: #"{"error_description":"Client authentication failed","error":"invalid_client"}"#)
        private static let invalidGrant = Answer(
            status: "400 Bad Request", body: #"{"error_description":"grant is invalid","error":"invalid_grant"}"#)

        static func answer(
            _ path: String, _ request: RawConnection.Request, _ query: [String: String], _ state: inout State
        ) -> Answer {
            let address = "http://\(request.header("host") ?? "")/openam"
            let form = FormCoding.decode(request.body)
            switch path {
            case let path where path.hasSuffix("/.well-known/openid-configuration"):
                return Answer(
                    body: #"{"issuer":"\#(address)/oauth2","authorization_endpoint":"\#(address)/oauth2/authorize","#
                        + #""token_endpoint":"\#(address)/oauth2/access_token"}"#)
            case let path where path.hasSuffix("/authorize"): return authorize(request, query, address, &state)
            case let path where path.hasSuffix("/access_token"): return state.oauth.token(form)
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
            guard let session, state.sessions.contains(String(session)) else {
                return Answer(status: "301 Moved Permanently", headers: ["Location: \(address)/UI/Login?realm=%2F"], body: "")
            }
            state.oauth.count += 1
            let code = "code-\(state.oauth.count)"
            state.oauth.challenges[code] = query["code_challenge"] ?? ""
            let location = FormCoding.address(
                query["redirect_uri"] ?? "",
                adding: [
                    ("code", code), ("scope", query["scope"] ?? ""), ("iss", "\(address)/oauth2"),
                    ("state", query["state"] ?? ""), ("client_id", query["client_id"] ?? ""),
                ])
            return Answer(status: "302 Found", headers: ["Location: \(location)"], body: "")
        }

        private mutating func token(_ form: [String: String]) -> Answer {
            grants.append(form["grant_type"] ?? "")
            guard form["client_id"] == Self.client, !refusesClient else { return Self.unauthenticated }
            let isGood =
                switch form["grant_type"] {
                case "authorization_code":
                    challenges.removeValue(forKey: form["code"] ?? "") == ProofKey.challenge(for: form["code_verifier"] ?? "")
                case "refresh_token": refreshTokens.remove(form["refresh_token"] ?? "") != nil
                default: false
                }
            guard isGood else { return Self.invalidGrant }
            count += 1
            refreshTokens.insert("refresh-\(count)")
            return Answer(
                body: #"{"access_token":"access-\#(count)","refresh_token":"refresh-\#(count)","scope":"profile","#
                    + #""token_type":"Bearer","expires_in":3599}"#)
        }
    }
}
