import Foundation
import SignetCore

/// An email in the format of RFC 5322, with text and HTML (RFC 2046).
///
/// It has only ASCII characters and short lines, so that every server transports it unchanged.
struct SMTPMessage: Sendable {
    /// The lines without their ends.
    let lines: [String]

    /// Creates the message.
    /// - Parameters:
    ///   - email: The email.
    ///   - sender: The address of the sender.
    init(_ email: EmailDelivery, from sender: String) {
        let boundary = "signet-\(email.id)"
        let domain = sender.split(separator: "@").last.map(String.init) ?? "localhost"
        var lines = [
            "From: <\(sender)>", "To: <\(email.to)>", "Subject: \(EncodedWords.encode(email.subject))",
            "Date: \(HTTPDate.text(of: email.sentAt).replacing(" GMT", with: " +0000"))",
            "Message-ID: <\(email.id)@\(domain)>", "MIME-Version: 1.0",
            "Content-Type: multipart/alternative; boundary=\"\(boundary)\"", "",
        ]
        for (type, text) in [("text/plain", email.text), ("text/html", email.html)] {
            lines += ["--\(boundary)", "Content-Type: \(type); charset=UTF-8", "Content-Transfer-Encoding: base64", ""]
            lines += Self.lines(of: Base64.encode(Array(text.utf8), as: .standard))
        }
        lines += ["--\(boundary)--", ""]
        self.lines = lines
    }

    /// The message as the command `DATA` sends it: with CR and LF, doubled dots at the beginning of lines, and the dot at the end.
    var transparent: String {
        lines.map { ($0.hasPrefix(".") ? "." : "") + $0 + "\r\n" }.joined() + ".\r\n"
    }

    /// The length of a line of Base64, in characters (RFC 2045 section 6.8).
    private static let lineLength = 76

    private static func lines(of base64: String) -> [String] {
        var (lines, rest) = ([String](), base64[...])
        while !rest.isEmpty {
            lines.append(String(rest.prefix(lineLength)))
            rest = rest.dropFirst(lineLength)
        }
        return lines
    }
}

extension EncodedWords {
    /// The maximum number of bytes in an encoded word, whose text has at most 75 characters (RFC 2047 section 2).
    private static let maxBytes = 45

    /// Returns the value of a header field: printable ASCII as it is, and other text in encoded words, one a line.
    ///
    /// Control characters become spaces, so that the text cannot add a header field.
    static func encode(_ text: String) -> String {
        let line = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
        guard !line.contains("=?"), line.utf8.count <= 200, line.utf8.allSatisfy({ $0 < 0x7F }) else {
            return words(of: line).map { "=?UTF-8?B?\(Base64.encode($0, as: .standard))?=" }.joined(separator: "\r\n ")
        }
        return line
    }

    /// Returns the bytes of each word, with whole characters.
    private static func words(of text: String) -> [[UInt8]] {
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > maxBytes { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words
    }
}
