import Foundation
import SignetCore
import Testing

/// Signed messages that two readers understand differently.
@Suite("Attacks: signed messages")
struct MessageAttacks {
    private static let secret = Secret((0..<32).map { UInt8($0) * 7 &+ 3 })

    /// Second values of claims that a push message has, each name as an attacker may write it.
    private static let doubled = [
        ("u", #""u":"evil""#), ("u", #""\u0075":"evil""#), ("c", #""c":"AAAA""#), ("m", #""m":"Approve""#), ("t", #""t":"600""#),
        ("l", #""l":"YW1sYmNvb2tpZT0wMg""#),
    ]

    @Test("A push message with a name twice is refused, whether the server or an attacker signed it", arguments: doubled)
    func doublesName(name: String, second: String) throws {
        let message = PushMessage(
            mechanismUID: "phone-1", challenge: Array(repeating: 7, count: 32), kind: .tap, timeToLive: 120,
            sentAt: Date(timeIntervalSince1970: 1_735_689_600), text: "Log in?", loadBalancerCookie: "amlbcookie=01")
        let sealed = message.sealed(with: Self.secret)
        #expect(try SealedPushMessage(sealed).open(with: Self.secret).mechanismUID == "phone-1")
        let payload = try CompactJWS(sealed).payload(verifiedWith: Self.secret)
        let claims = String(decoding: payload, as: UTF8.self)
        try #require(claims.contains("\"\(name)\":"))
        for changed in ["{\(second),\(claims.dropFirst())", "\(claims.dropLast()),\(second)}"] {
            let forged = CompactJWS.sign(Array(changed.utf8), with: Self.secret)
            #expect(throws: (any Error).self) { try SealedPushMessage(forged).open(with: Self.secret) }
        }
    }
}
