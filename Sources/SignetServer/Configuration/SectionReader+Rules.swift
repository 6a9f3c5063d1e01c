import SignetCore

/// What a text of the file has to be, so that no server is started that announces what nobody can ask, or sends what nobody can read.
enum TextRule {
    /// An address of the web that others can be appended to.
    static func isBase(_ text: String) -> Bool {
        (try? Endpoint(unchecked: text)) != nil && !text.contains("?") && !text.contains("#")
    }

    /// Segments of a path, with nothing that would have to be escaped, or that a client would leave out.
    static func isPath(_ text: String) -> Bool {
        let segments = text.split(separator: "/")
        return !segments.contains { $0 == "." || $0 == ".." }
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "/") || isPlain($0) }
    }

    /// The name of a cookie (RFC 6265 section 4.1.1).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isPlain($0) || "!#$%&'*+^`|".utf8.contains($0) }
    }

    /// The domain of a cookie (RFC 6265 section 4.1.2.3).
    static func isDomain(_ text: String) -> Bool {
        let labels = (text.hasPrefix(".") ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        }
    }

    /// The domain of a server: WebAuthn's credentials are made for one.
    static func isHost(_ text: String) -> Bool { isDomain(text) && !text.hasPrefix(".") }

    /// Where a login may end (RFC 6749 section 3.1.2): an address with a scheme, of the web or of an app, and without a fragment. What a
    /// browser would run is none.
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
    /// Notes a text that a rule does not take. If something else stands there, or nothing, it was said already.
    /// - Parameter kind: What it has to be.
    mutating func check(_ name: String, _ text: String?, _ kind: String, _ isGood: (String) -> Bool) {
        guard let text, hasText(name), !isGood(text) else { return }
        note(place(of: name), "`\(name)` is \(kind), not `\(text.shortened)`")
    }

    /// Addresses where a login, or a log-out, may end.
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
