import Foundation
import PingOath
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("OATH credentials")
struct OathCredentialTests {
    @Test("A credential is unchanged after conversion to a URI and back, policies included")
    func credentialURIRoundTrip() async throws {
        let credential = OathCredential(
            userId: "user-7f3a", resourceId: "device-1", issuer: "Harbor Bank", accountName: "mira@example.test", oathType: .hotp,
            oathAlgorithm: .sha512, digits: 8, counter: 42, imageURL: "https://cdn.example.test/h.png",
            backgroundColor: "#336699", policies: #"{"biometricAvailable":{}}"#, secretKey: Sample.oathKey)
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
        let revealing = texts.filter { $0.contains(Sample.oathKey) || $0.contains("secret") }
        #expect(revealing.isEmpty)

        var decoded = try JSONDecoder().decode(OathCredential.self, from: Data(json.utf8))
        decoded.displayAccountName = "Mira"
        #expect(try await client.saveCredential(decoded).displayAccountName == "Mira")
        #expect(try await client.generateCode(credential.id) == "099169")
        let empty = try await OathClient.createClient { $0.storage = MemoryStorage() }
        await #expect(throws: OathError.self) { try await empty.saveCredential(decoded) }
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
        #expect(throws: OathError.self) { try OathType.fromString("motp") }
        #expect(throws: OathError.self) { try OathAlgorithm.fromString("md5") }
    }
}
