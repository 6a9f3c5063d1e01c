/// A writer of CBOR in the canonical form of CTAP2 (CTAP 2.1 section 8): shortest lengths, and members in the order of the caller.
struct CBORWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes an integer.
    mutating func integer(_ value: Int) {
        if value < 0 { head(1, UInt64(-1 - value)) } else { head(0, UInt64(value)) }
    }

    /// Writes a byte string.
    mutating func byteString(_ value: some Collection<UInt8>) {
        head(2, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes a text.
    mutating func text(_ value: String) {
        head(3, UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    /// Writes the beginning of a map, which `count` pairs follow.
    mutating func map(_ count: Int) { head(5, UInt64(count)) }

    /// Writes an item that is encoded already.
    mutating func encoded(_ item: some Sequence<UInt8>) { bytes.append(contentsOf: item) }

    private mutating func head(_ type: UInt8, _ argument: UInt64) {
        let type = type << 5
        switch argument {
        case 0..<24: bytes.append(type | UInt8(argument))
        case 24...0xFF: bytes += [type | 24, UInt8(argument)]
        case 0x100...0xFFFF: bytes += [type | 25, UInt8(argument >> 8), UInt8(argument & 0xFF)]
        default:
            bytes.append(type | 26)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: argument).bigEndian) { bytes.append(contentsOf: $0) }
        }
    }
}
