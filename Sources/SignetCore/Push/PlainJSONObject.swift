/// The short way through the one form of JSON that servers write push messages in: an object of strings, in ASCII, without
/// white space between, with no escapes but of quotes, backslashes and slashes. It is no JSON parser: what has another form,
/// malformed JSON and repeated names among it, is left to one.
struct PlainJSONObject {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// The members in order; nil for any other form.
    static func members(of json: [UInt8]) -> [(name: String, text: String)]? {
        json.withUnsafeBufferPointer { bytes in
            var object = PlainJSONObject(bytes: bytes)
            return object.members()
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func members() -> [(name: String, text: String)]? {
        var members: [(name: String, text: String)] = []
        members.reserveCapacity(16)
        guard take(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard members.count < 32, let name = string(), take(UInt8(ascii: ":")), let text = string(),
                !members.contains(where: { $0.name == name })
            else { return nil }
            members.append((name, text))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")), position == bytes.count else { return nil }
        return members
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func string() -> String? {
        guard take(Self.quote) else { return nil }
        let start = position
        var escapes = 0
        while position < bytes.count, bytes[position] != Self.quote {
            guard (0x20..<0x7F).contains(bytes[position]) else { return nil }
            if bytes[position] == Self.backslash {
                position += 1
                guard position < bytes.count, Self.isEscapable(bytes[position]) else { return nil }
                escapes += 1
            }
            position += 1
        }
        let end = position
        return take(Self.quote) ? text(start..<end, escapes: escapes) : nil
    }

    private func text(_ range: Range<Int>, escapes: Int) -> String {
        let raw = UnsafeBufferPointer(rebasing: bytes[range])
        guard escapes > 0 else { return String(decoding: raw, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: raw.count - escapes) { output in
            var count = 0
            var offset = 0
            while offset < raw.count {
                if raw[offset] == Self.backslash { offset += 1 }
                output[count] = raw[offset]
                count += 1
                offset += 1
            }
            return count
        }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isEscapable(_ byte: UInt8) -> Bool { byte == quote || byte == backslash || byte == UInt8(ascii: "/") }
}
