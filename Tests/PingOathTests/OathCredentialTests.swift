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

    @Test("A credential has the defaults of the Ping SDK, and an id of its own")
    func oathCredentialHasDefaults() {
        let made = (0..<2).map { _ in
            OathCredential(issuer: "Harbor Bank", accountName: "mira", oathType: .totp, secretKey: Sample.oathKey)
        }
        for credential in made {
            #expect(credential.displayIssuer == "Harbor Bank" && credential.displayAccountName == "mira")
            #expect(credential.oathAlgorithm == .sha1 && credential.digits == 6 && credential.period == 30)
            #expect(credential.counter == 0 && !credential.isLocked && credential.lockingPolicy == nil)
            #expect(credential.userId == nil && credential.resourceId == nil && credential.imageURL == nil)
            #expect(credential.backgroundColor == nil && credential.policies == nil && !credential.id.isEmpty)
        }
        #expect(made[0].id != made[1].id)
    }

    @Test("A credential keeps all values it is created with, and names its type and algorithm")
    func credentialKeepsValues() {
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let credential = OathCredential(
            id: "id-1", userId: "user", resourceId: "device", issuer: "X", displayIssuer: "The X", accountName: "mira",
            displayAccountName: "Mira", oathType: .hotp, oathAlgorithm: .sha256, digits: 8, period: 60, counter: 5,
            createdAt: time,
            imageURL: "https://cdn.example.test/x.png", backgroundColor: "#FF0000", policies: #"{"p":{}}"#, lockingPolicy: "p",
            isLocked: true, secretKey: Sample.oathKey)
        #expect(credential.id == "id-1" && credential.userId == "user" && credential.resourceId == "device")
        #expect(credential.displayIssuer == "The X" && credential.displayAccountName == "Mira")
        #expect(credential.type == "hotp" && credential.algorithm == "SHA256")
        #expect((credential.digits, credential.period, credential.counter, credential.createdAt) == (8, 60, 5, time))
        #expect(credential.imageURL == "https://cdn.example.test/x.png" && credential.backgroundColor == "#FF0000")
        #expect(credential.policies == #"{"p":{}}"# && credential.lockingPolicy == "p" && credential.isLocked)
    }

    @Test("The display names, the counter and the lock of a credential can be set in any order")
    func credentialIsMutable() async throws {
        var credential = OathCredential(issuer: "X", accountName: "mira", oathType: .hotp, secretKey: Sample.oathKey)
        credential.displayIssuer = "The X"
        credential.displayAccountName = "Mira"
        credential.counter = 10
        credential.lockingPolicy = "lost phone"
        credential.isLocked = true
        #expect(credential.displayIssuer == "The X" && credential.displayAccountName == "Mira" && credential.counter == 10)
        #expect(credential.lockingPolicy == "lost phone" && credential.isLocked)
        #expect(credential.issuer == "X" && credential.accountName == "mira")

        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        let saved = try await client.saveCredential(credential)
        #expect(saved.isLocked && saved.lockingPolicy == "lost phone" && saved.counter == 10)
        var unlocked = saved
        unlocked.isLocked = false
        #expect(try await !client.saveCredential(unlocked).isLocked)
        #expect(try await client.generateCodeWithValidity(saved.id).counter == 11)
    }

    static let codeInfos: [(info: OathCodeInfo, time: Int, counter: Int, progress: Double, period: Int)] = [
        (.forTotp(code: "012345", timeRemaining: 12, totalPeriod: 30), 12, -1, 0.6, 30),
        (.forTotp(code: "012345", timeRemaining: 30, totalPeriod: 30), 30, -1, 0, 30),
        (.forTotp(code: "012345", timeRemaining: 0, totalPeriod: 30), 0, -1, 1, 30),
        (.forTotp(code: "012345", timeRemaining: 40, totalPeriod: 30), 40, -1, -1 / 3, 30),
        (.forTotp(code: "", timeRemaining: 0, totalPeriod: 0), 0, -1, 0, 0),
        (.forHotp(code: "755224", counter: 0), -1, 0, 0, 0),
        (.forHotp(code: #"a"\b"#, counter: .max), -1, .max, 0, 0),
    ]

    @Test(
        "Code information has the values of the Ping SDK, and is unchanged after conversion to JSON and back",
        arguments: codeInfos)
    func codeInfoRoundTrip(row: (info: OathCodeInfo, time: Int, counter: Int, progress: Double, period: Int)) throws {
        #expect((row.info.timeRemaining, row.info.counter, row.info.totalPeriod) == (row.time, row.counter, row.period))
        #expect(abs(row.info.progress - row.progress) < 0.0001)
        #expect(try OathCodeInfo.fromJson(row.info.toJson()) == row.info)
        #expect(try JSONDecoder().decode(OathCodeInfo.self, from: JSONEncoder().encode(row.info)) == row.info)
    }

    @Test("JSON that is not code information is refused", arguments: ["", "no JSON", "{}", #"{"code":"1"}"#, "\u{0}", "[]"])
    func codeInfoRefusesOtherJSON(json: String) {
        #expect(throws: DecodingError.self) { try OathCodeInfo.fromJson(json) }
    }

    @Test("Type names are read in any letter case, and unknown names are refused")
    func readsOathTypeNames() {
        #expect((try? OathType.fromString("TOTP")) == .totp)
        #expect((try? OathAlgorithm.fromString("sha256")) == .sha256)
        #expect(throws: OathError.self) { try OathType.fromString("motp") }
        #expect(throws: OathError.self) { try OathAlgorithm.fromString("md5") }
    }
}
