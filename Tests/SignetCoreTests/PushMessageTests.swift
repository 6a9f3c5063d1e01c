import Foundation
import SignetCore
import Testing

@Suite("Push messages")
struct PushMessageTests {
    private func sealed(_ claims: [String: JSONValue?], with secret: Secret? = nil) throws -> String {
        var all: [String: JSONValue] = ["u": .string(Sample.mechanismUID), "c": .string("mv+nOO/Qt7dJneRwwz4FMA==")]
        for (name, value) in claims { all[name] = value }
        return CompactJWS.sign(try JSON.encode(all), with: try secret ?? Sample.pushSecret)
    }

    private func open(_ claims: [String: JSONValue?]) throws -> PushMessage {
        try SealedPushMessage(sealed(claims)).open(with: Sample.pushSecret)
    }

    @Test("Every row of the vectors is accepted or refused as it states", arguments: try Vectors.rows("push", "messages"))
    func pushMessageVectors(row: Vectors.Row) throws {
        let jwt = try row.text("jwt")
        let secret = Secret(try Base64.decode(try #require(try Vectors.load("push")["secret"]?.string)))

        guard row.members["accept"] == .bool(true) else {
            let error = try #require(throws: PushMessageError.self) { try SealedPushMessage(jwt).open(with: secret) }
            let reasons = try row.text("reason").components(separatedBy: " or ")
            #expect(reasons.contains(Self.reason(of: error)), "\(error)")
            return
        }
        let message = try SealedPushMessage(jwt).open(with: secret)
        let claims = try #require(row.members["claims"]?.object)
        try Self.expect(message, says: claims)
        #expect(try SealedPushMessage(jwt).claimedMechanismUID() == message.mechanismUID)
    }

    @Test("An accepted row has the same content after it is sealed again", arguments: try Vectors.rows("push", "messages"))
    func resealsAcceptedRows(row: Vectors.Row) throws {
        guard row.members["accept"] == .bool(true) else { return }
        let message = try SealedPushMessage(row.text("jwt")).open(with: Sample.pushSecret)
        let again = try SealedPushMessage(message.sealed(with: Sample.pushSecret)).open(with: Sample.pushSecret)
        #expect(again == message)
    }

    private static func reason(of error: PushMessageError) -> String {
        error.code.rawValue + (error.claim.map { " \($0)" } ?? "")
    }

    /// Compares each claim of the row with the message, and expects nothing else in the message.
    private static func expect(_ message: PushMessage, says claims: [String: JSONValue]) throws {
        func base64(_ name: String) throws -> [UInt8]? {
            try claims[name]?.string.map { Array(try #require(Data(base64Encoded: $0))) }
        }
        #expect(message.mechanismUID == claims["u"]?.string)
        #expect(message.challenge == (try base64("c")))
        let cookieBytes = message.loadBalancerCookie.map { Array($0.utf8) }
        #expect(cookieBytes == (try base64("l")))
        #expect(Int64(message.timeToLive) == claims["t"]?.lenientInteger ?? 120)
        let sentAt = claims["i"]?.lenientInteger.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        #expect(message.sentAt == sentAt)
        #expect(message.text == claims["m"]?.string)
        #expect(message.customPayload == claims["p"]?.string)
        #expect(message.contextInfo == claims["x"]?.string)
        #expect(message.userID == claims["d"]?.string)
        #expect(message.otherClaims.isEmpty)
        if claims["k"]?.string == "challenge" {
            let choices = try #require(claims["n"]?.string).split(separator: ",").compactMap { Int($0) }
            #expect(message.kind == .number(choices: choices))
        } else {
            #expect(message.kind == .tap)
        }
    }

    @Test(
        "The push type is read in any letter case, and an unknown one becomes a tap",
        arguments: [
            ("default", nil, .tap), ("biometric", nil, .biometric), ("BIOMETRIC", nil, .biometric), (nil, "1,2,3", .tap),
            ("Challenge", "34,56,82", .number(choices: [34, 56, 82])),
            ("challenge", " 34, 56 ,82", .number(choices: [34, 56, 82])),
            ("challenge", "34,x,,82", .number(choices: [34, 82])), ("challenge", nil, .number(choices: [])),
            ("challenge", "any", .number(choices: [])), ("challenge", "", .number(choices: [])),
            ("carrier-pigeon", "1", .tap),
        ] as [(String?, String?, PushKind)])
    func readsPushTypes(name: String?, numbers: String?, kind: PushKind) throws {
        let message = try open(["k": name.map { .string($0) }, "n": numbers.map { .string($0) }])
        #expect(message.kind == kind)
    }

    @Test(
        "An unusable claim is named in the error",
        arguments: [
            ("c", nil), ("c", .null), ("c", .string("")), ("c", .string("!")), ("c", .integer(1)), ("u", nil), ("u", .string("")),
            ("u", .integer(1)), ("t", .string("soon")), ("t", .string("0")), ("t", .integer(-1)), ("t", .string("86401")),
            ("t", .number(1.5)), ("t", .bool(true)), ("t", .string("99999999999999999999")),
            ("l", .string("nonsense")),
        ] as [(String, JSONValue?)])
    func namesUnusableClaim(name: String, value: JSONValue?) throws {
        let error = try #require(throws: PushMessageError.self) { try open([name: value]) }
        #expect(error == .claim(name))
        #expect(error.description.contains("claim \(name) "))
    }

    @Test(
        "A number claim may be a number or a string",
        arguments: [
            (.integer(90), 90), (.string("90"), 90), (.number(90), 90), (.null, 120), (.integer(1), 1),
            (.string("86400"), 86_400),
        ] as [(JSONValue, Int)])
    func readsNumberClaims(value: JSONValue, seconds: Int) throws {
        #expect(try open(["t": value]).timeToLive == seconds)
        #expect(try open(["i": .integer(1_735_689_600_000)]).sentAt == Sample.newYear2025)
    }

    @Test(
        "A sending time that is not a number counts as absent",
        arguments: [.string("now"), .string(""), .integer(-1), .number(1.5), .bool(true), .null] as [JSONValue])
    func ignoresUnusableSendingTime(value: JSONValue) throws {
        let message = try open(["i": value])
        #expect(message.sentAt == nil && message.claims["i"] == value)
    }

    @Test("Unknown claims are kept by name, and JSON that is not in a string is read too")
    func keepsUnknownClaimsByName() throws {
        let message = try open([
            "e": .string("Mira's laptop"), "future": .object(["a": .array([.null])]),
            "p": .object(["b": .integer(1), "a": .bool(true)]),
        ])
        #expect(message.otherClaims == ["e": .string("Mira's laptop"), "future": .object(["a": .array([.null])])])
        #expect(message.customPayload == #"{"a":true,"b":1}"#)
    }

    @Test("Claims keep their original form, unusual and unused ones included")
    func keepsClaimsUnchanged() throws {
        let unusualClaims: [String: JSONValue] = [
            "t": .integer(60), "k": .string("holographic"), "m": .null, "n": .array([.integer(1)]), "x": .object(["a": .null]),
        ]
        let message = try open(unusualClaims)
        #expect(message.kind == .tap)
        #expect(message.text == nil)
        let keptClaims = message.claims.filter { unusualClaims[$0.key] != nil }
        #expect(keptClaims == unusualClaims)
        #expect(try PushMessage(claims: message.claims) == message)
    }

    @Test("A message made by a server is opened unchanged, to the millisecond", arguments: 0..<200)
    func opensServerMessage(millisecond: Int) throws {
        let sentAt = Date(timeIntervalSince1970: Double(1_735_689_600_000 + millisecond) / 1000)
        let message = PushMessage(
            mechanismUID: Sample.mechanismUID, challenge: [UInt8(millisecond)], kind: .number(choices: [1, 20, 99]),
            timeToLive: 60,
            sentAt: sentAt, text: "Zürich / \"quoted\" 🚀", loadBalancerCookie: "amlbcookie=01", customPayload: #"{"a":1}"#,
            contextInfo: "{}", userID: "mira")
        #expect(message.claims["i"] == .string(String(1_735_689_600_000 + millisecond)))
        #expect(try SealedPushMessage(message.sealed(with: Sample.pushSecret)).open(with: Sample.pushSecret) == message)
    }

    @Test("An extreme send time does not crash the reader", arguments: [.max, .max - 1, 1 << 62] as [Int64])
    func toleratesExtremeSendTime(milliseconds: Int64) throws {
        let message = try open(["i": .string(String(milliseconds))])
        #expect(try #require(message.sentAt) > .distantFuture)
        #expect(try SealedPushMessage(message.sealed(with: Sample.pushSecret)).open(with: Sample.pushSecret) == message)
    }

    @Test("A server clock without a valid time produces a message without a send time")
    func omitsInvalidSendTime() {
        let message = PushMessage(
            mechanismUID: "1", challenge: [1], kind: .tap, timeToLive: 60, sentAt: Date(timeIntervalSince1970: 1e300), text: nil)
        #expect(message.claims["i"] == nil)
    }

    @Test("The claimed mechanism id can be read before verification, and nothing else can")
    func readsClaimedMechanism() throws {
        let otherSecret = Secret([UInt8](repeating: 9, count: 32))
        let forged = try SealedPushMessage(sealed(["c": .string("!")], with: otherSecret))
        #expect(try forged.claimedMechanismUID() == Sample.mechanismUID)
        for payload in ["[]", "1", #"{"c":"AAAA"}"#, #"{"u":""}"#, #"{"u":1}"#, "not JSON", "", "\"u\""] {
            let message = try SealedPushMessage(CompactJWS.sign(Array(payload.utf8), with: otherSecret))
            #expect(throws: PushMessageError.self) { try message.claimedMechanismUID() }
        }
    }
}
