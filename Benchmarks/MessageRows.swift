import Crypto
import Foundation
import SignetCore

/// Opening one push message, verified and parsed, beside the least that can cost, and beside jwt-kit.
enum MessageRows {
    static func measure() async throws -> [Row] {
        let sample = try Sample.push()
        let secret = Secret(sample.secret)
        let ours = Contender.calls("SealedPushMessage.open") { _ in
            try SealedPushMessage(sample.jwt).open(with: secret).challenge.count
        }
        let jwtKit = await JWTKitReference(secret: sample.secret)
        let theirs = Contender.asyncCalls("JWTKeyCollection.verify") { _ in try await jwtKit.challenge(in: sample.jwt).utf8.count
        }
        return [
            Row(
                "push message, beside bare HMAC + JSON", try await Race(ours: ours, reference: bareWork(sample)).run(),
                .atMost(1.5)),
            Row("push message, beside jwt-kit", try await Race(ours: ours, reference: theirs).run(), .atLeast(2)),
        ]
    }

    /// One HMAC-SHA256 over the signing input and one JSON decoding of the payload, both in bytes already.
    private static func bareWork(_ sample: Sample.Push) throws -> Contender {
        guard let dot = sample.jwt.lastIndex(of: "."), let payload = sample.jwt[..<dot].split(separator: ".").last else {
            throw BenchError("the sample is not a compact JWS")
        }
        let signingInput = Array(sample.jwt[..<dot].utf8)
        let json = Data(try Base64.decode(payload))
        let key = SymmetricKey(data: sample.secret)
        let decoder = JSONDecoder()
        return .calls("HMAC<SHA256> + JSONDecoder") { _ in
            let mac = HMAC<SHA256>.authenticationCode(for: signingInput, using: key)
            return try decoder.decode(PushClaimsForm.self, from: json).c.utf8.count + mac.byteCount
        }
    }
}

/// The claims of a push message as a plain struct.
struct PushClaimsForm: Codable, Sendable {
    var c: String
    var l: String
    var t: String
    var u: String
    var i: String
    var m: String
    var k: String
    var n: String
    var p: String
    var x: String
    var d: String
}
