import Foundation
import PingOath
import PingPush
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Credential values")
struct CredentialValueTests {
    @Test("A credential is unchanged after conversion to a URI and back, policies included")
    func credentialURIRoundTrip() async throws {
        let credential = OathCredential(
            userId: "user-7f3a", resourceId: "device-1", issuer: "Harbor Bank", accountName: "mira@example.test", oathType: .hotp,
            oathAlgorithm: .sha512, digits: 8, counter: 42, imageURL: "https://cdn.example.test/h.png",
            backgroundColor: "#336699", policies: #"{"biometricAvailable":{}}"#, secretKey: OathClientTests.key)
        let again = try await OathCredential.fromUri(try await credential.toUri())
        #expect(again.issuer == credential.issuer && again.accountName == credential.accountName)
        #expect((again.oathType, again.oathAlgorithm, again.digits, again.counter) == (.hotp, .sha512, 8, 42))
        #expect((again.userId, again.resourceId) == ("user-7f3a", "device-1"))
        #expect((again.imageURL, again.backgroundColor) == (credential.imageURL, credential.backgroundColor))
        #expect(again.policies == credential.policies)
        #expect(try await again.toUri() == credential.toUri())
        await #expect(throws: OathError.self) {
            try await OathCredential(issuer: "X", accountName: "y", oathType: .totp, secretKey: "").toUri()
        }
    }

    @Test("A credential's JSON and description contain no secret, and a decoded value keeps the stored secret when saved")
    func credentialJSONHidesSecret() async throws {
        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        let json = try String(decoding: JSONEncoder().encode(credential), as: UTF8.self)
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        let names = try #require(value.object).keys
        #expect(
            names.sorted() == [
                "accountName", "counter", "createdAt", "digits", "displayAccountName", "displayIssuer", "id", "isLocked",
                "issuer", "oathAlgorithm", "oathType", "period",
            ])
        var texts = [json, "\(credential)", String(reflecting: credential)]
        var dumped = ""
        dump(credential, to: &dumped)
        texts.append(dumped)
        let revealing = texts.filter { $0.contains(OathClientTests.key) || $0.contains("secret") }
        #expect(revealing.isEmpty)

        var decoded = try JSONDecoder().decode(OathCredential.self, from: Data(json.utf8))
        decoded.displayAccountName = "Mira"
        #expect(try await client.saveCredential(decoded).displayAccountName == "Mira")
        #expect(try await client.generateCode(credential.id) == "099169")
        let empty = try await OathClient.createClient { $0.storage = MemoryStorage() }
        await #expect(throws: OathError.self) { try await empty.saveCredential(decoded) }
    }

    @Test("The Ping SDK's JSON of a push credential is read with its secret and written without it")
    func readsPingPushJSON() async throws {
        let bench = try await PushBench()
        let json = """
            {"id":"5A1F","userId":"u","resourceId":"","issuer":"Harbor Bank","displayIssuer":"Harbor Bank","accountName":"mira",
            "displayAccountName":"mira","serverEndpoint":"https://am.example.test/am/json/alpha/push/sns/message",
            "sharedSecret":"wh4BisPebv+FgKLqSuSZH/CS4ZuWe9A0P+pYsvNcd8U=","createdAt":757382400,"isLocked":false,
            "platform":"pingam"}
            """
        let credential = try JSONDecoder().decode(PushCredential.self, from: Data(json.utf8))
        #expect(credential.resourceId == "5A1F")
        #expect(credential.updateEndpoint == Sample.endpoint + "refresh")
        let saved = try await bench.client.saveCredential(credential)
        #expect(saved.platform == .pingAM && saved.serverEndpoint + "?_action=" == Sample.endpoint)
        let notification = try await bench.client.processNotification(messageData: PushBench.message(to: "5A1F"))
        #expect(try await bench.client.approveNotification(#require(notification).id))
        #expect(bench.transport.requests.map(\.url) == [Sample.endpoint + "authenticate"])
        let written = try String(decoding: JSONEncoder().encode(saved), as: UTF8.self)
        #expect(!written.contains("haredSecret") && !written.contains("wh4B"))
        #expect("\(saved)\(String(reflecting: saved))".contains("wh4B") == false)
    }

    @Test("An invalid push credential is not saved")
    func refusesInvalidPushCredential() async throws {
        let bench = try await PushBench()
        let secret = Sample.secret
        func made(
            _ id: String? = nil, issuer: String = "X", endpoint: String = "https://am.example.test/push",
            _ secret: String = secret
        )
            -> PushCredential
        {
            PushCredential(id: id, issuer: issuer, accountName: "mira", serverEndpoint: endpoint, sharedSecret: secret)
        }
        for credential in [made(issuer: ""), made(endpoint: "http://am.example.test/push"), made("1", ""), made("1", "AAAA")] {
            await #expect {
                try await bench.client.saveCredential(credential)
            } throws: { error in
                if case PushError.invalidParameterValue(let text) = error {
                    !text.contains("am.example.test/push")
                } else {
                    false
                }
            }
        }
        #expect(try await bench.client.getCredentials().isEmpty)
    }

    @Test("Code information is unchanged after conversion to JSON and back")
    func codeInfoRoundTrip() throws {
        for info in [
            OathCodeInfo.forTotp(code: "012345", timeRemaining: 12, totalPeriod: 30), .forHotp(code: "755224", counter: 1),
            .forTotp(code: "1", timeRemaining: 0, totalPeriod: 0),
        ] {
            #expect(try OathCodeInfo.fromJson(info.toJson()) == info)
        }
        #expect(OathCodeInfo.forTotp(code: "1", timeRemaining: 12, totalPeriod: 30).progress == 0.6)
    }

    @Test("Type names are read in any letter case, and unknown names are refused")
    func readsTypeNames() {
        #expect((try? OathType.fromString("TOTP")) == .totp)
        #expect((try? OathAlgorithm.fromString("sha256")) == .sha256)
        #expect((try? PushType.fromString("Biometric")) == .biometric)
        #expect((try? PushPlatformName.fromString("PING_AM")) == .pingAM)
        #expect(throws: OathError.self) { try OathType.fromString("motp") }
        #expect(throws: OathError.self) { try OathAlgorithm.fromString("md5") }
        #expect(throws: PushError.self) { try PushType.fromString("shout") }
        #expect(throws: PushError.self) { try PushPlatformName.fromString("other") }
    }
}
