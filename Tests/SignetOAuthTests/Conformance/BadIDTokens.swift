import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth

/// Deviations of the ID token of a login.
enum BadIDTokens {
    private static let issuer = ScriptedProvider.issuer
    private static let app = JSONValue.string(ScriptedProvider.clientID)
    private static let other = JSONValue.string("other")

    /// The claims about the parties, which must be right to the byte and of the right type.
    static let parties: [ProviderCase] = [
        .claim("iss", nil, .idToken(.issuer), "no iss"),
        .claim("iss", .integer(7), .idToken(.issuer), "iss is a number"),
        .claim("iss", .array([.string(issuer)]), .idToken(.issuer), "iss is a list"),
        .claim("iss", .string("\(issuer)/other"), .idToken(.issuer), "iss of another path"),
        .claim("iss", .string("\(issuer)/"), .idToken(.issuer), "iss with a slash at its end"),
        .claim("iss", .string("HTTPS://op.example.test"), .idToken(.issuer), "iss in upper case"),
        .claim("iss", .string("\(issuer):443"), .idToken(.issuer), "iss with the default port"),
        .claim("aud", nil, .idToken(.audience), "no aud"),
        .claim("aud", .null, .idToken(.audience), "aud is null"),
        .claim("aud", .integer(7), .idToken(.audience), "aud is a number"),
        .claim("aud", .object(["app": .bool(true)]), .idToken(.audience), "aud is an object"),
        .claim("aud", .array([]), .idToken(.audience), "aud is an empty list"),
        .claim("aud", .array([other]), .idToken(.audience), "aud is a list without the client"),
        .claim("aud", .array([app, .integer(7)]), .idToken(.audience), "aud has a number beside the client"),
        .claim("aud", .array([app, .null]), .idToken(.audience), "aud has null beside the client"),
        .claim("aud", .array([app, other]), .idToken(.authorizedParty), "aud has another client, and there is no azp"),
        .claim("aud", .string("app other"), .idToken(.audience), "aud has two names in one text"),
        .claim("aud", .string("APP"), .idToken(.audience), "aud in upper case"),
        .claim("azp", other, .idToken(.authorizedParty), "azp is another client"),
        .claim("azp", .integer(7), .idToken(.authorizedParty), "azp is a number"),
        .claim("azp", .array([app]), .idToken(.authorizedParty), "azp is a list"),
        .claim("azp", .string(""), .idToken(.authorizedParty), "azp is empty"),
        .claim("sub", .null, .idToken(.subject), "sub is null"),
        .claim("sub", .integer(7), .idToken(.subject), "sub is a number"),
        .claim("sub", .string(""), .idToken(.subject), "sub is empty"),
        .claim("sub", .array([.string("alice")]), .idToken(.subject), "sub is a list"),
        .claim("sub", .string(String(repeating: "a", count: 256)), .idToken(.subject), "sub has more than 255 characters"),
        ProviderCase("aud has another client, and azp is this one", .idToken(.audience)) {
            $0.claims = { claims in
                claims["aud"] = .array([app, other])
                claims["azp"] = app
            }
        },
    ]

    /// The claims about the request and the times.
    static let times: [ProviderCase] = [
        .claim("nonce", nil, .idToken(.nonce), "no nonce"), .claim("nonce", .null, .idToken(.nonce), "nonce is null"),
        .claim("nonce", .integer(7), .idToken(.nonce), "nonce is a number"),
        .claim("nonce", .string(""), .idToken(.nonce), "nonce is empty"),
        .claim("exp", nil, .idToken(.expired), "no exp"), .claim("exp", .null, .idToken(.expired), "exp is null"),
        .claim("exp", .string("9999999999"), .idToken(.expired), "exp is text"),
        .claim("exp", .integer(0), .idToken(.expired), "exp is 0"),
        .claim("exp", .integer(-1), .idToken(.expired), "exp is negative"),
        .time("exp", -360, .idToken(.expired), "expired 6 minutes ago"),
        .time("exp", -86_400, .idToken(.expired), "expired a day ago"),
        .claim("iat", .null, .idToken(.issuedAt), "iat is null"),
        .claim("iat", .string("1700000000"), .idToken(.issuedAt), "iat is text"),
        .claim("iat", .array([]), .idToken(.issuedAt), "iat is a list"),
        .time("iat", 3600, .idToken(.notYetValid), "issued in an hour"),
        .claim("nbf", .string("0"), .idToken(.notYetValid), "nbf is text"),
        .claim("nbf", .null, .idToken(.notYetValid), "nbf is null"),
        .time("nbf", 3600, .idToken(.notYetValid), "valid in an hour"),
        .claim("at_hash", .string("AAAAAAAAAAAAAAAAAAAAAA"), .idToken(.accessTokenHash), "at_hash of another token"),
        .claim("at_hash", .integer(7), .idToken(.accessTokenHash), "at_hash is a number"),
        .claim("at_hash", .string(""), .idToken(.accessTokenHash), "at_hash is empty"),
        ProviderCase("expired a day ago, and Date is of that time", .idToken(.expired)) {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims["iat"] = .integer(now - 87_000)
                claims["exp"] = .integer(now - 86_400)
            }
            $0.tokenHeaders = ["Date": HTTPDate.text(of: Date() - 86_700)]
        },
        ProviderCase("issued in a day, and Date is of that time", .idToken(.notYetValid)) {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims["iat"] = .integer(now + 86_400)
                claims["exp"] = .integer(now + 87_000)
            }
            $0.tokenHeaders = ["Date": HTTPDate.text(of: Date() + 86_500)]
        },
    ]

    /// The form of the token: its segments, its header, and names that occur twice.
    static let forms: [ProviderCase] = {
        var cases: [ProviderCase] = [
            .header("alg", nil, .idToken(.algorithm), "no alg"),
            .header("alg", .string(""), .idToken(.algorithm), "alg is empty"),
            .header("alg", .string("nOnE"), .idToken(.algorithm), "alg is nOnE"),
            .header("alg", .integer(256), .idToken(.algorithm), "alg is a number"),
            .header("alg", .string("RS1"), .idToken(.algorithm), "alg is unknown"),
            .header("crit", .array([.string("exp")]), .idToken(.algorithm), "a critical header parameter"),
            .response("id_token", nil, .idToken(.form), "no ID token"),
            .response("id_token", .null, .idToken(.form), "the ID token is null"),
            .response("id_token", .integer(7), .idToken(.form), "the ID token is a number"),
            .response("id_token", .string(""), .idToken(.form), "the ID token is empty"),
            .response("id_token", .string("a.b"), .idToken(.form), "the ID token has two segments"),
            .response("id_token", .string("a.b.c.d.e"), .idToken(.form), "the ID token is encrypted"),
        ]
        func add(_ name: String, _ apply: @escaping @Sendable (inout ScriptedProvider.Behavior) -> Void) {
            cases.append(ProviderCase(name, .idToken(.form), apply))
        }
        add("openid is dropped from the scope, and no ID token") {
            $0.tokens = { members in
                members["scope"] = .string("profile")
                members["id_token"] = nil
            }
        }
        add("the ID token has a fourth segment") { $0.idToken = { $0 + ".e30" } }
        add("a segment has padding") { $0.idToken = { $0 + "==" } }
        add("white space around the ID token") { $0.idToken = { " \($0)\n" } }
        add("the claims are a list") { $0.claimsText = { "[\($0)]" } }
        add("the claims are not JSON") { $0.claimsText = { $0 + "," } }
        add("alg twice in the header") { $0.headerText = { #"{"alg":"none","# + $0.dropFirst() } }
        let doubled = [
            #""iss":"https://evil.example.test""#, #""aud":"other""#, #""nonce":"other""#, #""sub":"mallory""#, #""sub":7"#,
            #""exp":9999999999"#, #""s\u0075b":"mallory""#,
        ]
        for member in doubled {
            add("a claim twice, first \(member)") { $0.claimsText = { "{\(member)," + $0.dropFirst() } }
            add("a claim twice, last \(member)") { $0.claimsText = { $0.dropLast() + ",\(member)}" } }
        }
        return cases
    }()
}
