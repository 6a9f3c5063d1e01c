import SignetCore
import SignetJourney
import Testing

/// The parts of a step that OpenAM writes for the page of a browser.
@Suite("Pages of OpenAM")
struct StepPageTests {
    /// A script that draws a QR code, with a literal as OpenAM's registration pages have it (second-factors 3, 9 and 16).
    private static func script(_ literal: String) -> String {
        """
        require(['QRCodeReader'], function (QRCodeReader) {
            QRCodeReader.createCode({ id: 'callback_1', text: \(literal), version: '20', code: 'L' });
        });
        """
    }

    /// A text of a page; type 4 is a script.
    private static func text(_ message: String, type: String = "0") -> JourneyCallback {
        JourneyCallback(
            type: "TextOutputCallback",
            output: [.init(name: "message", value: .string(message)), .init(name: "messageType", value: .string(type))])
    }

    private static let totp = "otpauth://totp/LabAM:bob?secret=F3NALYPBO3NJJJEEKYXVQKA3VQ======&issuer=LabAM&digits=6&period=30"
    private static let push = "pushauth://push/forgerock:bob?a=aHR0&b=519387&r=aHR0&s=MhGj&c=NEZN&l=YW1s&m=2a5f&issuer=TGFiQU0"
    private static let hotp =
        "otpauth://hotp/LabAM:carol?secret=XBQ5JTLZ2P7M23OXYRY6PGV6XY======&issuer=LabAM&digits=6&counter=0"

    /// Scripts, and the URI in each; nil for a script without one.
    static let scripts: [(script: String, uri: String?)] = [
        (script("'\(totp)'"), totp), (script("'\(push)'"), push), (script("'\(hotp)'"), hotp),
        (script(#""otpauth\x3A\u002F\/totp\/A\x3Ab?secret=MFRGG\x3D""#), "otpauth://totp/A:b?secret=MFRGG="),
        (script("'Scan'") + script("'\(push)'"), push), (script("'Scan', \"text\": 'MFAUTH://totp/A:b'"), "MFAUTH://totp/A:b"),
        (script("'https://example.org'"), nil), (script("'otpauth\\x3'"), nil), (script("\"otpauth://totp/A:b"), nil),
        (script("uri"), nil), ("context: 'otpauth://totp/A:b'", nil), ("", nil),
    ]

    @Test(
        "C3: The enrollment URI is read from the script that draws the QR code, with its escape sequences decoded",
        arguments: scripts)
    func readsURIOfScript(script: String, uri: String?) {
        let step = JourneyStep(authId: "a", callbacks: [Self.text("Scan it"), Self.text(script, type: "4")])
        #expect(step.enrollmentURI == uri)
    }

    @Test("C3: A hidden value has priority over the script, and a text that is not a script is not read")
    func prefersHiddenValue() {
        let hidden = JourneyCallback(
            type: "HiddenValueCallback",
            output: [
                .init(name: "value", value: .string(Self.hotp)), .init(name: "id", value: .string("mfaDeviceRegistration")),
            ],
            input: [.init(name: "IDToken3", value: .string("mfaDeviceRegistration"))])
        let script = Self.script("'\(Self.totp)'")
        let both = JourneyStep(authId: "a", callbacks: [Self.text(script, type: "4"), hidden])
        #expect(both.enrollmentURI == Self.hotp)
        #expect(JourneyStep(authId: "a", callbacks: [Self.text(script)]).enrollmentURI == nil)
    }

    /// Values of the member `infoText`, and the remarks in each (authenticate 81 and 1094).
    static let infoTexts: [(member: JSONValue?, remarks: [String])] = [
        (.array([.string("You must provide a username"), .string(""), .string("")]), ["You must provide a username"]),
        (.array([.string(" "), .string("a"), .null, .integer(1), .string("b")]), ["a", "b"]), (.string("a"), ["a"]),
        (.array([]), []), (.object([:]), []), (nil, []),
    ]

    @Test("C7: The remarks of a step are those of infoText that are not empty, and the member is sent back", arguments: infoTexts)
    func readsInfoTexts(member: JSONValue?, remarks: [String]) {
        let step = JourneyStep(authId: "a", callbacks: [], otherMembers: member.map { ["infoText": $0] } ?? [:])
        #expect(step.infoTexts == remarks)
        #expect(step.json["infoText"] == member)
    }

    /// Texts with data URLs, the bytes of the pictures, and the rest of each text.
    static let pictures: [(text: String, pictures: [[UInt8]], rest: String)] = [
        ("data:image/png;base64,AQID", [[1, 2, 3]], ""),
        ("<img src='data:image/png;base64,AQ=='> or data:image/jpeg;base64,Ag==.", [[1], [2]], "<img src=''> or ."),
        ("data:image/svg+xml,<svg/>", [], "data:image/svg+xml,<svg/>"), ("data:image/png;base64,", [], "data:image/png;base64,"),
        ("data:image/png;base64,A", [], "data:image/png;base64,A"),
        ("data:text/plain;base64,AQID", [], "data:text/plain;base64,AQID"),
        ("data:image/", [], "data:image/"), ("", [], ""),
    ]

    @Test("C13: The pictures of a text are its data URLs in base64", arguments: pictures)
    func readsPictures(text: String, pictures: [[UInt8]], rest: String) {
        let step = JourneyStep(authId: "a", callbacks: [Self.text(text), Self.text(text, type: "4")])
        #expect(step.pictures == pictures)
        #expect(EmbeddedPicture.removing(from: text) == rest)
    }
}
