import Foundation
import SignetCore

/// The material of the vectors: account `mira` at `Harbor Bank`.
enum Sample {
    static let start = Date(timeIntervalSince1970: 1_735_689_600)
    static let secret = "wh4BisPebv-FgKLqSuSZH_CS4ZuWe9A0P-pYsvNcd8U"
    static let challenge = "G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU"
    static let oathSecret = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
    static let totp = "otpauth://totp/Harbor%20Bank:mira?secret=\(oathSecret)&issuer=Harbor%20Bank"
    static let hotp = "otpauth://hotp/Harbor%20Bank:mira?secret=\(oathSecret)&issuer=Harbor%20Bank&counter=7"
    static let endpoint = "https://am.example.test/am/json/alpha/push/sns/message?_action="
    static let identifier = "Harbor Bank-mira"

    static var push: String { uri("pushauth://push") }
    static var combined: String { uri("mfauth://totp") + "&secret=\(oathSecret)" }

    /// With policies: the text of a JSON object.
    static func combined(policies: String) -> String { combined + "&policies=" + base64(policies) }

    /// The same codes, with policies, for which codes need no server.
    static func totp(policies: String) -> String { totp + "&policies=" + base64(policies) }

    static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }

    private static func uri(_ head: String) -> String {
        "\(head)/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))&b=336699"
            + "&s=\(secret)&c=\(challenge)&l=\(base64("amlbcookie=01"))&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
    }

    /// A message as the sample account's server would sign it.
    static func message(
        to mechanismUUID: String, kind: PushKind = .tap, sentAt: Date = start, userID: String? = nil,
        secret: String = secret
    ) throws -> String {
        PushMessage(
            mechanismUID: mechanismUUID, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120, sentAt: sentAt,
            text: "Login at Harbor Bank", loadBalancerCookie: "amlbcookie=02", customPayload: #"{"transaction":"42"}"#,
            contextInfo: #"{"remoteIp":"198.51.100.23"}"#, userID: userID
        ).sealed(with: Secret(try Base64.decode(secret)))
    }
}
