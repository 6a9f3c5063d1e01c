import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import TestSupport

/// Deviations of the signature of the ID token and of the published keys.
enum BadSignatures {
    private static let own = ProviderKey.shared[0]
    private static let foreign = ProviderKey.shared[1]

    /// Keys that must not verify the signature.
    private static let badKeys: [ProviderCase] = [
        .key("use", .string("enc"), .idToken(.signature), "the key is for encryption (use)"),
        .key("key_ops", .array([.string("encrypt")]), .idToken(.signature), "the key is for encryption (key_ops)"),
        .key("key_ops", .array([.string("sign")]), .idToken(.signature), "the key is for signing alone (key_ops)"),
        .key("key_ops", .string("verify"), .idToken(.signature), "key_ops is text"),
        .key("alg", .string("RS512"), .idToken(.signature), "the key is for another algorithm"),
        .key("kid", .string("k2"), .idToken(.signature), "the key has another ID"),
        .key("kty", .string("oct"), .idToken(.signature), "the key has another type"),
        .key("e", .string("AQ"), .idToken(.signature), "the key has the exponent 1"),
        .key("n", .string(""), .idToken(.signature), "the key has no modulus"),
        .header("kid", .string("k2"), .idToken(.signature), "the ID in the header is unknown"),
    ]

    static let refused: [ProviderCase] = {
        var cases = badKeys
        func add(
            _ name: String, _ code: IDTokenError.Code = .signature,
            _ apply: @escaping @Sendable (inout ScriptedProvider.Behavior) -> Void
        ) { cases.append(ProviderCase(name, .idToken(code), apply)) }
        add("another key signed") { $0.signature = { foreign.signature(of: $0, algorithm: "RS256") } }
        add("the signature is empty") { $0.signature = { _ in [] } }
        add("the signature is all zeros") { $0.signature = { _ in [UInt8](repeating: 0, count: 256) } }
        add("the signature is that of other claims") { $0.signature = { own.signature(of: "\($0)x", algorithm: "RS256") } }
        add("HS256 with the public key as the secret", .algorithm) {
            $0.header = { $0["alg"] = .string("HS256") }
            $0.signature = { input in
                let key = SymmetricKey(data: Data(own.modulus))
                return Array(HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: key))
            }
        }
        add("the key is in the header (jwk)") {
            $0.header = { $0["jwk"] = .object(foreign.members) }
            $0.signature = { foreign.signature(of: $0, algorithm: "RS256") }
        }
        add("the address of the keys is in the header (jku)") {
            $0.header = { $0["jku"] = .string("https://evil.example.test/jwks") }
            $0.signature = { foreign.signature(of: $0, algorithm: "RS256") }
        }
        add("the ID is that of another published key") {
            $0.keys = [PublishedKey(own, "k1"), PublishedKey(foreign, "k2")]
            $0.header = { $0["kid"] = .string("k2") }
        }
        add("an ECDSA signature in DER") {
            $0.algorithm = "ES256"
            $0.keys = [PublishedKey(ProviderKey.p256, "k1")]
            $0.signature = { ProviderKey.p256.derSignature(of: $0) }
        }
        add("an ES256 signature said to be RS256") {
            $0.keys = [PublishedKey(ProviderKey.p256, "k1")]
            $0.signature = { ProviderKey.p256.signature(of: $0, algorithm: "ES256") }
        }
        add("an RSA key of 1024 bits") { $0.keys = [PublishedKey(ProviderKey.short ?? own, "k1")] }
        add("discovery lists another algorithm", .algorithm) {
            $0.metadata = { $0["id_token_signing_alg_values_supported"] = .array([.string("PS256")]) }
        }
        add("the modulus has padding") {
            $0.keys = [PublishedKey(own, "k1", ["n": .string(Base64.encode(own.modulus, as: .url) + "==")])]
        }
        add("there is no key") { $0.keySetText = { _ in #"{"keys":[]}"# } }
        add("the key set has no list of keys") { $0.keySetText = { _ in "{}" } }
        return cases
    }()

    /// Claims, headers and keys that the client accepts.
    private static let goodMembers: [ProviderCase] = [
        .key("key_ops", .array([.string("verify")]), .accepted, "the key is for verification (key_ops)"),
        .key("alg", .string("RS256"), .accepted, "the key names its algorithm"),
        .key("x-future", .object([:]), .accepted, "the key has an unknown member"),
        .header("kid", nil, .accepted, "no ID in the header"), .header("typ", nil, .accepted, "no typ in the header"),
        .header("x5t", .string("AAAA"), .accepted, "a header parameter that the client doesn't use"),
        .claim("at_hash", nil, .accepted, "no at_hash, which is optional in the code flow"),
        .claim("aud", .array([.string("app")]), .accepted, "aud is a list of the client alone"),
        .claim("azp", .string("app"), .accepted, "azp is the client"),
        .claim("x-future", .array([.null]), .accepted, "an unknown claim"),
        .time("exp", -30, .accepted, "expired 30 seconds ago: clocks differ"),
        .time("iat", 30, .accepted, "issued in 30 seconds: clocks differ"), .time("nbf", -3600, .accepted, "nbf has passed"),
        .time("iat", -86_400, .accepted, "issued a day ago and not expired"),
    ]

    static let accepted: [ProviderCase] = {
        var cases = goodMembers
        func add(_ name: String, _ apply: @escaping @Sendable (inout ScriptedProvider.Behavior) -> Void) {
            cases.append(ProviderCase(name, .accepted, apply))
        }
        let keys: [(algorithm: String, key: ProviderKey)] = [
            ("RS256", own), ("PS256", own), ("ES256", ProviderKey.p256), ("EdDSA", ProviderKey.ed25519),
        ]
        for (algorithm, key) in keys {
            add(algorithm) {
                $0.algorithm = algorithm
                $0.keys = [PublishedKey(key, "k1")]
            }
            add("\(algorithm), and discovery lists no algorithms") {
                $0.algorithm = algorithm
                $0.keys = [PublishedKey(key, "k1")]
                $0.metadata = { $0["id_token_signing_alg_values_supported"] = nil }
            }
        }
        return cases
    }()
}
