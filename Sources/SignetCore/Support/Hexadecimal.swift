extension UInt8 {
    /// The value of a hexadecimal digit in either case; nil for any other character.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The hexadecimal digit of a value below 16, in upper case.
    fileprivate var hexDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10 }
}

extension [UInt8] {
    /// Appends the two hexadecimal digits of a byte, in upper case.
    mutating func append(hexDigitsOf byte: UInt8) {
        append((byte >> 4).hexDigit)
        append((byte & 0x0F).hexDigit)
    }
}

/// Conversion between bytes and hexadecimal digits, two for each byte.
package enum Hexadecimal {
    /// Returns two hexadecimal digits for each byte, in upper case.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes { text.append(hexDigitsOf: byte) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes hexadecimal digits of either case.
    ///
    /// Returns nil when `text` has an odd length or a character that isn't a hexadecimal digit.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let high = rest.popFirst() {
            guard let high = high.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
