import SignetCore
import Testing

@Suite("Secrets")
struct SecretTests {
    private static let content = "correct horse battery"
    private static let secret = Secret(content.utf8)

    /// A secret nested inside other values.
    private struct Holder {
        let name = "holder"
        let secret: Secret
        let optional: Secret?
        let list: [Secret]
        let dictionary: [String: Secret]
        let settings: OATHSettings

        init(secret: Secret = SecretTests.secret) {
            self.secret = secret
            optional = secret
            list = [secret]
            dictionary = ["key": secret]
            settings = OATHSettings(secret: secret)
        }
    }

    /// Returns every text form that Swift makes of a value.
    private func everyText(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var mirrored = ""
        dump(Mirror(reflecting: value).children.map { $0 }, to: &mirrored)
        return [String(describing: value), String(reflecting: value), "\(value)", dumped, mirrored]
    }

    @Test("No text form of a secret, or of a value that contains secrets, shows the content", arguments: [true, false])
    func textsHideSecret(isBare: Bool) {
        let decimal = Array(Self.content.utf8).prefix(6).map(String.init)
        for text in everyText(of: isBare ? Self.secret : Holder()) {
            #expect(!text.contains(Self.content))
            #expect(!text.contains(decimal.joined(separator: ", ")))
            #expect(!text.contains(Base32.encode(Self.content.utf8).prefix(12)))
            #expect(!text.contains(Base64.encode(Array(Self.content.utf8), as: .url).prefix(12)))
            #expect(!text.contains("SymmetricKey"))
        }
    }

    @Test("The placeholder states the length of the secret in every text form")
    func placeholderStatesLength() {
        let placeholder = "<secret of 21 bytes>"
        #expect(Self.secret.description == placeholder)
        #expect(Self.secret.debugDescription == placeholder)
        #expect(String(reflecting: Self.secret) == placeholder)
        #expect(String(describing: [Self.secret]) == "[\(placeholder)]")
        #expect("\(Holder())".contains(placeholder))
        #expect(Secret([UInt8]()).description == "<secret of 0 bytes>")
    }

    @Test("A mirror of a secret has no children and no ancestors")
    func mirrorHidesSecret() {
        let mirror = Mirror(reflecting: Self.secret)
        #expect(mirror.children.isEmpty)
        #expect(mirror.superclassMirror == nil)
        #expect(Mirror(reflecting: Holder()).descendant("secret", "key") == nil)
    }

    @Test("Two secrets of the same length have the same text")
    func equalLengthsHaveEqualTexts() {
        let other = Secret([UInt8](repeating: 0, count: Self.content.utf8.count))
        #expect(everyText(of: Self.secret) == everyText(of: other))
        #expect(everyText(of: Holder()) == everyText(of: Holder(secret: other)))
    }

    @Test(
        "Two secrets are equal if their bytes are equal",
        arguments: [
            ([], [], true), ([1], [1], true), ([1, 2, 3], [1, 2, 3], true), ([1, 2, 3], [1, 2, 4], false),
            ([0, 2, 3], [1, 2, 3], false),
            ([1, 2], [1, 2, 0], false), ([], [0], false),
        ] as [([UInt8], [UInt8], Bool)])
    func secretEquality(left: [UInt8], right: [UInt8], isEqual: Bool) {
        #expect((Secret(left) == Secret(right)) == isEqual)
        #expect((Secret(left).hashValue == Secret(right).hashValue) == (left.count == right.count))
        #expect(ConstantTime.areEqual(left, right) == isEqual)
    }

    @Test("A secret has the bytes that it was created with", arguments: [0, 1, 20, 32, 64, 1000])
    func secretKeepsBytes(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let secret = Secret(bytes)
        #expect(secret.count == count)
        let unsafeBytes = secret.withUnsafeBytes { Array($0) }
        #expect(unsafeBytes == bytes)
        #expect(secret.bytes == bytes)
    }

    @Test("A generated secret has the requested length and differs each time")
    func generatesRandomSecret() {
        var random = SystemRandomNumberGenerator()
        let secrets = Set((0..<100).map { _ in Secret(byteCount: 32, using: &random) })
        #expect(secrets.count == 100)
        #expect(Set(secrets.map(\.count)) == [32])
    }

    @Test("The parts of an enrollment that are not secret are shown")
    func enrollmentShowsOtherParts() throws {
        let enrollment = try EnrollmentURI.parse("otpauth://totp/Harbor:mira?secret=\(Sample.oathSecretText)")
        var dumped = ""
        dump(enrollment, to: &dumped)
        #expect(dumped.contains("mira") && dumped.contains("<secret of 20 bytes>"))
        #expect(!dumped.contains("KDJ7"))
    }
}
