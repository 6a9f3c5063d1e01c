import Foundation
import JWTKit

/// jwt-kit, verifying access tokens with one published key.
///
/// In a file of its own since `Insecure` is in both JWTKit and Crypto.
struct JWTKitVerifier {
    private let keys = JWTKeyCollection()

    /// Reads a JSON Web Key, which needs an ID and an algorithm.
    init(key: [UInt8]) async throws {
        try await keys.add(jwk: JSONDecoder().decode(JWK.self, from: Data(key)))
    }

    /// The subject of a token, after its signature and its end have been checked.
    func subject(of token: String) async throws -> String {
        try await keys.verify(token, as: AccessTokenForm.self).sub.value
    }
}

/// The claims of an access token as a plain struct.
private struct AccessTokenForm: JWTPayload {
    var iss: IssuerClaim
    var aud: AudienceClaim
    var sub: SubjectClaim
    var exp: ExpirationClaim
    var iat: IssuedAtClaim
    var jti: IDClaim
    var scope: String

    enum CodingKeys: String, CodingKey {
        case iss, aud, sub, exp, iat, jti, scope
    }

    func verify(using algorithm: some JWTAlgorithm) throws { try exp.verifyNotExpired() }
}
