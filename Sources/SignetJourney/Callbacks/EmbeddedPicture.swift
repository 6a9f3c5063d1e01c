import SignetCore

/// A picture in a text of a page, as a data URL in base64 (RFC 2397): `data:image/png;base64,…`.
package struct EmbeddedPicture {
    /// The range of the URL in the text.
    package let range: Range<String.Index>
    /// The bytes of the picture's file.
    package let bytes: [UInt8]

    /// Returns the pictures in a text, in order.
    package static func all(in text: String) -> [EmbeddedPicture] {
        var pictures: [EmbeddedPicture] = []
        var rest = text[...]
        while let scheme = rest.firstRange(of: "data:image/") {
            let subtype = rest[scheme.upperBound...].prefix { $0 != ";" && $0 != "," && !$0.isWhitespace }
            let parameters = rest[subtype.endIndex...]
            rest = parameters
            guard let marker = [";base64,", ";BASE64,"].first(where: { parameters.hasPrefix($0) }) else { continue }
            let data = parameters.dropFirst(marker.count).prefix { $0.isBase64 }
            rest = rest[data.endIndex...]
            guard !data.isEmpty, let bytes = try? Base64.decode(data) else { continue }
            pictures.append(EmbeddedPicture(range: scheme.lowerBound..<data.endIndex, bytes: bytes))
        }
        return pictures
    }

    /// Returns a text without the data URLs of its pictures, which no reader can use.
    package static func removing(from text: String) -> String {
        var result = text
        for picture in all(in: text).reversed() { result.removeSubrange(picture.range) }
        return result
    }
}

extension JourneyStep {
    /// The pictures in the texts of the step, which may be QR codes.
    package var pictures: [[UInt8]] {
        callbacks(TextOutputCallback.self).filter { $0.messageType != .script }
            .flatMap { EmbeddedPicture.all(in: $0.message).map(\.bytes) }
    }
}

extension Character {
    fileprivate var isBase64: Bool {
        guard let byte = asciiValue else { return false }
        return byte.isASCIILetterOrDigit || [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains(byte)
    }
}
