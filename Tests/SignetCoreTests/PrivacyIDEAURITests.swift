import SignetCore
import Testing

/// The enrollment URIs of privacyIDEA's push tokens.
///
/// The first one is of a real server (3.14).
@Suite("Enrollment URIs of privacyIDEA")
struct PrivacyIDEAURITests {
    private static let credential = "12ee6330623dd059f2748be6e5aa63d87055d0a5"
    private static let real =
        "otpauth://pipush/PIPU00001707?url=http%3A//127.0.0.1%3A28801/ttype/push&ttl=10&issuer=privacyIDEA"
        + "&enrollment_credential=\(credential)&v=1&serial=PIPU00001707&sslverify=1&poll_only=True"

    private static func uri(_ parameters: String, label: String = "mira") -> String {
        "otpauth://pipush/\(label)?serial=PIPU1&enrollment_credential=\(credential)&\(parameters)"
    }

    @Test("A URI of a real server is read")
    func readsRealURI() throws {
        let enrollment = try EnrollmentURI.parse(Self.real)
        #expect(enrollment.account == AccountID(issuer: "privacyIDEA", accountName: "PIPU00001707"))
        #expect(enrollment.oath == nil)
        let push = try #require(enrollment.push)
        #expect(push.platform == PrivacyIDEAURI.platform)
        #expect(push.resourceID == "PIPU00001707" && push.messageID == "PIPU00001707")
        #expect(push.secret == Secret(Self.credential.utf8))
        #expect(push.registrationEndpoint.url == "http://127.0.0.1:28801/ttype/push")
        #expect(push.authenticationEndpoint == push.registrationEndpoint)
        #expect(!push.requiresPresence)
    }

    @Test("A URI that is written is read back", arguments: ["PIPU1", "mira@harbor", "a:b", "Ünal%20Öz"])
    func readsWrittenURI(label: String) throws {
        let enrollment = try EnrollmentURI.parse(
            Self.uri(
                "url=https://pi.example.test/ttype/push&issuer=Harbor%20Bank&pin=True&image=https://x.test/a.png", label: label))
        #expect(enrollment.account.issuer == "Harbor Bank" && enrollment.imageURL == "https://x.test/a.png")
        #expect(enrollment.push?.requiresPresence ?? false)
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
    }

    @Test(
        "The scheme of privacyIDEA's app is read too, and values that are left out have a default",
        arguments: ["otpauth://pipush/", "pia://pipush/", "PIA://PIPUSH/"])
    func readsShortURI(start: String) throws {
        let enrollment = try EnrollmentURI.parse(
            "\(start)?url=https://pi.example.test/ttype/push&serial=PIPU1&enrollment_credential=\(Self.credential)")
        #expect(enrollment.account == AccountID(issuer: "privacyIDEA", accountName: "PIPU1"))
    }

    @Test(
        "A demand of the server to unlock the app is kept",
        arguments: [
            ("pin=True", true), ("app_force_unlock=biometric", true), ("app_force_unlock=any", true), ("pin=False", false),
            ("app_force_unlock=", false),
        ])
    func keepsDemandToUnlock(parameter: String, isKept: Bool) throws {
        let enrollment = try EnrollmentURI.parse(Self.uri("url=https://pi.example.test/ttype/push&\(parameter)"))
        #expect(enrollment.push?.requiresPresence == isKept)
    }

    private static let refused: [(uri: String, part: String, code: EnrollmentError.Code)] = [
        (uri("issuer=x"), "url", .missing), (uri("url=pi"), "url", .invalid),
        (uri("url=http://pi.example.test/ttype/push"), "url", .unsafe),
        (uri("url=https://mira:pw@pi.example.test/"), "url", .unsafe),
        (uri("url=https://pi.example.test/&v=2"), "v", .unsupported),
        (uri("url=https://pi.example.test/&sslverify=0"), "sslverify", .unsafe),
        (uri("url=https://pi.example.test/&sslverify=no"), "sslverify", .invalid),
        (uri("url=https://pi.example.test/&issuer=%1B%5B2J"), "issuer", .unsafe),
        (uri("url=https://pi.example.test/&image=%00"), "image", .unsafe),
        (uri("url=%zz"), "url", .invalid),
        ("otpauth://pipush/m?url=https://pi.example.test/&enrollment_credential=\(credential)", "serial", .missing),
        (
            "otpauth://pipush/m?url=https://pi.example.test/&serial=P%7C1&enrollment_credential=\(credential)", "serial",
            .unsafe
        ),
        ("otpauth://pipush/m?url=https://pi.example.test/&serial=PIPU1", "enrollment_credential", .missing),
        (
            "otpauth://pipush/m?url=https://pi.example.test/&serial=PIPU1&enrollment_credential=12ee",
            "enrollment_credential",
            .unsafe
        ),
    ]

    @Test(
        "A URI with a missing, invalid or unsafe part is refused by an error that names the part and not the credential",
        arguments: refused)
    func refusesUnusableURI(uri: String, part: String, code: EnrollmentError.Code) throws {
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == part && error.code == code)
        #expect(!"\(error)".contains(Self.credential))
    }

    @Test("A server may ask for unverified certificates only where the user allows plain http")
    func allowsUnverifiedCertificatesByName() throws {
        let uri = Self.uri("url=https://pi.example.test/ttype/push&sslverify=0")
        let policy = EndpointPolicy.allowingPlainHTTP(to: ["pi.example.test"])
        #expect(try EnrollmentURI.parse(uri, policy: policy).push?.registrationEndpoint.scheme == "https")
        #expect(throws: EnrollmentError.self) {
            try EnrollmentURI.parse(uri, policy: .allowingPlainHTTP(to: ["other.example.test"]))
        }
    }

    @Test("The interfaces of the other SDKs refuse the URI as they refuse an unknown type")
    func otherSDKsRefuse() throws {
        let enrollment = try EnrollmentURI.parse(Self.real)
        let error = try #require(throws: EnrollmentError.self) { try enrollment.requireCodesOfOtherSDKs() }
        #expect(error.part == "type" && error.code == .unsupported)
        #expect(throws: EnrollmentError.self) { try EnrollmentURI.parseCodes(Self.real) }
    }
}
