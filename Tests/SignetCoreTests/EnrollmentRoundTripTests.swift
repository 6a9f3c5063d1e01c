import SignetCore
import SignetTesting
import Testing

@Suite("Writing and reading enrollment URIs")
struct EnrollmentRoundTripTests {
    @Test("A random enrollment is read back as it was written", arguments: 0..<40 as Range<UInt64>)
    func randomEnrollmentRoundTrip(seed: UInt64) throws {
        var maker = EnrollmentMaker(seed: seed)
        for _ in 0..<100 {
            let enrollment = try maker.enrollment()
            let uri = EnrollmentURI.print(enrollment)
            #expect(try EnrollmentURI.parse(uri) == enrollment)
            let isPrintable = uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            #expect(isPrintable, "\(uri)")
        }
    }

    @Test(
        "An enrollment is written with the narrowest scheme that can carry it",
        arguments: [
            (true, false, "otpauth://totp/"), (false, true, "pushauth://push/"), (true, true, "mfauth://totp/"),
        ])
    func choosesNarrowestScheme(hasOATH: Bool, hasPush: Bool, prefix: String) throws {
        var maker = EnrollmentMaker(seed: 1)
        let enrollment = Enrollment(
            account: AccountID(issuer: "X", accountName: "mira"),
            oath: hasOATH ? OATHSettings(secret: try Sample.oathSecret) : nil, push: hasPush ? try maker.invitation() : nil)
        #expect(EnrollmentURI.print(enrollment).hasPrefix(prefix))
    }

    @Test("A written URI has no padding, a plain issuer for codes and a base64 issuer for push, as other SDKs expect")
    func writesPortableForm() throws {
        let account = AccountID(issuer: "Harbor Bank", accountName: "mira")
        let oath = Enrollment(account: account, oath: OATHSettings(secret: try Sample.oathSecret))
        let secret = Sample.oathSecretText
        #expect(
            EnrollmentURI.print(oath)
                == "otpauth://totp/Harbor%20Bank:mira?secret=\(secret)&digits=6&period=30&issuer=Harbor%20Bank")

        let endpoint = try Endpoint("https://am.example.test/push?_action=register")
        let invitation = PushInvitation(
            secret: try Sample.pushSecret, challenge: [1, 2, 3, 255], messageID: "REGISTER:1", registrationEndpoint: endpoint,
            authenticationEndpoint: endpoint)
        let push = EnrollmentURI.print(Enrollment(account: account, push: invitation, imageURL: "https://cdn.example.test/h.png"))
        #expect(push.contains("&issuer=SGFyYm9yIEJhbms&"))
        #expect(push.contains("&c=AQID_w&"))
        #expect(push.contains("&m=REGISTER%3A1&"))
        #expect(push.hasSuffix("&image=\(Sample.base64URL("https://cdn.example.test/h.png"))"))
    }

    @Test(
        "The largest counter and the longest period are written and read",
        arguments: [
            MovingFactor.counter(next: 0), .counter(next: UInt64(Int64.max)), .counter(next: UInt64(Int64.max) + 1),
            .counter(next: .max),
            .time(period: try Sample.period(1)), .time(period: try Sample.period(OTPPeriod.range.upperBound)),
        ])
    func extremeValuesRoundTrip(factor: MovingFactor) throws {
        let settings = OATHSettings(secret: try Sample.oathSecret, factor: factor)
        let enrollment = Enrollment(account: AccountID(issuer: "X", accountName: "mira"), oath: settings)
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
    }

    @Test(
        "An image that is not a web address is read back as it was written",
        arguments: ["aGk", "logo", "data:image/png;base64,AAAA", "a/b"])
    func imageRoundTrip(image: String) throws {
        var maker = EnrollmentMaker(seed: 2)
        for hasPush in [false, true] {
            let enrollment = Enrollment(
                account: AccountID(issuer: "X", accountName: "mira"), oath: OATHSettings(secret: try Sample.oathSecret),
                push: hasPush ? try maker.invitation() : nil, imageURL: image)
            #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
        }
    }
}

/// Generates realistic enrollments, with a high share of unusual ones.
struct EnrollmentMaker {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func enrollment() throws -> Enrollment {
        let kind = Int.random(in: 0..<3, using: &random)
        var enrollment = Enrollment(account: AccountID(issuer: text(), accountName: text()))
        if kind != 1 {
            enrollment.oath = try oath()
            enrollment.oathResourceID = maybe { $0.text() }
        }
        if kind != 0 { enrollment.push = try invitation() }
        enrollment.userID = maybe { $0.text() }
        enrollment.imageURL = maybe { "https://cdn.example.test/\($0.choose(["logo.png", "a?b=c&d=e", "%C3%BC.svg", "a+b"]))" }
        enrollment.backgroundColor = maybe { $0.choose(["#336699", "#fff", "#11223344", "#ABCDEF"]) }
        if Bool.random(using: &random) { enrollment.policies = policies() }
        return enrollment
    }

    mutating func invitation() throws -> PushInvitation {
        let server = choose([
            "https://am.example.test/am", "https://am.example.test:8443", "http://127.0.0.1:8080", "http://[::1]",
        ])
        return PushInvitation(
            secret: Secret(byteCount: Int.random(in: 32...64, using: &random), using: &random),
            challenge: (0..<Int.random(in: 1...48, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) },
            messageID: text(),
            registrationEndpoint: try Endpoint(server + "/push?_action=register&x=a%26b"),
            authenticationEndpoint: try Endpoint(server + "/push?_action=authenticate"),
            loadBalancerCookie: maybe { $0.choose(["amlbcookie=01", "a=b=c==", "route=x y", "k="]) },
            resourceID: maybe { $0.text() })
    }

    private mutating func oath() throws -> OATHSettings {
        let digits = try #require(OTPDigits(Int.random(in: OTPDigits.range, using: &random)))
        if Int.random(in: 0..<8, using: &random) == 0 {
            return .steam(secret: Secret(byteCount: Int.random(in: 1...70, using: &random), using: &random))
        }
        let factor: MovingFactor =
            Bool.random(using: &random)
            ? .time(period: try #require(OTPPeriod(seconds: Int.random(in: 1...3600, using: &random))))
            : .counter(next: UInt64.random(in: 0...UInt64(Int64.max), using: &random))
        return OATHSettings(
            secret: Secret(byteCount: Int.random(in: 1...70, using: &random), using: &random),
            algorithm: choose(OTPAlgorithm.allCases), digits: digits, factor: factor)
    }

    private mutating func policies() -> [String: JSONValue] {
        var policies: [String: JSONValue] = [:]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            policies[text()] = choose([
                .object([:]), .object(["score": .number(0.8), "n": .integer(.max), "none": .null]), .string(text()), .bool(true),
                .array([.integer(-1), .number(1e-9), .array([])]),
            ])
        }
        return policies
    }

    /// Returns a text without white space at its ends, which no URI keeps, and without refused characters.
    private mutating func text() -> String {
        let pieces = [
            ":", "-", "%", "&", "+", "=", "/", "?", "#", "@", "'", "\"", "<", "\\", "%41", "a", "Z", "9", "_", "~", ".", "é",
            "e\u{301}",
            "Zürich", "ß", "日本", "👩‍👩‍👧", "🏴‍☠️", "שלום", "javascript:",
        ]
        let words = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            (0..<Int.random(in: 1...4, using: &random)).map { _ in choose(pieces) }.joined()
        }
        return words.joined(separator: choose([" ", "  ", "\u{A0}"]))
    }

    private mutating func choose<T>(_ values: [T]) -> T {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func maybe<T>(_ make: (inout Self) -> T) -> T? {
        Bool.random(using: &random) ? make(&self) : nil
    }
}
