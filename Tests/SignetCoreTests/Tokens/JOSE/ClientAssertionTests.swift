import Crypto
import Foundation
import SignetCore
import Testing

@Suite("Client assertions")
struct ClientAssertionTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let issuer = "https://as.example/oauth2"

    private let privateKey = Curve25519.Signing.PrivateKey()

    private func key(_ identifier: String? = "k1") throws -> JSONWebKey {
        try JSONWebKey(.ed25519(Array(privateKey.publicKey.rawRepresentation)), identifier: identifier)
    }

    private func signed(_ token: UnsignedToken) throws -> String {
        token.signed(with: Array(try privateKey.signature(for: token.bytes)))
    }

    /// Returns the code of the error for an assertion with changes.
    private func code(
        _ changes: [String: JSONValue?] = [:], header: [String: JSONValue] = [:], keys: [JSONWebKey]? = nil
    ) throws -> ClientAssertionError.Code? {
        var claims: [String: JSONValue] = [
            "iss": .string("app"), "sub": .string("app"), "aud": .string(Self.issuer), "jti": .string("1"),
            "iat": .integer(1_800_000_000), "exp": .integer(1_800_000_060),
        ]
        for (name, value) in changes { claims[name] = value }
        let members: [String: JSONValue] = ["alg": .string("EdDSA"), "kid": .string("k1")]
        let text = try signed(UnsignedToken(header: members.merging(header) { $1 }, claims: claims))
        let known = try keys ?? [key()]
        do throws(ClientAssertionError) {
            try ClientAssertion(text).check(keys: known, audiences: [Self.issuer], at: Self.now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("An assertion that this package makes is accepted by it")
    func acceptsOwnAssertion() throws {
        let known = try key()
        let token = ClientAssertion.unsigned(
            clientID: "app", audience: Self.issuer, key: known, algorithm: .edDSA, at: Self.now, id: "id-1")
        let assertion = try ClientAssertion(try signed(token))
        try assertion.check(keys: [known], audiences: ["https://other", Self.issuer], at: Self.now)
        #expect(assertion.clientID == "app" && assertion.id == "id-1" && assertion.expiresAt == Self.now + 60)
        #expect(assertion.lastUse == Self.now + 120)
    }

    /// A claim with a value that is refused; nil to leave the claim out.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let value: JSONValue?
        let code: ClientAssertionError.Code

        init(_ description: String, _ name: String, _ value: JSONValue?, _ code: ClientAssertionError.Code) {
            testDescription = description
            self.name = name
            self.value = value
            self.code = code
        }
    }

    private static let refused = [
        Refused("another issuer", "iss", .string("other"), .client),
        Refused("no issuer", "iss", nil, .client),
        Refused("no subject", "sub", nil, .client),
        Refused("another audience", "aud", .string("https://other"), .audience),
        Refused("a list of other audiences", "aud", .array([.string("https://other")]), .audience),
        Refused("no audience", "aud", nil, .audience),
        Refused("no expiry time", "exp", nil, .expired),
        Refused("an expiry time that has passed", "exp", .integer(1_799_999_940), .expired),
        Refused("an expiry time that is too late", "exp", .integer(1_800_003_661), .expired),
        Refused("an expiry time that is text", "exp", .string("1800000060"), .expired),
        Refused("a time of issue in the future", "iat", .integer(1_800_000_061), .notYetValid),
        Refused("a begin in the future", "nbf", .integer(1_800_000_061), .notYetValid),
        Refused("no ID", "jti", nil, .identifier),
        Refused("an empty ID", "jti", .string(""), .identifier),
        Refused("an ID that is a number", "jti", .integer(1), .identifier),
    ]

    @Test("An assertion with a wrong or missing claim is refused with the reason", arguments: refused)
    func refusesClaim(refused: Refused) throws {
        let code = try code([refused.name: refused.value])
        #expect(code == refused.code)
    }

    @Test("An assertion is accepted without a time of issue, and with the server in a list of audiences")
    func acceptsOptionalForms() throws {
        let withoutTime = try code(["iat": nil])
        let withList = try code(["aud": .array([.string("https://other"), .string(Self.issuer)])])
        #expect(withoutTime == nil && withList == nil)
    }

    @Test("The key of an assertion is chosen by its ID and its type, and verifies the signature")
    func choosesKey() throws {
        let other = try JSONWebKey(
            .ed25519(Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)), identifier: "k2")
        let impostor = try JSONWebKey(other.numbers, identifier: "k1")
        let keys: [([JSONWebKey], ClientAssertionError.Code?)] = [
            ([try key(), other], nil), ([try key(nil)], nil), ([other], .key), ([], .key), ([impostor], .signature),
            ([impostor, try key()], nil),
        ]
        for (known, expected) in keys {
            let result = try code(keys: known)
            #expect(result == expected)
        }
    }

    @Test("An assertion with a MAC, without a signature, or with a critical extension is refused")
    func refusesAlgorithm() throws {
        let headers: [[String: JSONValue]] = [
            ["alg": .string("HS256")], ["alg": .string("none")], ["alg": .null], ["crit": .array([.string("exp")])],
        ]
        for header in headers {
            let result = try code(header: header)
            #expect(result == .algorithm)
        }
    }
}
