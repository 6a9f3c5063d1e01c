import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import FRAuthenticator

@Suite("JSON of accounts, mechanisms and notifications")
struct ModelTests {
    private static func members(_ json: String?) throws -> [String: JSONValue] {
        guard let json, let members = try JSON.value(of: json.utf8).object else { throw Unexpected() }
        return members
    }

    /// One object of each kind.
    private static func objects() async throws -> (Account, TOTPMechanism, HOTPMechanism, PushMechanism, PushNotification) {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let (_, totp, push) = try await fixture.enrollBoth()
        guard let hotp = try await fixture.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism else {
            throw Unexpected()
        }
        let notification = try fixture.receive(kind: .number(choices: [34, 56, 82]))
        return (try fixture.enrolled().account, totp, hotp, push, notification)
    }

    @Test("Models write the JSON members of the iOS SDK, with null for missing values")
    func writesMembersOfIOSSDK() async throws {
        let (account, totp, hotp, push, notification) = try await Self.objects()
        let oath = [
            "id", "mechanismUID", "issuer", "accountName", "secret", "type", "uid", "resourceId", "timeAdded", "oathType",
            "algorithm", "digits",
        ]
        #expect(
            Set(try Self.members(account.toJson()).keys) == [
                "id", "issuer", "accountName", "displayIssuer", "displayAccountName", "imageURL", "backgroundColor", "timeAdded",
                "policies", "lockingPolicy", "lock",
            ])
        #expect(Set(try Self.members(totp.toJson()).keys) == Set(oath + ["period"]))
        #expect(Set(try Self.members(hotp.toJson()).keys) == Set(oath + ["counter"]))
        #expect(
            Set(try Self.members(push.toJson()).keys) == [
                "id", "mechanismUID", "issuer", "accountName", "secret", "type", "uid", "resourceId", "timeAdded",
                "registrationEndpoint", "authenticationEndpoint", "messageId", "challenge", "loadBalancer",
            ])
        #expect(
            Set(try Self.members(notification.toJson()).keys).isSuperset(of: [
                "id", "mechanismUID", "messageId", "challenge", "amlbCookie", "ttl", "timeAdded", "timeExpired", "pending",
                "approved", "message", "customPayload", "contextInfo", "numbersChallenge", "pushType",
            ]))
        let values = try Self.members(totp.toJson())
        #expect(values["id"] == .string("Harbor Bank-mira-totp"))
        #expect(values["type"] == .string("otpauth"))
        #expect(values["oathType"] == .string("totp"))
        #expect(values["algorithm"] == .string("sha1"))
        #expect(values["secret"] == .string(Sample.oathSecret))
        #expect(values["timeAdded"] == .integer(1_735_689_600_000))
        #expect(values["uid"] == .null)
        #expect(try Self.members(push.toJson())["secret"] == .string(Sample.secret))
        #expect(try Self.members(notification.toJson())["timeExpired"] == .integer(1_735_689_720_000))
    }

    @Test("Models stay equal after a round trip through their JSON and through Codable")
    func roundTripsThroughJSONAndCodable() async throws {
        let (account, totp, hotp, push, notification) = try await Self.objects()
        account.displayIssuer = "Harbour"
        account.lock(policy: NamedPolicy(name: "custom"))
        for mechanism in [totp, hotp, push] as [Mechanism] {
            #expect(try Mechanisms.fromJson(mechanism.toJson() ?? "").toJson() == mechanism.toJson())
        }
        #expect(try Account.fromJson(account.toJson() ?? "").toJson() == account.toJson())
        #expect(try PushNotification.fromJson(notification.toJson() ?? "").toJson() == notification.toJson())
        let token = PushDeviceToken(tokenId: "AB01", timeAdded: Sample.start)
        #expect(try PushDeviceToken.fromJson(token.toJson() ?? "") == token)

        func coded<Value: Codable>(_ value: Value) throws -> Value {
            try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
        }
        #expect(try coded(account).toJson() == account.toJson())
        #expect(try coded(totp).toJson() == totp.toJson())
        #expect(try coded(hotp).toJson() == hotp.toJson())
        #expect(try coded(push).toJson() == push.toJson())
        #expect(try coded(notification).toJson() == notification.toJson())
        #expect(try coded(token) == token)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TOTPMechanism.self, from: JSONEncoder().encode(hotp))
        }
    }

    @Test("Models read the JSON of the Android SDK")
    func readsJSONOfAndroidSDK() throws {
        let account = try Account.fromJson(
            ##"{"id":"Harbor Bank-mira","issuer":"Harbor Bank","accountName":"mira","backgroundColor":"#336699","timeAdded":1735689600000,"lock":true,"lockingPolicy":"custom","policies":"{\"custom\":{}}"}"##
        )
        #expect(account.lockingPolicy == "custom")
        #expect(account.policies == #"{"custom":{}}"#)
        // The Android SDK leaves out the time of an account that was enrolled from a URI.
        let timeless = try Account.fromJson(
            #"{"id":"Harbor Bank-mira","issuer":"Harbor Bank","accountName":"mira","lock":false}"#)
        #expect(timeless.identifier == account.identifier && timeless.timeAdded < account.timeAdded)
        // The Android SDK increments the counter before it computes a code: the counter it stored has been used.
        for (type, counter) in [("HOTP", 8), ("hotp", 7)] as [(String, UInt64)] {
            let hotp = try Mechanisms.fromJson(
                #"{"id":"Harbor Bank-mira-otpauth","mechanismUID":"b1c0","issuer":"Harbor Bank","accountName":"mira","secret":"KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD","type":"otpauth","oathType":"\#(type)","algorithm":"SHA1","digits":6,"counter":7,"timeAdded":1735689600000}"#
            )
            #expect((hotp as? HOTPMechanism)?.counter == counter)
        }
        let totp = try Mechanisms.fromJson(
            #"{"id":"Harbor Bank-mira-otpauth","mechanismUID":"b1c0","issuer":"Harbor Bank","accountName":"mira","secret":"KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD","type":"otpauth","oathType":"TOTP","algorithm":"SHA256","digits":8,"period":60,"timeAdded":1735689600000}"#
        )
        #expect((totp as? TOTPMechanism)?.period == 60)
        #expect((totp as? TOTPMechanism)?.algorithm == "sha256")
        let push = try Mechanisms.fromJson(
            #"{"id":"x","mechanismUID":"b1c1","issuer":"Harbor Bank","accountName":"mira","secret":"wh4BisPebv+FgKLqSuSZH/CS4ZuWe9A0P+pYsvNcd8U=","type":"pushauth","registrationEndpoint":"https:\/\/am.example.test\/r","authenticationEndpoint":"https:\/\/am.example.test\/a","timeAdded":1735689600000}"#
        )
        #expect(push is PushMechanism)
        let notification = try PushNotification.fromJson(
            #"{"id":"b1c1-1735689600000","mechanismUID":"b1c1","messageId":"AUTHENTICATE:1","message":"Login","challenge":"mv+nOO/Qt7dJneRwwz4FMNoN7S/MVWMc5n3LyvHdj3o=","amlbCookie":"amlbcookie=01","timeAdded":1735689600000,"timeExpired":1735689720000,"ttl":120,"approved":false,"pending":false,"numbersChallenge":"34, 56,82","pushType":"challenge"}"#
        )
        #expect(notification.isDenied)
        #expect(notification.numbersChallengeArray == [34, 56, 82])
        #expect(notification.timeExpired == Sample.start.addingTimeInterval(120))
    }

    @Test("The JSON and the archive of a mechanism of Steam name its type, which other SDKs refuse, and are read back")
    func writesTypeOfSteam() throws {
        let text = #"""
            {"mechanismUID":"b1c0","issuer":"Steam","accountName":"gordon","secret":"KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD",
            "type":"otpauth","oathType":"steam","algorithm":"sha1","digits":5,"period":30,"timeAdded":1735689600000}
            """#
        let decoded = try Mechanisms.fromJson(text)
        let mechanism = try #require(decoded as? TOTPMechanism)
        let secret = Secret(try Base32.decode("KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"))
        #expect(mechanism.core.oath == OATHSettings.steam(secret: secret) && mechanism.type == "totp")
        #expect(try Self.members(mechanism.toJson())["oathType"] == .string("steam"))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: mechanism, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: TOTPMechanism.self, from: archive)
        #expect(again?.core.oath == OATHSettings.steam(secret: secret))
    }

    @Test(
        "Damaged JSON of a mechanism is refused with the name of the wrong member",
        arguments: [
            (
                #"{"type":"otpauth","oathType":"hotp","mechanismUID":"u","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1}"#,
                "counter"
            ),
            (
                #"{"type":"otpauth","oathType":"totp","mechanismUID":"u","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1,"digits":3}"#,
                "digits"
            ),
            (
                #"{"type":"otpauth","oathType":"totp","mechanismUID":"u","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1,"algorithm":"md5"}"#,
                "algorithm"
            ),
            (
                #"{"type":"carrier pigeon","mechanismUID":"u","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1}"#,
                "type"
            ),
            (
                #"{"type":"otpauth","oathType":"totp","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1}"#,
                "mechanismUID"
            ),
            ("[]", "object"), ("", "object"),
        ])
    func refusesDamagedMechanismJSON(json: String, names: String) {
        let error = #expect(throws: DecodingError.self) { try Mechanisms.fromJson(json) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("expected DecodingError.dataCorrupted")
            return
        }
        #expect(context.debugDescription.contains(names))
        #expect(!context.debugDescription.contains("KDJ7CDBN"))
    }

    @Test("An account stored as locked without a policy name is locked and can be unlocked")
    func unlocksAccountLockedWithoutPolicyName() throws {
        let json = #"{"issuer":"i","accountName":"a","timeAdded":1,"lock":true}"#
        let recording = ClientRecording()
        _ = recording.change("add") { $0.accounts["i-a"] = json }
        let client = try ClientFixture(RecordingClient(recording)).client
        let account = try #require(client.getAccount(identifier: "i-a"))
        #expect(account.lock && account.lockingPolicy == "unknown")
        let unlocked = try client.unlockAccount(account: account)
        #expect(unlocked && client.getAccount(identifier: "i-a")?.lock == false)
    }

    @Test("Models read each JSON test vector as SignetCore does")
    func readsJSONVectorsAsSignetCore() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../SignetCoreTests/Vectors/forgerock.json")
        let vectors = try JSON.value(of: Data(contentsOf: file))
        for row in try #require(vectors["accounts"]?.array) {
            try compare(row) {
                try Account.fromJson($0).core
            } with: {
                try SignetCore.Account(forgeRock: $0)
            }
        }
        for row in try #require(vectors["mechanisms"]?.array) {
            try compare(row) {
                try Mechanisms.fromJson($0).core
            } with: {
                try SignetCore.Mechanism(forgeRock: $0, defaultTime: Date(timeIntervalSince1970: 0))
            }
        }
        for row in try #require(vectors["notifications"]?.array) {
            try compare(row) {
                try PushNotification.fromJson($0).core
            } with: {
                try SignetCore.PushNotification(forgeRock: $0)
            }
        }
    }

    /// Compares the value that this module reads from a row with the value that SignetCore reads.
    private func compare<Value: Equatable>(
        _ row: JSONValue, _ read: (String) throws -> Value?, with reference: (JSONMembers) throws -> Value
    ) throws {
        let json = try #require(row["json"])
        let value = try? read(JSON.text(of: json))
        let wanted = try? reference(JSONMembers(try #require(json.object)))
        #expect(value == wanted, "\(row["name"]?.string ?? "")")
        #expect((value == nil) == (row["refuses"] != nil), "\(row["name"]?.string ?? "")")
        for (name, member) in row["reads"]?.object ?? [:] where name == "lockingPolicy" {
            #expect((value as? SignetCore.Account)?.lockingPolicy == member.string, "\(row["name"]?.string ?? "")")
        }
    }
}
