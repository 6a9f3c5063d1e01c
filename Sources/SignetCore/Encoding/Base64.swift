/// Base64 in both alphabets of RFC 4648 (sections 4 and 5).
///
/// Decoding accepts either, padded or not, except where a format has one form only; encoding uses the given form.
public enum Base64 {
    /// The two forms that are used on the wire.
    public enum Form: Sendable {
        /// The standard alphabet with `=` padding: challenges and responses.
        case standard
        /// The URL-safe alphabet without padding: JWS segments and URI parameters.
        case url
    }

    /// Decodes `text`, which may mix the alphabets and may have no padding.
    /// - Throws: ``InvalidEncoding``.
    public static func decode(_ text: some StringProtocol) throws(InvalidEncoding) -> [UInt8] {
        let attempt: Result<[UInt8], InvalidEncoding>? = text.utf8.withContiguousStorageIfAvailable { decode(buffer: $0) }
        return try (attempt ?? Array(text.utf8).withUnsafeBufferPointer { decode(buffer: $0) }).get()
    }

    /// Decodes a whole string.
    ///
    /// This overload isn't generic and reads the UTF-8 bytes of the string directly.
    /// - Throws: ``InvalidEncoding``.
    public static func decode(_ text: String) throws(InvalidEncoding) -> [UInt8] {
        var text = text
        return try text.withUTF8 { decode(buffer: $0) }.get()
    }

    /// Decodes base64url without padding, the only form that RFC 7515 (section 2) allows in a JWS and in the numbers of a JWK.
    ///
    /// Other decoders refuse padding and the other alphabet, so that a text which only some readers accept isn't accepted here.
    /// - Throws: ``InvalidEncoding``, also for `=`, `+` and `/`.
    package static func decodeURL(_ text: some StringProtocol) throws(InvalidEncoding) -> [UInt8] {
        let forbidden = text.utf8.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        if let forbidden {
            throw InvalidEncoding(encoding: .base64, offset: text.utf8.distance(from: text.utf8.startIndex, to: forbidden))
        }
        return try decode(text)
    }

    /// Encodes `bytes`.
    public static func encode(_ bytes: some Collection<UInt8>, as form: Form) -> String {
        bytes.withContiguousStorageIfAvailable { encode(buffer: $0, form) }
            ?? Array(bytes).withUnsafeBufferPointer { encode(buffer: $0, form) }
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>, _ form: Form) -> String {
        let alphabet = form == .url ? urlAlphabet : standardAlphabet
        let length = (bytes.count * 4 + 2) / 3
        let padding = form == .standard ? (4 - length % 4) % 4 : 0
        return String(unsafeUninitializedCapacity: length + padding) { output in
            var written = 0
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for byte in bytes {
                buffer = buffer << 8 | UInt32(byte)
                bits += 8
                while bits >= 6 {
                    bits -= 6
                    output[written] = alphabet[Int(buffer >> bits & 63)]
                    written += 1
                }
            }
            if bits > 0 {
                output[written] = alphabet[Int(buffer << (6 - bits) & 63)]
                written += 1
            }
            for _ in 0..<padding {
                output[written] = UInt8(ascii: "=")
                written += 1
            }
            return written
        }
    }

    private static let standardAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character; 0xFF for characters that are not in either alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for alphabet in [standardAlphabet, urlAlphabet] {
            for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        }
        return values
    }()

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>) -> Result<[UInt8], InvalidEncoding> {
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        guard end % 4 != 1, end == text.count || text.count.isMultiple(of: 4) else {
            return .failure(InvalidEncoding(encoding: .base64, offset: end))
        }
        var invalid: Int?
        let bytes = [UInt8](unsafeUninitializedCapacity: end * 3 / 4 + 1) { output, count in
            values.withUnsafeBufferPointer { values in
                let start = decodeGroups(text, end: end, values, into: output, &count)
                var buffer: UInt32 = 0
                var bits: UInt32 = 0
                for offset in start..<end {
                    let value = values[Int(text[offset])]
                    if value == 0xFF {
                        invalid = offset
                        return
                    }
                    buffer = buffer << 6 | UInt32(value)
                    bits += 6
                    if bits >= 8 {
                        bits -= 8
                        output[count] = UInt8(truncatingIfNeeded: buffer >> bits)
                        count += 1
                    }
                }
            }
        }
        if let invalid { return .failure(InvalidEncoding(encoding: .base64, offset: invalid)) }
        return .success(bytes)
    }

    /// Decodes groups of four characters into three bytes each, as long as the groups are complete and valid.
    ///
    /// Returns the offset at which it stopped.
    private static func decodeGroups(
        _ text: UnsafeBufferPointer<UInt8>, end: Int, _ values: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
    ) -> Int {
        var offset = 0
        while offset + 4 <= end {
            let first = values[Int(text[offset])]
            let second = values[Int(text[offset + 1])]
            let third = values[Int(text[offset + 2])]
            let fourth = values[Int(text[offset + 3])]
            guard first | second | third | fourth < 64 else { break }
            output[count] = first << 2 | second >> 4
            output[count + 1] = second << 4 | third >> 2
            output[count + 2] = third << 6 | fourth
            count += 3
            offset += 4
        }
        return offset
    }
}
