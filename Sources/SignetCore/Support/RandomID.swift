/// Ids that nobody can guess.
package enum RandomID {
    /// A version 4 UUID (RFC 9562 section 5.4) in upper case, as the iOS SDKs write it.
    package static func uuid() -> String {
        var bytes = Secret.random(byteCount: 16).bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
    }
}
