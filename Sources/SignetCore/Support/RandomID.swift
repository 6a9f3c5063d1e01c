/// Unpredictable identifiers.
package enum RandomID {
    /// Returns a random version 4 UUID (RFC 9562 section 5.4) in upper case, as the iOS SDKs write it.
    package static func uuid() -> String {
        UUIDText.text(of: Secret.random(byteCount: 16).bytes, version: 4)
    }
}

/// The text form of UUIDs.
package enum UUIDText {
    /// Returns the UUID made of the first 16 of `bytes`, with the version and variant bits set (RFC 9562 section 4.2).
    package static func text(of bytes: some Sequence<UInt8>, version: UInt8) -> String {
        var bytes = Array(bytes.prefix(16))
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 4, 6, 8, 10: text.append(UInt8(ascii: "-"))
            default: break
            }
            text.append(hexDigitsOf: byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
