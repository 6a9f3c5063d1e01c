import Crypto
import SignetCore

/// The settings that the registration nodes share: the contents of the QR code and the text of the page.
struct EnrollmentStyle: Sendable {
    /// The issuer; nil for the server's.
    var issuer: String?
    /// The color in hexadecimal digits; nil for the server's.
    var backgroundColor: String?
    var imageURL: String?
    /// The text of the page; nil for the node's default.
    var message: LocalizedText?
    /// The time in seconds for a push registration; nil for the server's.
    var timeout: Int?
    var generatesRecoveryCodes = true
    var usesCounter = false
    var digits = OTPDigits.six
    var algorithm = OTPAlgorithm.sha1
    var period = OTPPeriod.thirtySeconds
    /// The length of the secret in bytes.
    var secretLength = 20

    func newOATHDevice() -> OATHDevice {
        let factor: MovingFactor = usesCounter ? .counter(next: 0) : .time(period: period)
        let settings = OATHSettings(
            secret: Secret.random(byteCount: secretLength), algorithm: algorithm, digits: digits, factor: factor)
        return OATHDevice(verifier: OATHVerifier(settings: settings), resourceID: RandomID.uuid())
    }
}

extension ConfigurationDecoder {
    /// Decodes the properties that all registration nodes share.
    mutating func enrollmentStyle(withCodes: Bool, withPush: Bool) -> EnrollmentStyle {
        var style = EnrollmentStyle()
        style.issuer = optionalString("issuer", default: "the server's")
        style.backgroundColor = color("bgColor")
        style.imageURL = optionalString("imgUrl", default: "none")
        style.message = optionalLocalizedText("scanQRCodeMessage", default: "depends on the node")
        style.generatesRecoveryCodes = bool("generateRecoveryCodes", true)
        if withPush { style.timeout = optionalInteger("timeout", in: 1...86_400, default: "the server's `pushTimeout`") }
        guard withCodes else { return style }
        style.usesCounter = choice("algorithm", "TOTP", ["TOTP": false, "HOTP": true]) ?? false
        style.digits =
            choice("passwordLength", "SIX_DIGITS", ["SIX_DIGITS": OTPDigits.six, "EIGHT_DIGITS": OTPDigits.eight]) ?? .six
        let hashes: KeyValuePairs<String, OTPAlgorithm> = ["HMAC_SHA1": .sha1, "HMAC_SHA256": .sha256, "HMAC_SHA512": .sha512]
        style.algorithm = choice("totpHashAlgorithm", "HMAC_SHA1", hashes) ?? .sha1
        style.period = OTPPeriod(seconds: integer("totpTimeInterval", 30, in: 1...86_400)) ?? .thirtySeconds
        // The setting is the number of hexadecimal digits, which is twice the number of bytes.
        style.secretLength = (integer("minSharedSecretLength", 40, in: 32...256) + 1) / 2
        return style
    }
}

extension Page {
    /// Creates the page that shows a QR code, with its callbacks in AM's order (protocol/journey.md section 2.8).
    /// - Parameters:
    ///   - message: The text of the page.
    ///   - uri: The URI in the QR code.
    ///   - end: The last callback, with which the page continues.
    /// - Returns: A page of four callbacks: the text, the script that draws the code, the hidden URI, and `end`.
    static func enrollment(_ message: String, uri: String, _ end: JourneyCallback) -> Page {
        // AM's pages draw the QR code with this script. SDKs ignore it and read the hidden value.
        let script = """
            window.QRCodeReader.createCode({
              id: "callback_0",
              text: "\(uri.scriptText)",
              version: "20",
              code: "L"
            });
            """
        return Page(callbacks: [
            .information(message), .text(script, type: 4), .hidden(id: "mfaDeviceRegistration", value: uri), end,
        ])
    }
}
