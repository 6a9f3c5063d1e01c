import SignetCore
import Testing

@Suite("HOTP, RFC 4226")
struct HOTPTests {
    @Test("HOTP generates every code of the vectors", arguments: try Vectors.rows("otp", "hotp"))
    func hotpVectors(row: Vectors.Row) throws {
        let settings = OATHSettings(
            secret: Secret(try Base32.decode(try row.text("secret"))),
            algorithm: try #require(OTPAlgorithm(rawValue: try row.text("algorithm"))),
            digits: try #require(OTPDigits(Int(try row.number("digits")))),
            factor: .counter(next: UInt64(try row.number("counter"))))
        let code = settings.code(at: Sample.newYear2025)

        #expect(code.digits == (try row.text("code")))
        #expect(code.basis == .counter(UInt64(try row.number("counter"))))
    }

    @Test(
        "HOTP generates the ten codes of RFC 4226 appendix D",
        arguments: zip(
            0..<10,
            [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ]))
    func hotpRFC4226Codes(counter: Int, code: String) {
        #expect(HOTP.code(secret: Secret("12345678901234567890".utf8), counter: UInt64(counter)) == code)
    }

    @Test(
        "HOTP generates the codes of the second secret in section 2.2",
        arguments: zip(
            0..<7,
            [
                "282760", "996554", "602287", "143627", "960129", "768897", "883951",
            ]))
    func hotpSecondSecret(counter: Int, code: String) throws {
        #expect(HOTP.code(secret: Secret(try Base32.decode("JBSWY3DPEHPK3PXP")), counter: UInt64(counter)) == code)
    }

    @Test("A code of n digits is the suffix of the ten-digit code", arguments: OTPDigits.range, OTPAlgorithm.allCases)
    func hotpShorterCodesAreSuffixes(count: Int, algorithm: OTPAlgorithm) throws {
        let digits = try #require(OTPDigits(count))
        let ten = try #require(OTPDigits(10))
        for counter in [0, 1, 99, 1 << 40, UInt64.max] {
            let long = HOTP.code(secret: try Sample.oathSecret, counter: counter, digits: ten, algorithm: algorithm)
            let short = HOTP.code(secret: try Sample.oathSecret, counter: counter, digits: digits, algorithm: algorithm)
            #expect(short == long.suffix(count))
            #expect(short.utf8.count == count)
        }
    }

    @Test(
        "A code of nine or ten digits has the last digits of the decimal number in appendix D of RFC 4226",
        arguments: [
            (0, "1284755224"), (1, "1094287082"), (2, "0137359152"), (3, "1726969429"), (4, "1640338314"), (5, "0868254676"),
            (6, "1918287922"), (7, "0082162583"), (8, "0673399871"), (9, "0645520489"),
        ])
    func hotpWholeNumbers(counter: Int, number: String) throws {
        let secret = Secret("12345678901234567890".utf8)
        let (nine, ten) = (try #require(OTPDigits(9)), try #require(OTPDigits(10)))
        #expect(HOTP.code(secret: secret, counter: UInt64(counter), digits: ten) == number)
        #expect(HOTP.code(secret: secret, counter: UInt64(counter), digits: nine) == number.dropFirst())
    }

    @Test("HOTP codes keep leading zeros")
    func hotpKeepsLeadingZeros() throws {
        #expect(HOTP.code(secret: try Sample.oathSecret, counter: 7) == "099169")
    }

    @Test(
        "A code length outside 4 to 10 digits is refused",
        arguments: [(-1, false), (0, false), (3, false), (4, true), (9, true), (10, true), (11, false)])
    func hotpDigitRange(count: Int, exist: Bool) {
        #expect((OTPDigits(count)?.count == count) == exist)
    }

    @Test(
        "An algorithm is read from each common spelling",
        arguments: [
            ("SHA1", OTPAlgorithm.sha1), ("sha1", .sha1), ("Sha-1", .sha1), ("HmacSHA1", .sha1), ("SHA256", .sha256),
            ("sha-256", .sha256), ("HMAC-SHA-256", .sha256), ("HmacSHA512", .sha512), ("sha512", .sha512),
        ])
    func readsAlgorithmSpellings(spelling: String, algorithm: OTPAlgorithm) {
        #expect(OTPAlgorithm(spelling: spelling) == algorithm)
    }

    @Test(
        "An unknown algorithm is refused",
        arguments: ["", "MD5", "SHA", "SHA224", "SHA384", "SHA3-256", "ROT13", "HMAC", "none"])
    func refusesUnknownHOTPAlgorithm(spelling: String) {
        #expect(OTPAlgorithm(spelling: spelling) == nil)
    }
}
