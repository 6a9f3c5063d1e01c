import Crypto
import Foundation
import SignetCore
import Testing

@Suite("DPoP proofs")
struct DPoPProofTests {
    /// The proof of RFC 9449 section 4.1.
    private static let sample =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZl"
        + "dWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0V"
        + "TYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T"
        + "8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let url = "https://as.example/oauth2/access_token"

    private let privateKey = P256.Signing.PrivateKey()

    private var key: JSONWebKey {
        get throws {
            let point = Array(privateKey.publicKey.rawRepresentation)
            return try JSONWebKey(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        }
    }

    private func signed(_ token: UnsignedToken) throws -> String {
        token.signed(with: Array(try privateKey.signature(for: token.bytes).rawRepresentation))
    }

    /// Returns a proof for a request with POST at ``now``, with changes in its claims.
    private func proof(_ changes: [String: JSONValue?] = [:], header: [String: JSONValue?] = [:]) throws -> String {
        var claims: [String: JSONValue] = [
            "htm": .string("POST"), "htu": .string(Self.url), "jti": .string("id-1"),
            "iat": .integer(Int64(Self.now.timeIntervalSince1970)),
        ]
        for (name, value) in changes { claims[name] = value }
        var members: [String: JSONValue] = [
            "typ": .string("dpop+jwt"), "alg": .string("ES256"), "jwk": .object(try key.requiredMembers),
        ]
        for (name, value) in header { members[name] = value }
        return try signed(UnsignedToken(header: members, claims: claims))
    }

    @Test("The proof of RFC 9449 is accepted for its request, with the thumbprint of the RFC")
    func acceptsSample() throws {
        let proof = try DPoPProof(Self.sample)
        let request = try #require(DPoPRequest(method: "POST", url: "https://server.example.com/token"))
        try proof.check(for: request, at: Date(timeIntervalSince1970: 1_562_262_616))
        #expect(proof.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" && proof.id == "-BwC3ESc6acc2lTc")
    }

    @Test("The hash of an access token is that of RFC 9449")
    func hashesAccessToken() {
        let token = Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU".utf8)
        let request = DPoPRequest(method: "GET", url: Self.url, accessToken: token)
        #expect(request?.accessTokenHash == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    }

    @Test("A proof that this package makes is accepted by it, with its nonce and its access token")
    func acceptsOwnProof() throws {
        let request = try #require(DPoPRequest(method: "GET", url: Self.url + "?a=b#c", accessToken: Secret("token".utf8)))
        let token = DPoPProof.unsigned(for: request, key: try key, algorithm: .es256, at: Self.now, id: "id-1", nonce: "n-1")
        let proof = try DPoPProof(try signed(token))
        try proof.check(for: request, at: Self.now) { $0 == "n-1" }
        let thumbprint = try key.thumbprint
        #expect(proof.thumbprint == thumbprint && proof.id == "id-1" && proof.nonce == "n-1")
        #expect(proof.lastUse() == Self.now + 60)
    }

    /// A proof that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let claims: [String: JSONValue?]
        let header: [String: JSONValue?]
        let code: DPoPError.Code

        init(
            _ name: String, _ claims: [String: JSONValue?] = [:], header: [String: JSONValue?] = [:], _ code: DPoPError.Code
        ) {
            testDescription = name
            self.claims = claims
            self.header = header
            self.code = code
        }
    }

    private static let refused = [
        Refused("another type", header: ["typ": .string("JWT")], .type),
        Refused("no type", header: ["typ": nil], .type),
        Refused("no algorithm", header: ["alg": nil], .algorithm),
        Refused("an unsigned proof", header: ["alg": .string("none")], .algorithm),
        Refused("a MAC", header: ["alg": .string("HS256")], .algorithm),
        Refused("a critical extension", header: ["crit": .array([.string("b64")])], .algorithm),
        Refused("an algorithm that is not accepted", header: ["alg": .string("RS256")], .algorithm),
        Refused("an algorithm of another key type", header: ["alg": .string("EdDSA")], .key),
        Refused("no key", header: ["jwk": nil], .key),
        Refused("another method", ["htm": .string("GET")], .method),
        Refused("a method in lower case", ["htm": .string("post")], .method),
        Refused("no method", ["htm": nil], .method),
        Refused("another path", ["htu": .string("https://as.example/oauth2/userinfo")], .url),
        Refused("another host", ["htu": .string("https://rs.example/oauth2/access_token")], .url),
        Refused("another scheme", ["htu": .string("http://as.example/oauth2/access_token")], .url),
        Refused("no address", ["htu": nil], .url),
        Refused("an old proof", ["iat": .integer(1_799_999_939)], .issuedAt),
        Refused("a proof of the future", ["iat": .integer(1_800_000_061)], .issuedAt),
        Refused("no time", ["iat": nil], .issuedAt),
        Refused("a time that is text", ["iat": .string("1800000000")], .issuedAt),
        Refused("an expired proof", ["exp": .integer(1_799_999_940)], .issuedAt),
        Refused("no ID", ["jti": nil], .identifier),
        Refused("an empty ID", ["jti": .string("")], .identifier),
        Refused("a long ID", ["jti": .string(String(repeating: "x", count: 257))], .identifier),
        Refused("a nonce that isn't text", ["nonce": .integer(1)], .nonce),
        Refused("another nonce", ["nonce": .string("old")], .nonce),
    ]

    @Test("A wrong proof is refused with the reason", arguments: refused)
    func refusesProof(refused: Refused) throws {
        let text = try proof(refused.claims, header: refused.header)
        let request = try #require(DPoPRequest(method: "POST", url: Self.url))
        #expect(throws: DPoPError(refused.code)) {
            try DPoPProof(text).check(for: request, at: Self.now) { $0 != "old" }
        }
    }

    @Test("A proof signed with another key, and a text that isn't a JWT, are refused")
    func refusesSignature() throws {
        let token = UnsignedToken(
            header: ["typ": .string("dpop+jwt"), "alg": .string("ES256"), "jwk": .object(try key.requiredMembers)],
            claims: ["htm": .string("POST"), "htu": .string(Self.url), "jti": .string("1"), "iat": .integer(1_800_000_000)])
        let other = Array(try P256.Signing.PrivateKey().signature(for: token.bytes).rawRepresentation)
        #expect(throws: DPoPError(.signature)) { try DPoPProof(token.signed(with: other)) }
        let padded = try signed(token) + "="
        let long = try proof(["padding": .string(String(repeating: "x", count: 9000))])
        for text in ["", "a.b.c", padded, long] {
            #expect(throws: DPoPError(.form)) { try DPoPProof(text) }
        }
    }

    @Test("A proof with a private key in its header is refused")
    func refusesPrivateKeyInHeader() throws {
        var members = try key.requiredMembers
        members["d"] = .string(Base64.encode(Array(privateKey.rawRepresentation), as: .url))
        let text = try proof(header: ["jwk": .object(members)])
        #expect(throws: DPoPError(.key)) { try DPoPProof(text) }
    }

    @Test("A proof for another access token, or for none, is refused with an access token")
    func comparesAccessToken() throws {
        let request = try #require(DPoPRequest(method: "POST", url: Self.url, accessToken: Secret("token".utf8)))
        let without = try DPoPProof(try proof())
        let hash = Base64.encode(Array(SHA256.hash(data: Array("other".utf8))), as: .url)
        let other = try DPoPProof(try proof(["ath": .string(hash)]))
        #expect(throws: DPoPError(.accessToken)) { try without.check(for: request, at: Self.now) }
        #expect(throws: DPoPError(.accessToken)) { try other.check(for: request, at: Self.now) }
    }

    @Test(
        "Addresses are compared without query and fragment, in the normal form of RFC 3986",
        arguments: [
            ("https://as.example/a?x=y#z", "https://as.example/a"), ("HTTPS://AS.Example:443/a", "https://as.example/a"),
            ("http://as.example:80", "http://as.example/"), ("http://as.example:8080/?q", "http://as.example:8080/"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"), ("https://as.example/%7euser/%2f", "https://as.example/~user/%2F"),
            ("https://as.example/a/./b/../c", "https://as.example/a/c"), ("https://as.example/a/..", "https://as.example/"),
            ("https://as.example/a/b/.", "https://as.example/a/b/"),
        ])
    func normalizesAddress(url: String, normal: String) {
        #expect(DPoPRequest.normalized(url) == normal)
    }

    @Test(
        "A text that isn't an absolute web address has no normal form",
        arguments: ["", "/a", "as.example/a", "ftp://as.example/", "https://user@as.example/", "https://as.example/%zz"])
    func hasNoNormalForm(url: String) {
        #expect(DPoPRequest.normalized(url) == nil)
    }
}
