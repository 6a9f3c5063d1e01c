/// The parts of a URI, percent-decoded once.
///
/// Their meaning is not interpreted here; only the general form of enrollment URIs is checked.
struct EnrollmentURIParts {
    let scheme: String
    /// The authority: `totp`, `hotp` or `push`.
    let host: String
    /// The label, percent-decoded.
    private let label: String
    let labelIssuer: String
    let labelAccount: String
    /// A Boolean value that indicates whether the URI has a `?`, even without a query after it.
    let hasQuery: Bool
    /// The parameter `issuer` with each `+` read as a space, as forms encode it; nil when its value has no `+`.
    let issuerOfForm: String?
    private let parameters: [String: String]

    init(_ text: String) throws(EnrollmentError) {
        guard text.utf8.count <= EnrollmentURI.maxLength else {
            throw EnrollmentError(.invalid, "scheme", "the text is longer than \(EnrollmentURI.maxLength) bytes")
        }
        let trimmed = text.trimmingWhitespace()
        guard let colon = trimmed.firstIndex(of: ":"), trimmed[colon...].hasPrefix("://"), trimmed.startIndex < colon else {
            throw EnrollmentError(.invalid, "scheme", "this is not an otpauth, pushauth or mfauth URI")
        }
        guard !trimmed.unicodeScalars.contains(where: Self.isLineBreak) else {
            throw EnrollmentError(.invalid, "uri", "there is a line break in it")
        }
        guard EnrollmentURI.starts(in: trimmed).allSatisfy({ $0 == trimmed.startIndex }) else {
            throw EnrollmentError(.invalid, "uri", "there is a second URI in it")
        }
        scheme = trimmed[..<colon].lowercased()
        let rest = Self.withoutFragment(trimmed[trimmed.index(colon, offsetBy: 3)...])
        let hierarchy = rest.prefix { $0 != "?" }
        host = hierarchy.prefix { $0 != "/" }.lowercased()
        (label, labelIssuer, labelAccount) = try Self.label(hierarchy.drop { $0 != "/" })
        hasQuery = hierarchy.endIndex < rest.endIndex
        let query = rest.drop { $0 != "?" }.dropFirst()
        parameters = try Self.parameters(query)
        issuerOfForm = query.split(separator: "&").first { $0.hasPrefix("issuer=") && $0.contains("+") }
            .flatMap { FormCoding.decoded($0.dropFirst("issuer=".count)) }
    }

    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Returns the account name in a label that begins with `issuer` and a colon; nil when the label begins otherwise.
    ///
    /// The issuer itself may contain colons.
    func account(of issuer: String) -> String? {
        guard label.utf8.starts(with: "\(issuer):".utf8) else { return nil }
        let start = label.utf8.index(label.startIndex, offsetBy: issuer.utf8.count + 1)
        return label[start...].trimmingWhitespace()
    }

    /// The value of a parameter; nil when it is absent.
    subscript(name: String) -> String? { parameters[name] }

    /// Returns the value of a required parameter, which must not be empty.
    func required(_ name: String) throws(EnrollmentError) -> String {
        guard let value = parameters[name], !value.isEmpty else {
            throw EnrollmentError(.missing, name, "required, and not there")
        }
        return value
    }

    /// Returns the value of an optional parameter; nil when it is absent or empty.
    func optional(_ name: String) -> String? {
        guard let value = parameters[name], !value.isEmpty else { return nil }
        return value
    }

    /// Removes the fragment.
    ///
    /// The `#` of a color, which servers do not encode, does not start a fragment.
    private static func withoutFragment(_ text: Substring) -> Substring {
        let bytes = text.utf8
        guard let query = bytes.firstIndex(of: UInt8(ascii: "?")) else { return text.prefix { $0 != "#" } }
        let end = bytes.indices.first { index in
            guard bytes[index] == UInt8(ascii: "#") else { return false }
            let name = bytes[..<index].suffix(3)
            let begins = name.startIndex == query || (name.startIndex > query && name.first == UInt8(ascii: "&"))
            return !begins || !name.dropFirst().elementsEqual("b=".utf8)
        }
        return end.map { text[..<$0] } ?? text
    }

    /// Decodes the label, and splits it at the first `:`, or at the first `%3A` when it has no `:`.
    private static func label(_ path: Substring) throws(EnrollmentError) -> (whole: String, issuer: String, account: String) {
        let label = path.trimming("/")
        func decoded(_ part: Substring) throws(EnrollmentError) -> String {
            guard let text = part.percentDecoded() else {
                throw EnrollmentError(.invalid, "label", "the percent-encoding is broken")
            }
            guard text.isSafeToShow else {
                throw EnrollmentError(.unsafe, "label", "it contains control characters or changes the direction of the text")
            }
            return text
        }
        let whole = try decoded(label).trimmingWhitespace()
        if let colon = label.firstIndex(of: ":") {
            return (
                whole,
                try decoded(label[..<colon]).trimmingWhitespace(),
                try decoded(label[label.index(after: colon)...]).trimmingWhitespace()
            )
        }
        guard let colon = whole.firstIndex(of: ":") else { return (whole, "", whole) }
        return (whole, whole[..<colon].trimmingWhitespace(), whole[whole.index(after: colon)...].trimmingWhitespace())
    }

    /// Returns the account in the label of a URI whose other parts can't be read; nil when the label is empty.
    ///
    /// A label with a broken percent-encoding is taken as it is written.
    static func labeledAccount(of text: String) -> AccountID? {
        guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
        let path = text[start...].prefix { $0 != "?" && $0 != "#" && !$0.isNewline }.drop { $0 != "/" }
        let whole = path.trimming("/")
        let label = (whole.percentDecoded() ?? String(whole)).trimmingWhitespace()
        guard !label.isEmpty else { return nil }
        guard let colon = label.firstIndex(of: ":"), colon > label.startIndex else {
            return AccountID(issuer: label, accountName: label)
        }
        return AccountID(
            issuer: label[..<colon].trimmingWhitespace(), accountName: label[label.index(after: colon)...].trimmingWhitespace())
    }

    /// The parameter names that an error may contain.
    ///
    /// Any other name could be a misplaced secret.
    private static let knownParameters: Set<String> = [
        "a", "algorithm", "b", "c", "counter", "d", "digits", "encoder", "enrollment_credential", "image", "issuer", "l", "m",
        "oid", "period", "pid", "policies", "r", "s", "secret", "serial", "sslverify", "uid", "url", "v", "version",
    ]

    /// Decodes the parameters.
    ///
    /// A parameter may be repeated with the same value. With another value, programs differ in which of the two they take.
    private static func parameters(_ query: Substring) throws(EnrollmentError) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in query.split(separator: "&") {
            guard let equals = pair.firstIndex(of: "=") else { continue }
            guard let name = pair[..<equals].percentDecoded() else {
                throw EnrollmentError(.invalid, "query", "the percent-encoding of a parameter's name is broken")
            }
            let part = knownParameters.contains(name) ? name : "query"
            guard let value = pair[pair.index(after: equals)...].percentDecoded() else {
                throw EnrollmentError(.invalid, part, "the percent-encoding is broken")
            }
            guard parameters.updateValue(value, forKey: name).map({ $0 == value }) ?? true else {
                throw EnrollmentError.repeated(part)
            }
        }
        return parameters
    }
}

extension StringProtocol {
    package func trimmingWhitespace() -> String {
        if utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return String(self) }
        let start = self.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }

    /// Returns the text without the given characters at both ends.
    package func trimming(_ characters: String) -> Self.SubSequence {
        let start = drop { characters.contains($0) }
        guard let last = start.lastIndex(where: { !characters.contains($0) }) else { return start.prefix(0) }
        return start[...last]
    }

    /// The text in the form that messages contain: one line of at most 40 characters.
    package var shortened: String {
        let line = String(prefix { !$0.isNewline })
        return line.count == count && count <= 40 ? line : "\(line.prefix(37))..."
    }

    /// Returns the text with `%XX` decoded; nil when an escape is invalid or the bytes are not UTF-8.
    ///
    /// `+` is kept.
    package func percentDecoded() -> String? {
        guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
        var bytes: [UInt8] = []
        var rest = Substring(self).utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(\.hexValue), let low = rest.popFirst().flatMap(\.hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(strictUTF8: bytes)
    }

    /// Returns the text with all characters percent-encoded except the unreserved characters of RFC 3986 section 2.3.
    package func percentEncoded() -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count + 8)
        appendPercentEncoded(to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends the percent-encoded text to `bytes`.
    func appendPercentEncoded(to bytes: inout [UInt8]) {
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigitsOf: byte)
            }
        }
    }

    /// A Boolean value that indicates whether the text has no control characters and no marks that change the text direction.
    ///
    /// Such characters could disguise the text in a terminal or a window.
    package var isSafeToShow: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: false
            default: true
            }
        }
    }
}
