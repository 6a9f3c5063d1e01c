import Foundation
import JWTKit
import SignetCore
import Testing

/// JWTKit as an independent check of Signet's signatures.
///
/// Crypto is not imported: both modules have an `Insecure`.
@Suite("Interoperability with JWTKit")
struct JWTKitTests {
    /// Any claims; JWTKit must not check times, since push messages have none.
    private struct Claims: JWTPayload, Equatable {
        var u: String
        var c: String
        var t: String?

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private static let claims = Claims(u: Sample.mechanismUID, c: "mv+nOO/Qt7dJneRwwz4FMA==", t: "120")

    private func keys(_ bytes: [UInt8]) async -> JWTKeyCollection {
        await JWTKeyCollection().add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
    }

    @Test("JWTKit verifies what Signet signs", arguments: [32, 33, 63, 64, 65, 200])
    func jwtKitVerifiesSignature(keyLength: Int) async throws {
        let key = (0..<keyLength).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let jwt = CompactJWS.sign(try JSON.encode(Self.claims), with: Secret(key))
        #expect(try await keys(key).verify(jwt, as: Claims.self) == Self.claims)

        let others = await keys(key.reversed())
        await #expect(throws: (any Error).self) { try await others.verify(jwt, as: Claims.self) }
    }

    @Test("Signet opens what JWTKit signs", arguments: [32, 33, 63, 64, 65, 200])
    func opensJWTKitSignature(keyLength: Int) async throws {
        let key = (0..<keyLength).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let jwt = try await keys(key).sign(Self.claims)
        let message = try SealedPushMessage(jwt).open(with: Secret(key))
        #expect(message.mechanismUID == Sample.mechanismUID)
        #expect(message.timeToLive == 120)
        #expect(throws: PushMessageError.signature) { try SealedPushMessage(jwt).open(with: Secret(key.reversed())) }
    }

    @Test("JWTKit verifies a push message made for a server to send")
    func jwtKitVerifiesMessage() async throws {
        let message = PushMessage(
            mechanismUID: Sample.mechanismUID, challenge: [1, 2, 3], kind: .biometric, timeToLive: 120,
            sentAt: Sample.newYear2025,
            text: "Zürich / 🚀")
        let jwt = message.sealed(with: try Sample.pushSecret)
        let claims = try await keys(Base64.decode(Sample.pushSecretText)).verify(jwt, as: Claims.self)
        #expect(claims == Claims(u: Sample.mechanismUID, c: "AQID", t: "120"))
    }

    @Test(
        "JWTKit accepts and refuses the signatures of the vectors as Signet does",
        arguments: try Vectors.rows("push", "messages"))
    func jwtKitAgreesOnVectors(row: Vectors.Row) async throws {
        let isSigned = row.members["accept"] == .bool(true)
        guard try isSigned || row.text("reason") == "signature" else { return }
        let keys = await keys(try Base64.decode(Sample.pushSecretText))
        let jwt = try row.text("jwt")
        let isVerified: Bool
        do {
            _ = try await keys.verify(jwt, as: AnyClaims.self)
            isVerified = true
        } catch {
            isVerified = false
        }
        #expect(isVerified == isSigned)
    }

    @Test(
        "A signed message with a claim or a header parameter twice is refused",
        arguments: [
            (#"{"typ":"JWT","alg":"HS256"}"#, #"{"u":"UID","c":"AQID","c":"BAUG"}"#),
            (#"{"typ":"JWT","alg":"HS256"}"#, #"{"u":"UID","\u0075":"other","c":"AQID"}"#),
            (#"{"typ":"JWT","alg":"HS256"}"#, #"{"u":"UID","c":"AQID","x":{"y":1,"y":1}}"#),
            (#"{"alg":"HS256","alg":"none"}"#, #"{"u":"UID","c":"AQID"}"#),
            (#"{"alg":"none","alg":"HS256"}"#, #"{"u":"UID","c":"AQID"}"#),
        ])
    func refusesRepeatedClaimInMessage(header: String, claims: String) async throws {
        let algorithm = try await keys(Base64.decode(Sample.pushSecretText)).getKey()
        func jwt(_ header: String, _ claims: String) throws -> String {
            let claims = claims.replacing("UID", with: Sample.mechanismUID)
            let input = [header, claims].map { Base64.encode(Array($0.utf8), as: .url) }.joined(separator: ".")
            return "\(input).\(Base64.encode(try algorithm.sign(Array(input.utf8)), as: .url))"
        }
        let secret = try Sample.pushSecret
        // The same message without the repetition is accepted.
        let plain = try SealedPushMessage(jwt(#"{"alg":"HS256"}"#, #"{"u":"UID","c":"AQID"}"#)).open(with: secret)
        #expect(plain.challenge == [1, 2, 3])
        let repeating = try jwt(header, claims)
        #expect(throws: PushMessageError.form) { try SealedPushMessage(repeating).open(with: secret) }
    }

    private struct AnyClaims: JWTPayload {
        var u: String
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
}
