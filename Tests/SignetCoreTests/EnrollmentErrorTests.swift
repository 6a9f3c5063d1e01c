import SignetCore
import Testing

@Suite("Enrollment URIs that are refused")
struct EnrollmentErrorTests {
    private static let key: String = Sample.oathSecretText
    private static let oath: String = "otpauth://totp/X:mira?secret=\(key)"

    /// JSON nested deeper than can be stored inside other JSON.
    private static let deep = "{%22x%22:\(String(repeating: "[", count: 70))\(String(repeating: "]", count: 70))}"

    @Test(
        "A URI with a missing, invalid or unsafe part is refused by an error that names the part",
        arguments: [
            (oath + "&period=-1", "period"), (oath + "&period=", "period"), (oath + "&period=2147483648", "period"),
            (oath + "&digits=", "digits"), (oath + "&digits=11", "digits"), (oath + "&algorithm=", "algorithm"),
            (oath + "&algorithm=MD5", "algorithm"), (oath + "&counter=soon", "counter"), (oath + "&policies=e30x", "policies"),
            (oath + "&policies=W10", "policies"), (oath + "&policies=\(deep)", "policies"), (oath + "&policies=%21", "policies"),
            (oath + "&version=1.0", "version"),
            (oath + "&issuer=%zz", "issuer"), (oath + "&issuer=%FF", "issuer"), (oath + "&issuer=%1B%5B2J", "issuer"),
            (oath + "&image=%00", "image"), (oath + "&uid=%E2%80%AE", "uid"),
            ("otpauth://totp/X:mi%ra?secret=\(key)", "label"), ("otpauth://totp/X:mi%0Ara?secret=\(key)", "label"),
            ("otpauth://totp?secret=\(key)", "label"), ("otpauth:///X:mira?secret=\(key)", "type"),
            ("otpauth:totp/X:mira?secret=\(key)", "scheme"), ("://totp/X:mira?secret=\(key)", "scheme"),
            ("mfauth://push/X:mira?secret=\(key)", "m"), ("otpauth://totp/X:mira?secret=A", "secret"),
        ])
    func enrollmentErrorNamesPart(uri: String, part: String) throws {
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == part)
        for text in EnrollmentVectorTests.everyText(of: error) { #expect(!text.contains(Self.key)) }
    }

    @Test(
        "Text that could be displayed as other text is refused",
        arguments: [
            "%00", "%07", "%0A", "%1B", "%7F", "%C2%80", "%C2%9B", "%D8%9C", "%E2%80%8E", "%E2%80%8F", "%E2%80%A8", "%E2%80%AA",
            "%E2%80%AE", "%E2%81%A6", "%E2%81%A9", "%EF%BB%BF",
        ])
    func refusesDeceptiveText(escape: String) throws {
        for (part, uri) in [
            ("label", "otpauth://totp/X:mi\(escape)ra?secret=\(Self.key)"), ("issuer", Self.oath + "&issuer=B\(escape)B"),
        ] {
            let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
            #expect(error.part == part)
            #expect(error.code == .unsafe)
        }
    }

    @Test(
        "A push parameter that is empty, too short or invalid base64 is named",
        arguments: [
            ("s", "%21%21", EnrollmentError.Code.invalid), ("s", "AAAAA", .invalid), ("s", "", .missing),
            ("s", String(repeating: "A", count: 42), .unsafe), ("c", "%21", .invalid), ("c", "", .missing), ("r", "", .missing),
            ("a", Sample.base64URL("ftp://am.example.test/"), .invalid), ("r", Sample.base64URL("/push"), .invalid),
            ("r", Sample.base64URL("https://user:pw@am.example.test/"), .unsafe),
            ("a", Sample.base64URL("http://127.0.0.1.evil.test/"), .unsafe), ("m", "a%0Db", .unsafe), ("m", "", .missing),
            ("pid", "%E2%80%AE", .unsafe), ("l", "nonsense", .invalid),
        ])
    func namesInvalidPushPart(part: String, value: String, code: EnrollmentError.Code) throws {
        let error = try #require(throws: EnrollmentError.self) {
            try EnrollmentURI.parse(Sample.pushURI(changing: [part: value]))
        }
        #expect(error.part == part)
        #expect(error.code == code)
    }

    @Test("A secret of 32 bytes is accepted, and one of 31 bytes is refused", arguments: [31, 32, 64])
    func checksSecretLength(count: Int) throws {
        let uri = Sample.pushURI(changing: ["s": Base64.encode([UInt8](repeating: 7, count: count), as: .url)])
        if count < 32 {
            let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
            #expect(error.part == "s" && error.code == .unsafe)
        } else {
            #expect(try EnrollmentURI.parse(uri).push?.secret.count == count)
        }
    }

    @Test("A text longer than a QR code can hold is refused before it is parsed", arguments: [(0, true), (1, false)])
    func refusesOverlongURI(extra: Int, isAccepted: Bool) throws {
        let uri = Self.oath + "&x="
        let long = uri + String(repeating: "x", count: EnrollmentURI.maxLength - uri.utf8.count + extra)
        #expect(((try? EnrollmentURI.parse(long)) != nil) == isAccepted)
    }

    @Test("An error does not repeat the name of an unknown parameter")
    func errorHidesUnknownParameterName() throws {
        let error = try #require(throws: EnrollmentError.self) {
            try EnrollmentURI.parse("otpauth://totp/X:mira?\(Self.key)=%zz&secret=\(Self.key)")
        }
        for text in EnrollmentVectorTests.everyText(of: error) { #expect(!text.contains(Self.key)) }
    }

    @Test(
        "An invalid color is omitted, and the URI is accepted",
        arguments: ["", "red", "12", "12345", "%EF%BC%91%EF%BC%92%EF%BC%93", "3366zz"])
    func omitsInvalidColor(value: String) throws {
        #expect(try EnrollmentURI.parse(Self.oath + "&b=" + value).backgroundColor == nil)
    }

    @Test("Plain http is accepted only for a host that the app allows by name")
    func acceptsAllowedHTTPHost() throws {
        let uri = Sample.pushURI(changing: [
            "r": Sample.base64URL("http://am.lab.test:8080/r"), "a": Sample.base64URL("http://AM.lab.test:8080/a"),
        ])
        let push = try EnrollmentURI.parse(uri, policy: .allowingPlainHTTP(to: ["Am.Lab.Test"])).push
        #expect(push?.registrationEndpoint.port == 8080)
        for policy in [EndpointPolicy.secure, .allowingPlainHTTP(to: ["lab.test"]), .allowingPlainHTTP(to: ["*"])] {
            let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri, policy: policy) }
            #expect(error.part == "r" && error.code == .unsafe)
        }
    }
}
