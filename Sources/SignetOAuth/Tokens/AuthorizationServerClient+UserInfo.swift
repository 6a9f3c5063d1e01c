import SignetCore
import SignetNetwork

extension AuthorizationServerClient {
    /// Requests the claims about the user that the token belongs to.
    /// - Throws: ``LostKey`` for a bound token whose key can never be used again; the errors of the request.
    func userInfo(_ token: AccessToken) async throws -> HTTPResponse {
        let key = try await key(of: token)
        let url = try await address(\.userInfo, "userinfo endpoint")
        let headers: HTTPHeaders = [
            "Authorization": token.authorization, "Accept": "application/json, application/jwt",
            "Accept-API-Version": Self.version,
        ]
        return try await send(for: .userInfo, boundTo: key, presenting: token.value) {
            request("GET", url, headers: headers)
        }.response
    }

    /// Returns the claims of a userinfo response, which may be signed (OpenID Connect Core section 5.3.2).
    /// - Throws: ``TokenError/Code/idTokenRefused`` for a signed response that isn't valid; the error of the response; the errors of
    ///   the requests for the issuer and the keys.
    func claims(of response: HTTPResponse) async throws -> [String: JSONValue] {
        guard (200..<300).contains(response.status), response.isSignedToken else { return try members(response) }
        do {
            let signed = try await verified(Secret(text: String(decoding: response.body, as: UTF8.self).trimmingWhitespace()))
            try UserInfoRules(issuer: try await issuer().name, clientID: try client.clientID)
                .check(signed.claims, now: IDTokenRules.time(of: response.date, at: clock.now))
            return signed.claims
        } catch let error as IDTokenError {
            throw TokenError(.idTokenRefused, .other("the signed userinfo was refused: \(error.code.rawValue)"))
        }
    }
}

extension HTTPResponse {
    /// True when the content is a signed or encrypted token, according to its type.
    fileprivate var isSignedToken: Bool {
        let type = headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
        return type.trimmingWhitespace().lowercased() == "application/jwt"
    }
}
