import Foundation
import PingPush
import SignetAuthenticator
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("Push credentials")
struct PushCredentialTests {
    @Test("The Ping SDK's JSON of a push credential is read with its secret and written without it")
    func readsPingPushJSON() async throws {
        let fixture = try await PushClientFixture()
        let json = """
            {"id":"5A1F","userId":"u","resourceId":"","issuer":"Harbor Bank","displayIssuer":"Harbor Bank","accountName":"mira",
            "displayAccountName":"mira","serverEndpoint":"https://am.example.test/am/json/alpha/push/sns/message",
            "sharedSecret":"wh4BisPebv+FgKLqSuSZH/CS4ZuWe9A0P+pYsvNcd8U=","createdAt":757382400,"isLocked":false,
            "platform":"pingam"}
            """
        let credential = try JSONDecoder().decode(PushCredential.self, from: Data(json.utf8))
        #expect(credential.resourceId == "5A1F")
        #expect(credential.updateEndpoint == Sample.endpoint + "refresh")
        let saved = try await fixture.client.saveCredential(credential)
        #expect(saved.platform == .pingAM && saved.serverEndpoint + "?_action=" == Sample.endpoint)
        let notification = try await fixture.client.processNotification(messageData: PushClientFixture.message(to: "5A1F"))
        #expect(try await fixture.client.approveNotification(#require(notification).id))
        #expect(fixture.transport.requests.map(\.url) == [Sample.endpoint + "authenticate"])
        let written = try String(decoding: JSONEncoder().encode(saved), as: UTF8.self)
        #expect(!written.contains("haredSecret") && !written.contains("wh4B"))
        #expect("\(saved)\(String(reflecting: saved))".contains("wh4B") == false)
    }

    @Test("An invalid push credential is not saved")
    func refusesInvalidPushCredential() async throws {
        let fixture = try await PushClientFixture()
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
                try await fixture.client.saveCredential(credential)
            } throws: { error in
                if case PushError.invalidParameterValue(let text) = error {
                    !text.contains("am.example.test/push")
                } else {
                    false
                }
            }
        }
        #expect(try await fixture.client.getCredentials().isEmpty)
    }

    @Test("A credential with the required values only has defaults for the others")
    func pushCredentialHasDefaults() async {
        let made = PushCredential(
            issuer: "Bank", accountName: "mira", serverEndpoint: "https://am.example.test/push", sharedSecret: "secretKey123")
        let credential = await Task { made }.value
        #expect(!credential.id.isEmpty && credential.resourceId == credential.id && credential.userId == nil)
        #expect((credential.displayIssuer, credential.displayAccountName) == ("Bank", "mira"))
        #expect(credential.imageURL == nil && credential.backgroundColor == nil && credential.policies == nil)
        #expect(credential.lockingPolicy == nil && !credential.isLocked && credential.additionalData == nil)
        #expect(credential.platform == .pingAM && credential.platformName == "pingam")
        let base = "https://am.example.test/push"
        #expect(credential.serverEndpoint == base && credential.registrationEndpoint == base + "?_action=register")
        #expect(credential.authenticationEndpoint == base + "?_action=authenticate")
        #expect(credential.updateEndpoint == base + "?_action=refresh")
    }

    @Test("A credential keeps, encodes and describes the values that it was made with")
    func credentialValues() throws {
        let time = Date(timeIntervalSince1970: 1_609_459_200)
        var credential = PushCredential(
            id: "c-1", userId: "user-1", resourceId: "r-1", issuer: "Bank", displayIssuer: "The bank", accountName: "mira",
            displayAccountName: "Mira", serverEndpoint: "https://am.example.test/push", sharedSecret: "secretKey123",
            createdAt: time, imageURL: "https://x.test/a.png", backgroundColor: "#FF5733", policies: #"{"a":{}}"#,
            lockingPolicy: "a", isLocked: true, platform: .pingAM, additionalData: ["key": "value", "number": 42])
        #expect((credential.id, credential.userId, credential.resourceId) == ("c-1", "user-1", "r-1"))
        #expect((credential.displayIssuer, credential.displayAccountName) == ("The bank", "Mira"))
        #expect(credential.createdAt == time && credential.imageURL == "https://x.test/a.png")
        #expect(credential.backgroundColor == "#FF5733" && credential.policies == #"{"a":{}}"#)
        #expect(credential.lockingPolicy == "a" && credential.isLocked)
        #expect(credential.additionalData?["key"] as? String == "value" && credential.additionalData?["number"] as? Int == 42)
        let decoded = try JSONDecoder().decode(PushCredential.self, from: JSONEncoder().encode(credential))
        #expect(decoded.additionalData == nil)
        credential.additionalData = nil
        #expect(decoded == credential)
        for part in ["c-1", "The bank", "Mira", "pingam", "true"] { #expect(credential.description.contains(part)) }
        #expect(!credential.description.contains("secretKey123"))
    }

    @Test("The lock of a credential value can be set by its properties and its methods")
    func locksCredentialValue() {
        var credential = PushCredential(
            issuer: "Bank", accountName: "mira", serverEndpoint: "https://am.example.test/push", sharedSecret: Sample.secret)
        credential.lockCredential(policyName: "jailbreak")
        #expect(credential.isLocked && credential.lockingPolicy == "jailbreak")
        credential.unlockCredential()
        #expect(!credential.isLocked && credential.lockingPolicy == nil)
        credential.isLocked = true
        credential.lockingPolicy = "byApp"
        #expect(credential.isLocked && credential.lockingPolicy == "byApp")
    }

    @Test("Names of push types and platforms are read in any letter case, and unknown names are refused")
    func readsPushTypeNames() {
        #expect((try? PushType.fromString("Biometric")) == .biometric)
        #expect((try? PushPlatform.fromString("PING_AM")) == .pingAM)
        #expect(throws: PushError.self) { try PushType.fromString("shout") }
        #expect(throws: PushError.self) { try PushPlatform.fromString("other") }
    }
}
