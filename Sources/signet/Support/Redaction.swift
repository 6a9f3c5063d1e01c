/// Leaves enrollment URIs out of texts, because they contain secrets.
///
/// A command that is given such a URI by mistake repeats its arguments in error messages, and a message may end up in a log.
enum Redaction {
    static let replacement = "<URI>"

    private static let schemes = ["otpauth", "otpauth-migration", "pushauth", "mfauth", "steam"]

    /// The arguments of this process that contain an enrollment URI, without the name of their option; the longest first.
    private static let arguments = CommandLine.arguments.flatMap(values).filter(namesScheme).sorted { $0.count > $1.count }

    /// Returns the text without enrollment URIs.
    static func withoutSecrets(_ text: String) -> String { withoutSecrets(text, arguments: arguments) }

    /// Returns the text without enrollment URIs.
    ///
    /// An argument is replaced as a whole, since it may contain spaces; any other URI ends at a space or a quotation mark.
    static func withoutSecrets(_ text: String, arguments: [String]) -> String {
        guard namesScheme(text) else { return text }
        var rest = arguments.reduce(text) { $0.replacing($1, with: replacement) }[...]
        var result = ""
        while let start = firstScheme(in: rest) {
            result += rest[..<start] + replacement
            rest = rest[start...].drop { !$0.isWhitespace && $0 != "'" && $0 != "\"" }
        }
        return result + rest
    }

    /// Returns an argument, and the value in it if it is an option with one.
    static func values(_ argument: String) -> [String] {
        let value = argument.hasPrefix("-") ? argument.split(separator: "=", maxSplits: 1).dropFirst() : []
        return [argument] + value.map(String.init)
    }

    private static func namesScheme(_ text: String) -> Bool { firstScheme(in: text[...]) != nil }

    /// Returns the position of the first scheme of enrollment URIs, in upper or lower case, that a colon follows.
    private static func firstScheme(in text: Substring) -> Substring.Index? {
        let bytes = text.utf8
        for colon in bytes.indices where bytes[colon] == UInt8(ascii: ":") {
            for scheme in schemes {
                guard let start = bytes.index(colon, offsetBy: -scheme.utf8.count, limitedBy: bytes.startIndex) else { continue }
                // `Steam:name` is an account of the issuer Steam.
                if scheme == "steam", !bytes[colon...].starts(with: "://".utf8) { continue }
                // The bit 0x20 is set in lower-case letters and in the hyphen.
                if bytes[start..<colon].elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 }) { return start }
            }
        }
        return nil
    }
}
