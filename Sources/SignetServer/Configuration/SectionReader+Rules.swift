import SignetCore

/// Rules for texts in the file. They prevent a server from starting with URLs or header values that clients could not use.
enum TextRule {
    /// Returns true for an HTTP URL to which paths can be appended.
    static func isBase(_ text: String) -> Bool {
        (try? Endpoint(unchecked: text)) != nil && !text.contains("?") && !text.contains("#")
    }

    /// Returns true for a path whose segments need no escaping. It does not accept `.` and `..`, which clients remove.
    static func isPath(_ text: String) -> Bool {
        let segments = text.split(separator: "/")
        return !segments.contains { $0 == "." || $0 == ".." }
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "/") || isPlain($0) }
    }

    /// Returns true for the name of a cookie (RFC 6265 section 4.1.1).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isPlain($0) || "!#$%&'*+^`|".utf8.contains($0) }
    }

    /// Returns true for the domain of a cookie (RFC 6265 section 4.1.2.3).
    static func isDomain(_ text: String) -> Bool {
        let labels = (text.hasPrefix(".") ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        }
    }

    /// Returns true for the domain of a server, as a WebAuthn relying party id requires.
    static func isHost(_ text: String) -> Bool { isDomain(text) && !text.hasPrefix(".") }

    /// Returns true for a redirect URI (RFC 6749 section 3.1.2): an absolute URI of a website or an app, without a fragment. It
    /// rejects schemes that a browser would execute or display itself, such as `javascript`.
    static func isRedirect(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, isLetter(first) else { return false }
        let (scheme, rest) = (text[..<colon].lowercased(), text[colon...].dropFirst())
        return scheme.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
            && !["javascript", "data", "vbscript", "blob", "about"].contains(scheme)
            && !rest.isEmpty && !rest.contains("#") && rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func isPlain(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "-._~".utf8.contains(byte) }
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}

extension SectionReader {
    /// Reports a text that a rule rejects. A missing or mistyped value is not reported here, because it was reported when it was
    /// read.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - text: The text.
    ///   - kind: The description of a valid text.
    ///   - isGood: The rule.
    mutating func check(_ name: String, _ text: String?, _ kind: String, _ isGood: (String) -> Bool) {
        guard let text, hasText(name), !isGood(text) else { return }
        note(place(of: name), "`\(name)` is \(kind), not `\(text.shortened)`")
    }

    /// Reads redirect URIs of logins or logouts.
    mutating func redirects(_ name: String) -> [String] {
        let addresses = optionalTexts(name) ?? []
        for address in addresses where !TextRule.isRedirect(address) {
            note(
                place(of: name),
                "`\(address.shortened)` is no address that a login can end at: it has a scheme, of the web or of an app, and no fragment"
            )
        }
        return addresses
    }
}
