import SignetCore
import SignetNetwork

/// The comparison of a provider's published keys with what RFC 7517 and RFC 7518 allow.
struct KeySetRules: Sendable {
    /// The response with the JWKS.
    let response: HTTPResponse

    var finding: CheckFinding {
        guard response.status == 200, let set = try? JSON.value(of: response.body), let keys = set["keys"]?.array else {
            return CheckFinding("jwks", .other, .fail, "jwks_uri has no key set (status \(response.status))")
        }
        guard !keys.isEmpty else { return CheckFinding("jwks", .other, .fail, "the key set is empty") }
        let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
        let secret = keys.count { key in key.object.map { !privateMembers.isDisjoint(with: $0.keys) } ?? false }
        guard secret == 0 else {
            return CheckFinding("jwks", .other, .fail, "private or shared keys in the key set: \(secret)")
        }
        let short = keys.count(where: Self.isShort)
        guard short == 0 else {
            return CheckFinding("jwks", .other, .fail, "RSA keys with fewer than 2048 bits (RFC 7518 section 3.3): \(short)")
        }
        return CheckFinding("jwks", .other, .pass, "the key set has \(keys.count.of("public key"))")
    }

    private static func isShort(_ key: JSONValue) -> Bool {
        guard key["kty"] == .string("RSA"), let text = key["n"]?.string, let modulus = try? Base64.decodeURL(text) else {
            return false
        }
        let digits = modulus.drop { $0 == 0 }
        return digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0) < 2048
    }
}
