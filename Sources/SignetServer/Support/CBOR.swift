/// A decoder for the part of CBOR that WebAuthn uses (RFC 8949): definite lengths, no tags, and no floating-point numbers.
enum CBOR: Sendable, Hashable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([CBOR: CBOR])
    case bool(Bool)
    case null

    /// Reads one item from the front of `bytes` and removes it.
    ///
    /// Returns nil when the item is malformed, nested too deep, or of an unsupported type.
    static func read(_ bytes: inout ArraySlice<UInt8>, depth: Int = 16) -> CBOR? {
        guard depth > 0, let head = bytes.popFirst() else { return nil }
        if head >> 5 == 7 { return [0xF4: .bool(false), 0xF5: .bool(true), 0xF6: .null][head] }
        guard let argument = argument(head & 0x1F, &bytes) else { return nil }
        switch head >> 5 {
        case 0: return .integer(argument)
        case 1: return .integer(-1 - argument)
        case 2: return take(argument, &bytes).map { .bytes($0) }
        case 3: return take(argument, &bytes).flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
        case 4:
            var elements: [CBOR] = []
            // Each element takes at least one byte.
            guard argument <= bytes.count else { return nil }
            for _ in 0..<argument {
                guard let element = read(&bytes, depth: depth - 1) else { return nil }
                elements.append(element)
            }
            return .array(elements)
        case 5:
            var members: [CBOR: CBOR] = [:]
            guard argument <= bytes.count else { return nil }
            for _ in 0..<argument {
                guard let key = read(&bytes, depth: depth - 1), let value = read(&bytes, depth: depth - 1),
                    members.updateValue(value, forKey: key) == nil
                else { return nil }
            }
            return .map(members)
        default: return nil
        }
    }

    private static func argument(_ info: UInt8, _ bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard info >= 24 else { return Int64(info) }
        guard info <= 27, let digits = take(Int64(1) << (info - 24), &bytes) else { return nil }
        return Int64(exactly: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private static func take(_ count: Int64, _ bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard count >= 0, count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(Int(count)) }
        return Array(bytes.prefix(Int(count)))
    }

    subscript(key: CBOR) -> CBOR? { if case .map(let members) = self { members[key] } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
