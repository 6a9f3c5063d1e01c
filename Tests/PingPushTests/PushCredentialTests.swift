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

    @Test("Names of push types and platforms are read in any letter case, and unknown names are refused")
    func readsTypeNames() {
        #expect((try? PushType.fromString("Biometric")) == .biometric)
        #expect((try? PushPlatform.fromString("PING_AM")) == .pingAM)
        #expect(throws: PushError.self) { try PushType.fromString("shout") }
        #expect(throws: PushError.self) { try PushPlatform.fromString("other") }
    }
}
