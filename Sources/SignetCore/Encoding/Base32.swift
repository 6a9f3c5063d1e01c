/// Base32 (RFC 4648 section 6), decoded as tolerantly as by the most tolerant existing authenticator.
///
/// Decoding ignores white space, `-` and `=` anywhere, accepts both cases, and reads the look-alikes `0`, `1` and `8` as `O`, `L`
/// and `B`. Remaining bits of a partial last group are dropped. See protocol/authenticator.md section 1.4.
public enum Base32 {
    /// Decodes `text`.
    /// - Throws: ``InvalidEncoding``.
    public static func decode(_ text: String) throws(InvalidEncoding) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 5 / 8)
        var buffer: UInt32 = 0
        var bits = 0
        for (offset, character) in text.utf8.enumerated() {
            guard let value = value(of: character) else {
                if isSeparator(character) { continue }
                throw InvalidEncoding(encoding: .base32, offset: offset)
            }
            buffer = buffer << 5 | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes
    }

    /// Encodes `bytes` in upper case, by default without the trailing `=` (the form of enrollment URIs).
    public static func encode(_ bytes: some Sequence<UInt8>, padded: Bool = false) -> String {
        var characters: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                characters.append(alphabet[Int(buffer >> bits & 31)])
            }
        }
        if bits > 0 { characters.append(alphabet[Int(buffer << (5 - bits) & 31)]) }
        while padded, !characters.count.isMultiple(of: 8) { characters.append(UInt8(ascii: "=")) }
        return String(decoding: characters, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
        case UInt8(ascii: "0"): 14
        case UInt8(ascii: "1"): 11
        case UInt8(ascii: "8"): 1
        default: nil
        }
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "-"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
