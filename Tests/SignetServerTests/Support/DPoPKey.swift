import Crypto
import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A key of a client, which makes DPoP proofs, correctly or not.
struct DPoPKey: Sendable {
    private let key = P256.Signing.PrivateKey()

    var publicKey: JSONWebKey {
        get throws {
            let point = Array(key.publicKey.rawRepresentation)
            return try JSONWebKey(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        }
    }

    var thumbprint: String { get throws { try publicKey.thumbprint } }

    /// Signs any token.
    func sign(_ token: UnsignedToken) throws -> String {
        token.signed(with: Array(try key.signature(for: token.bytes).rawRepresentation))
    }

    /// Returns a proof for a request to a path below the root realm's OAuth address.
    func proof(
        _ path: String = "access_token", method: String = "POST", at server: TestServer, token: String? = nil,
        nonce: String? = nil, id: String = UUID().uuidString, age: Double = 0
    ) throws -> String {
        let origin = try #require(server.devServer.context.baseURL.split(separator: "/am").first)
        let secret = token.map { Secret($0.utf8) }
        let request = try #require(
            DPoPRequest(method: method, url: "\(origin)\(TestServer.oauth)/\(path)", accessToken: secret))
        return try sign(
            DPoPProof.unsigned(
                for: request, key: try publicKey, algorithm: .es256, at: server.clock.now - age, id: id, nonce: nonce))
    }
}

extension TestServer {
    /// Exchanges a new code of a login with a proof.
    func exchange(
        with key: DPoPKey, client: String = "app", _ changes: [String: String?] = [:], nonce: String? = nil
    ) async throws -> Reply {
        let code = try await code(try await session(), client: client, changes)
        return try await exchange(code, client: client, headers: ["DPoP": try key.proof(at: self, nonce: nonce)])
    }

    /// Renews tokens with a proof, or without one.
    func refresh(
        _ token: String, with key: DPoPKey?, client: String = "app", _ changes: [String: String?] = [:]
    ) async throws -> Reply {
        let parameters: [String: String?] = ["grant_type": "refresh_token", "refresh_token": token, "client_id": client]
        return try await postForm(
            "access_token", parameters.merging(changes) { $1 }, headers: try key.map { ["DPoP": try $0.proof(at: self)] } ?? [:])
    }

    /// Requests the user's claims with a bound token and a proof.
    func userInfo(_ token: String, proof: String?, scheme: String = "DPoP") async throws -> Reply {
        var headers = ["Authorization": "\(scheme) \(token)"]
        headers["DPoP"] = proof
        return try await send(.get, "\(Self.oauth)/userinfo", headers: headers)
    }
}
