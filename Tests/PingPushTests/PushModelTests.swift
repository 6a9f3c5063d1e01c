import Foundation
import PingPush
import SignetCore
import SignetStorage
import Testing

@Suite("Push device tokens, platforms and types")
struct PushModelTests {
    @Test("Device tokens are compared by the token, and have an id and a time of their own")
    func comparesDeviceTokens() async {
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let (first, second) = (PushDeviceToken(token: "t-1", createdAt: time), PushDeviceToken(token: "t-1"))
        #expect(first.token == "t-1" && first.createdAt == time && !first.id.isEmpty && first.id != second.id)
        #expect(first == second && first != PushDeviceToken(token: "t-2", createdAt: time))
        #expect(abs(second.createdAt.timeIntervalSince(SystemWallClock().now)) < 60)
        let token = await Task { first.token }.value
        #expect(token == "t-1")
    }

    @Test("A device token is the same after it was encoded and decoded")
    func deviceTokenCoding() throws {
        let token = PushDeviceToken(id: "1", token: "t-1", createdAt: Date(timeIntervalSince1970: 1_700_000_000))
        let json = try JSONEncoder().encode(token)
        let decoded = try JSONDecoder().decode(PushDeviceToken.self, from: json)
        #expect(decoded == token && decoded.id == "1" && decoded.createdAt == token.createdAt)
        let members = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(Set(members.keys) == ["id", "token", "createdAt"])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PushDeviceToken.self, from: Data("{}".utf8)) }
    }

    @Test("The only platform is pingam, in any spelling of the SDKs, and other names are refused")
    func acceptsOnlyPingAMPlatform() throws {
        #expect(PushPlatform.allCases == [.pingAM] && PushPlatform.pingAM.rawValue == "pingam")
        for name in ["pingam", "PINGAM", "PingAM", "ping_am", "PING_AM", "ping-am", "PING-AM"] {
            #expect(try PushPlatform.fromString(name) == .pingAM)
        }
        #expect(try JSONEncoder().encode(PushPlatform.pingAM) == Data(#""pingam""#.utf8))
        #expect(try JSONDecoder().decode(PushPlatform.self, from: Data(#""pingam""#.utf8)) == .pingAM)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PushPlatform.self, from: Data(#""invalid""#.utf8)) }
    }

    @Test("An error for an unknown platform or type repeats a short, printable name only")
    func unknownNames() {
        for (name, shown) in [
            ("invalid", "invalid"), ("a\u{7}b", "(unprintable)"),
            (String(repeating: "x", count: 100), String(repeating: "x", count: 37) + "..."),
        ] {
            #expect { try PushPlatform.fromString(name) } throws: {
                if case PushError.invalidPlatform(shown) = $0 { true } else { false }
            }
            #expect { try PushType.fromString(name) } throws: {
                if case PushError.invalidPushType(shown) = $0 { true } else { false }
            }
        }
    }

    @Test("Push types have the names of the SDKs and are read in any letter case")
    func readsPushTypesInAnyCase() throws {
        #expect(PushType.allCases.map(\.rawValue) == ["default", "challenge", "biometric"])
        for type in PushType.allCases {
            #expect(try PushType.fromString(type.rawValue.uppercased()) == type)
            let json = try JSONEncoder().encode(type)
            #expect(try JSONDecoder().decode(PushType.self, from: json) == type)
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PushType.self, from: Data(#""other""#.utf8)) }
    }
}

@Suite("Errors of PingPush")
struct PushErrorTests {
    private struct Cause: LocalizedError {
        var errorDescription: String? { "the disk is full" }
    }

    static let described: [(PushError, [String])] = [
        (.notInitialized, ["closed"]), (.deviceTokenNotSet, ["setDeviceToken"]),
        (.initializationFailed("no vault", Cause()), ["Initialization failed", "no vault", "the disk is full"]),
        (.initializationFailed("no vault", nil), ["Initialization failed: no vault"]),
        (.invalidUri("no scheme"), ["Invalid Push URI: no scheme"]), (.missingRequiredParameter("challenge"), ["challenge"]),
        (.invalidParameterValue("blank"), ["Invalid parameter value: blank"]),
        (.uriFormatting("too long"), ["URI formatting failed: too long"]),
        (.invalidPushType("shout"), ["Invalid push type: shout"]), (.invalidPlatform("other"), ["Invalid platform: other"]),
        (.storageFailure("not written", Cause()), ["Storage failure", "not written", "the disk is full"]),
        (.storageFailure("not written", nil), ["Storage failure: not written"]),
        (.noHandlerForPlatform("carrier"), ["No handler available for platform: carrier"]),
        (.messageParsingFailed("signature"), ["Message parsing failed: signature"]),
        (.credentialNotFound("c-1"), ["Credential not found: c-1"]), (.credentialLocked("c-1"), ["Credential is locked: c-1"]),
        (.notificationNotFound("n-1"), ["Notification not found: n-1"]),
        (.policyViolation("deviceTampering"), ["Policy violation: deviceTampering"]),
        (.registrationFailed("refused"), ["refused"]),
        (.networkFailure("no route", Cause()), ["Network failure", "no route", "the disk is full"]),
        (.networkFailure("no route", nil), ["Network failure: no route"]),
        (.storageFailure("locked", StoreError(.busy, "read", "locked")), ["Storage failure: locked", "read"]),
    ]

    @Test("The localized description of an error says what happened", arguments: described)
    func describesPushErrors(row: (error: PushError, parts: [String])) {
        let error: any Error = row.error
        for part in row.parts { #expect(error.localizedDescription.contains(part)) }
    }

    @Test("Errors of a push storage describe themselves, and name the ids of duplicates")
    func storageErrors() async {
        let rows: [(PushStorageError, String)] = [
            (.storageFailure("not written", Cause()), "Storage failure: not written - the disk is full"),
            (.storageFailure("not written", nil), "Storage failure: not written"),
            (.duplicateCredential("c-1"), "Duplicate credential: c-1"),
            (.duplicateNotification("n-1"), "Duplicate notification: n-1"),
        ]
        for (error, text) in rows {
            let sent: any Error = await Task { error }.value
            #expect(sent.localizedDescription == text)
        }
    }

    @Test("An error with a retryable cause can be retried")
    func retriesErrorsWithRetryableCause() {
        #expect(PushError.storageFailure("", StoreError(.busy, "read", "")).isRetryable)
        #expect(!PushError.storageFailure("", Cause()).isRetryable && !PushError.notInitialized.isRetryable)
    }
}
