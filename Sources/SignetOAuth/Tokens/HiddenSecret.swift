package import SignetCore

/// The secret of a client in the forms in which a server may repeat it.
package struct HiddenSecret: Sendable {
    private let secret: [UInt8]
    /// The forms that are searched as they are: the secret, and the credentials of `client_secret_basic`.
    private let forms: [[UInt8]]

    /// The length to which an error cuts the texts of a server, in Unicode scalars.
    private static let maxLength = 300

    /// Creates the forms of the secret of a client.
    package init(_ secret: Secret, clientID: String) {
        let text = secret.text
        self.secret = Array(text.utf8)
        // Some servers decode the header without form-decoding its parts.
        let credentials = ["\(clientID.percentEncoded()):\(text.percentEncoded())", "\(clientID):\(text)"].map { Array($0.utf8) }
        let encoded = credentials.flatMap { [Base64.encode($0, as: .standard), Base64.encode($0, as: .url)] }
        // An error has no characters that could affect a terminal.
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.filter { String($0).isSafeToShow }))
        forms = ([text, shown] + encoded).map { Array($0.utf8) }.filter { !$0.isEmpty }
    }

    /// Returns an error without the secret in its texts.
    ///
    /// A registered error name stays, also when the secret is a part of it.
    package func removed(from error: OAuthError) -> OAuthError {
        let isRegistered = OAuthError.Code.allCases.contains { $0.rawValue == error.name }
        return OAuthError(
            error.code, status: error.status, name: isRegistered ? error.name : error.name.map { removed(from: $0) },
            explanation: error.explanation.map { removed(from: $0) }, retryAfter: error.retryAfter)
    }

    /// Returns a text with "…" in place of the secret, and of the beginning of the secret at the end of a text that was cut.
    func removed(from text: String) -> String {
        let isCut = text.unicodeScalars.count >= Self.maxLength
        var bytes = Array(text.utf8)
        for form in forms {
            bytes = Self.replaced(in: bytes) { Self.end(of: form, at: $0, in: $1, isCut: isCut, isEncoded: false) }
        }
        bytes = Self.replaced(in: bytes) { Self.end(of: secret, at: $0, in: $1, isCut: isCut, isEncoded: true) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func replaced(in text: [UInt8], _ match: (_ start: Int, _ text: [UInt8]) -> Int?) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < text.count {
            if let end = match(index, text) {
                result += Array("…".utf8)
                index = end
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return result
    }

    /// Returns the end of a form of the secret that begins at an index of a text; nil when it doesn't begin there.
    /// - Parameters:
    ///   - form: The form, which isn't empty.
    ///   - start: The index at which it may begin.
    ///   - text: The text.
    ///   - isCut: True when the text ends early, so that the form may end with it.
    ///   - isEncoded: True when any byte of the form may be percent-encoded in the text, and a space may be `+`.
    /// - Returns: The index after the form.
    private static func end(
        of form: [UInt8], at start: Int, in text: [UInt8], isCut: Bool, isEncoded: Bool
    ) -> Int? {
        var index = start
        for byte in form {
            guard index < text.count else { return isCut ? index : nil }
            if isEncoded, escaped(at: index, in: text) == byte {
                index += 3
            } else if text[index] == byte || isEncoded && byte == UInt8(ascii: " ") && text[index] == UInt8(ascii: "+") {
                index += 1
            } else {
                return nil
            }
        }
        return index
    }

    /// Returns the byte whose percent-encoding begins at an index of a text; nil without one.
    private static func escaped(at index: Int, in text: [UInt8]) -> UInt8? {
        guard index + 2 < text.count, text[index] == UInt8(ascii: "%") else { return nil }
        return UInt8(String(decoding: text[index + 1...index + 2], as: UTF8.self), radix: 16)
    }
}
