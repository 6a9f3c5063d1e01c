import Foundation
import JWTKit

/// jwt-kit, verifying push messages of one secret.
///
/// In a file of its own since `Insecure` is in both JWTKit and Crypto.
struct JWTKitReference {
    private let keys = JWTKeyCollection()

    init(secret: [UInt8]) async {
        await keys.add(hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256)
    }

    /// The claim `c` of a message, after its signature has been checked.
    func challenge(in jwt: String) async throws -> String {
        try await keys.verify(jwt, as: PushClaimsForm.self).c
    }
}

extension PushClaimsForm: JWTPayload {
    /// There is nothing more to check: a push message has none of JWT's own claims.
    func verify(using algorithm: some JWTAlgorithm) {}
}
