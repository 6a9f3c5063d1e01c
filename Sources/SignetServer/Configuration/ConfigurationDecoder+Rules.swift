import SignetCore

/// Rules for strings in the file.
///
/// They prevent a server from starting with URLs or header values that clients could not use.
enum TextRule {
    /// Returns true for an HTTP URL to which paths can be appended.
    static func isBase(_ text: String) -> Bool {
        (try? Endpoint(unchecked: text)) != nil && !text.contains("?") && !text.contains("#")
    }

    /// Returns true for a path whose segments need no escaping.
    ///
    /// It does not accept `.` and `..`, which clients remove.
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
            !label.isEmpty && label.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
        }
    }

    /// Returns true for the domain of a server, as a WebAuthn relying party id requires.
    static func isHost(_ text: String) -> Bool { isDomain(text) && !text.hasPrefix(".") }

    /// Returns true for a redirect URI (RFC 6749 section 3.1.2): an absolute URI of a website or an app, without a fragment.
    ///
    /// It rejects schemes that a browser would execute or display itself, such as `javascript`.
    static func isRedirect(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, isLetter(first) else { return false }
        let (scheme, rest) = (text[..<colon].lowercased(), text[colon...].dropFirst())
        return scheme.utf8.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
            && !["javascript", "data", "vbscript", "blob", "about"].contains(scheme)
            && !rest.isEmpty && !rest.contains("#") && rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}

extension ConfigurationDecoder {
    /// Reports a string that a rule rejects.
    ///
    /// A missing or mistyped value is not reported here, because it was reported when it was read.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - text: The string.
    ///   - kind: The description of a valid string.
    ///   - isGood: The rule.
    mutating func check(_ name: String, _ text: String?, _ kind: String, _ isGood: (String) -> Bool) {
        guard let text, hasString(name), !isGood(text) else { return }
        report(.invalidValue, in: name, "`\(name)` must be \(kind), not `\(text.shortened)`")
    }

    /// Reads the names of the session properties that users may read and change.
    mutating func sessionProperties() -> [String] {
        let names = optionalStrings("sessionProperties", default: "none") ?? []
        for name in names where name.isEmpty || SessionsController.ownProperties.contains(name) {
            report(
                .invalidValue, in: "sessionProperties",
                "`\(name.shortened)` can't be a session property of users: choose a name that the server doesn't set itself")
        }
        return names
    }

    /// Reads redirect URIs of logins or logouts.
    mutating func redirects(_ name: String) -> [String] {
        let addresses = optionalStrings(name) ?? []
        for address in addresses where !TextRule.isRedirect(address) {
            report(
                .invalidValue, in: name,
                "`\(address.shortened)` can't be a redirect URI: it needs the scheme of a website or an app, and no fragment")
        }
        return addresses
    }
}

extension ConfigurationDecoder {
    /// Decodes the address of an image (``PageImage``).
    mutating func image(_ name: String, default standard: String) -> String? {
        let address = optionalString(name, default: standard)
        check(
            name, address, "the https address of an image, or a `data:image/...` URL of at most 64 KiB that is not SVG",
            PageImage.isAddress)
        return address
    }

    /// Decodes a color: six hexadecimal digits with an optional `#`.
    mutating func color(_ name: String) -> String? {
        let kind = "six hexadecimal digits"
        guard let text = optionalString(name, kind: kind, default: "the server's") else { return nil }
        let digits = text.drop { $0 == "#" }
        if digits.count == 6, digits.allSatisfy(\.isHexDigit) { return String(digits) }
        report(
            .invalidValue, in: name,
            "`\(name)` must be \(kind), `519387`, in quotes if it begins with `#`; not `\(text.shortened)`")
        return nil
    }
}
