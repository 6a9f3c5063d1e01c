#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import Testing

// An OAuth 2.0 client of an attacked server.
extension AttackedServer {
    /// The verifier of every code challenge (RFC 7636 appendix B).
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    /// The fields of a valid authorization request of the client `app`.
    private static let request = [
        "response_type": "code", "client_id": "app", "scope": "openid profile", "redirect_uri": redirectURI, "state": "st",
        "code_challenge": ProofKey.challenge(for: verifier), "code_challenge_method": "S256", "nonce": "n1",
    ]

    /// Sends an authorization request.
    /// - Parameters:
    ///   - session: The session of the browser; nil for none.
    ///   - changes: Changes to the fields of a valid request; nil removes a field.
    ///   - base: The path of the realm's endpoints.
    /// - Returns: The response.
    /// - Throws: `TransportError`.
    func authorize(
        _ session: String?, _ changes: [String: String?] = [:], at base: String = oauth
    ) async throws -> HTTPResponse {
        let fields = Self.request.merging(changes.compactMapValues { $0 }) { $1 }
            .filter { changes[$0.key] != .some(nil) }.sorted { $0.key < $1.key }
        let query = FormCoding.encode(fields.map { ($0.key, $0.value) })
        return try await send(
            "GET", "\(base)/authorize?\(query)", session.map { [("Cookie", "iPlanetDirectoryPro=\($0)")] } ?? [])
    }

    /// Returns an authorization code for a session.
    func code(_ session: String, _ changes: [String: String?] = [:]) async throws -> String {
        let response = try await authorize(session, changes)
        return try #require(response.redirected["code"], "\(response.status) \(response.headers["Location"] ?? response.text)")
    }

    /// Exchanges an authorization code.
    /// - Parameters:
    ///   - code: The code.
    ///   - changes: Changes to the fields of a valid request of the client `app`; nil removes a field.
    ///   - base: The path of the realm's endpoints.
    ///   - headers: The header fields.
    /// - Returns: The response.
    /// - Throws: `TransportError`.
    func exchange(
        _ code: String, _ changes: [String: String?] = [:], at base: String = oauth, _ headers: [(String, String)] = []
    ) async throws -> HTTPResponse {
        let valid = [
            "grant_type": "authorization_code", "code": code, "client_id": "app", "redirect_uri": Self.redirectURI,
            "code_verifier": Self.verifier,
        ]
        let fields = valid.merging(changes.compactMapValues { $0 }) { $1 }.filter { changes[$0.key] != .some(nil) }
        return try await post("\(base)/access_token", form: fields.map { ($0.key, $0.value) }, headers)
    }

    /// Renews tokens.
    func renew(_ token: String, client: String = "app", at base: String = oauth) async throws -> HTTPResponse {
        try await post(
            "\(base)/access_token",
            form: [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)])
    }

    /// Returns true when an access token opens the userinfo endpoint.
    func isValid(accessToken token: String, at base: String = oauth) async throws -> Bool {
        try await send("GET", "\(base)/userinfo", [("Authorization", "Bearer \(token)")]).status == 200
    }

    /// Returns true when a session is valid.
    func isValid(session: String) async throws -> Bool {
        let response = try await post(
            "/json/realms/root/sessions?_action=getSessionInfo", json: "{}",
            [("iPlanetDirectoryPro", session), ("Accept-API-Version", "resource=2.1")])
        return response.status == 200
    }

    /// The tokens of a user.
    func tokens(of name: String = victim) async throws -> (access: String, refresh: String, identity: String) {
        let response = try await exchange(try await code(try await session(of: name)))
        return (
            try #require(response.json["access_token"]?.string), try #require(response.json["refresh_token"]?.string),
            try #require(response.json["id_token"]?.string)
        )
    }
}

extension HTTPResponse {
    /// The error code of OAuth 2.0, in the body or in the address of the redirect.
    var oauthError: String? { json["error"]?.string ?? redirected["error"] }
}
#endif
