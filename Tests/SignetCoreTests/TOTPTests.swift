import Foundation
import SignetCore
import Testing

@Suite("TOTP, RFC 6238")
struct TOTPTests {
    @Test("TOTP generates every code of the vectors", arguments: try Vectors.rows("otp", "totp"))
    func totpVectors(row: Vectors.Row) throws {
        let date = Date(timeIntervalSince1970: Double(try row.number("time")))
        let period = try #require(OTPPeriod(seconds: Int(try row.number("period"))))
        let settings = OATHSettings(
            secret: Secret(try Base32.decode(try row.text("secret"))),
            algorithm: try #require(OTPAlgorithm(rawValue: try row.text("algorithm"))),
            digits: try #require(OTPDigits(Int(try row.number("digits")))),
            factor: .time(period: period))
        let direct = TOTP.code(
            secret: settings.secret, at: date, period: period, digits: settings.digits, algorithm: settings.algorithm)

        #expect(settings.code(at: date).digits == (try row.text("code")))
        #expect(direct == (try row.text("code")))
    }

    /// RFC 6238 appendix B, with keys as in the reference code of appendix A: the digits repeated to the hash's length.
    static let rfc6238: [(time: Double, sha1: String, sha256: String, sha512: String)] = [
        (59, "94287082", "46119246", "90693936"),
        (1_111_111_109, "07081804", "68084774", "25091201"),
        (1_111_111_111, "14050471", "67062674", "99943326"),
        (1_234_567_890, "89005924", "91819424", "93441116"),
        (2_000_000_000, "69279037", "90698825", "38618901"),
        (20_000_000_000, "65353130", "77737706", "47863826"),
    ]

    @Test("TOTP generates the codes of the table in RFC 6238 appendix B", arguments: rfc6238)
    func totpRFC6238Table(row: (time: Double, sha1: String, sha256: String, sha512: String)) {
        func code(_ algorithm: OTPAlgorithm, keyLength: Int) -> String {
            let key = Secret((0..<keyLength).map { UInt8(ascii: "0") + UInt8(($0 + 1) % 10) })
            let date = Date(timeIntervalSince1970: row.time)
            return TOTP.code(secret: key, at: date, digits: .eight, algorithm: algorithm)
        }
        #expect(code(.sha1, keyLength: 20) == row.sha1)
        #expect(code(.sha256, keyLength: 32) == row.sha256)
        #expect(code(.sha512, keyLength: 64) == row.sha512)
    }

    @Test(
        "A step begins with its first instant and ends before the next step",
        arguments: [
            (0.0, 30, 0), (29.999, 30, 0), (30, 30, 1), (59.999, 30, 1), (60, 60, 1), (59, 1, 59),
            (1_735_689_600, 30, 57_856_320),
        ])
    func totpStepBounds(time: Double, period: Int, step: UInt64) throws {
        #expect(TOTP.step(at: Date(timeIntervalSince1970: time), period: try Sample.period(period)) == step)
    }

    @Test(
        "Before 1970 the code is that of the first step and is not yet valid",
        arguments: [-0.001, -30, -1e9, -6e10])
    func totpBefore1970(time: Double) throws {
        let settings = OATHSettings(secret: try Sample.oathSecret)
        let date = Date(timeIntervalSince1970: time)
        let code = settings.code(at: date)

        #expect(TOTP.step(at: date, period: .thirtySeconds) == 0)
        #expect(code == settings.code(at: Date(timeIntervalSince1970: 0)))
        #expect(!code.isValid(at: date))
    }
}
