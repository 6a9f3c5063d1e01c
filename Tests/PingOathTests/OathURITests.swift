import PingOath
import SignetAuthenticator
import SignetCore
import SignetStorage
import TestSupport
import Testing

@Suite("Enrollment URIs of PingOath")
struct OathURITests {
    private static let key = Sample.oathKey

    static let accepted: [(uri: String, type: String, digits: Int, period: Int, counter: Int)] = [
        ("otpauth://totp/X:mira?secret=\(key)", "totp", 6, 30, 0),
        ("otpauth://totp/X:mira?secret=\(key)&issuer=X&digits=4&period=300&algorithm=sha512", "totp", 4, 300, 0),
        ("otpauth://totp/X:mira?secret=\(key)&digits=7&period=1", "totp", 7, 1, 0),
        ("otpauth://hotp/X:mira?secret=\(key)&counter=5&digits=8", "hotp", 8, 30, 5),
        ("mfauth://totp/X:mira?secret=\(key)&issuer=WA&oid=b2lk&uid=dWlk", "totp", 6, 30, 0),
        ("otpauth://totp/x:mira?secret=\(key)&issuer=X", "totp", 6, 30, 0),
    ]

    @Test("A URI of one-time codes is read; an mfauth URI needs no part for push", arguments: accepted)
    func readsOathURI(row: (uri: String, type: String, digits: Int, period: Int, counter: Int)) async throws {
        let credential = try await OathCredential.fromUri(row.uri)
        #expect(credential.issuer == "X" && credential.accountName == "mira" && credential.type == row.type)
        #expect((credential.digits, credential.period, credential.counter) == (row.digits, row.period, row.counter))
        if row.uri.hasPrefix("mfauth") { #expect((credential.userId, credential.resourceId) == ("uid", "oid")) }
    }

    private static let isURI: @Sendable (OathError) -> Bool = { if case .invalidUri = $0 { true } else { false } }
    private static let isValue: @Sendable (OathError) -> Bool = { if case .invalidParameterValue = $0 { true } else { false } }

    /// URIs, the error, and whether the engine, and with it `signet enroll` and imports, reads them.
    static let refused: [(uri: String, isExpected: @Sendable (OathError) -> Bool, engineReads: Bool)] = [
        ("no URI at all", isURI, false),
        ("javascript:alert(1)//totp/mira?secret=\(key)", isURI, false),
        ("otpauth://totp/?secret=\(key)", isURI, false),
        ("otpauth://totp/X:../../mira?secret=\(key)", isURI, true),
        ("otpauth://totp/X:mira/..%2Fotto?secret=\(key)", isURI, true),
        ("otpauth://totp/X:%3Cscript%3Emira?secret=\(key)", isURI, true),
        ("otpauth://totp/X:javascript:mira?secret=\(key)", isURI, true),
        ("otpauth://totp/X:mi%E2%80%AEra?secret=\(key)", isURI, false),
        ("otpauth://totp/X:mi\0ra?secret=\(key)", isURI, false),
        ("otpauth://totp/X:mira?secret=\(key)&issuer=Y", isURI, true),
        ("otpauth://totp/X:mira?secret=\(key)&issuer=%3Cscript%3EX", isValue, true),
        ("otpauth://totp/X:mira?secret=\(key)&image=JavaScript:alert(1)", isURI, true),
        ("otpauth://totp/X:mira?secret=\(key)&image=" + String(repeating: "a", count: 257), isValue, true),
        ("otpauth://totp/X:mira?secret=\(key)&x=" + String(repeating: "a", count: 4096), isURI, true),
        ("otpauth://totp/X:mira?secret=\(key)&period=301", isValue, true),
        ("otpauth://totp/X:mira?secret=\(key)&period=0", isValue, false),
        ("otpauth://totp/X:mira?secret=\(key)&digits=9", isValue, true),
        ("otpauth://totp/X:mira?secret=\(key)&digits=11", isValue, false),
        ("otpauth://totp/X:mira?secret=\(key)&encoder=steam", isURI, true),
        ("otpauth://totp/Steam:mira?secret=\(key)&digits=5", isURI, true),
        ("steam://\(key)", isURI, true),
        ("otpauth://totp/X:mira?secret=\(key)&digits=3", isValue, false),
        ("otpauth://hotp/X:mira?secret=\(key)&counter=-1", isValue, false),
        ("otpauth://motp/X:mira?secret=\(key)", isURI, false),
        ("pushauth://push/X:mira?secret=\(key)", isURI, false),
    ]

    @Test("The limits of the Ping SDK hold in this module and not in the engine", arguments: refused)
    func keepsLimitsOfPingSDK(row: (uri: String, isExpected: @Sendable (OathError) -> Bool, engineReads: Bool)) async throws {
        await #expect {
            _ = try await OathCredential.fromUri(row.uri)
        } throws: { error in
            (error as? OathError).map(row.isExpected) == true && !"\(error)".contains(Self.key)
        }
        let engineReads = (try? EnrollmentURI.parse(row.uri)) != nil
        #expect(engineReads == row.engineReads)
    }

    @Test("The first code of a counter URI is that of its counter", arguments: [(0, "0"), (5, "5")])
    func firstCodeUsesCounter(counter: Int, parameter: String) async throws {
        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        let uri = "otpauth://hotp/Example:mira?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=\(parameter)"
        let credential = try await client.addCredentialFromUri(uri)
        // RFC 4226 appendix D.
        let codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922"]
        let info = try await client.generateCodeWithValidity(credential.id)
        #expect((info.code, info.counter) == (codes[counter], counter + 1))
        #expect(try await client.generateCode(credential.id) == codes[counter + 1])
    }

    @Test("A credential with a longer period than the limit is not saved as a new one, and a stored one stays usable")
    func limitsPeriodOfNewCredentials() async throws {
        let store = AccountRecords(unsealed: MemoryStore())
        let client = try await OathClient.createClient { $0.storage = store }
        let long = OathCredential(issuer: "X", accountName: "mira", oathType: .totp, period: 301, secretKey: Sample.oathKey)
        await #expect {
            try await client.saveCredential(long)
        } throws: {
            if case OathError.invalidParameterValue = $0 { true } else { false }
        }
        #expect(try await client.getCredentials().isEmpty)

        let period = try #require(OTPPeriod(seconds: 3600))
        let settings = OATHSettings(secret: Secret([1]), factor: .time(period: period))
        let account = AccountID(issuer: "X", accountName: "mira")
        _ = try await Authenticator(store: store).enroll(Enrollment(account: account, oath: settings))
        var stored = try #require(try await client.getCredentials().first)
        stored.displayIssuer = "The X"
        #expect(try await client.saveCredential(stored).displayIssuer == "The X")
        #expect(try await client.generateCodeWithValidity(stored.id).totalPeriod == 3600)
    }
}
