/// A message between a command and `signet agent`: a list of byte strings.
///
/// Its bytes are its length (four bytes, big-endian) and, for each field, the field's length (four bytes, big-endian) and its content.
/// The format has no parser of its own and needs no library, so that the small program that asks the agent starts fast.
package struct AgentMessage: Sendable, Hashable {
    /// The fields in order.
    package var fields: [[UInt8]]

    /// The maximum length of a request in bytes.
    ///
    /// The longest ones have an enrollment URI.
    package static let maxRequestLength = 64 << 10
    /// The maximum length of a reply in bytes, enough for a list of 100,000 accounts.
    package static let maxReplyLength = 64 << 20

    /// Creates a message of these fields.
    package init(_ fields: [[UInt8]]) { self.fields = fields }

    /// Reads a message without its length.
    ///
    /// Returns nil for bytes that end in the middle of a field.
    package init?(body: [UInt8]) {
        guard let ranges = Self.ranges(in: body) else { return nil }
        fields = ranges.map { Array(body[$0]) }
    }

    /// Returns the places of the fields in a message without its length; nil for bytes that end in the middle of a field.
    static func ranges<Bytes: RandomAccessCollection>(in body: Bytes) -> [Range<Int>]?
    where Bytes.Element == UInt8, Bytes.Index == Int {
        var ranges: [Range<Int>] = []
        var start = body.startIndex
        while start < body.endIndex {
            guard let length = length(body[start...]), length <= body.endIndex - start - 4 else { return nil }
            ranges.append(start + 4..<start + 4 + length)
            start += 4 + length
        }
        return ranges
    }

    /// The bytes of the message, with its length at the beginning.
    package var bytes: [UInt8] {
        let length = fields.reduce(0) { $0 + 4 + $1.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + length)
        Self.append(length, to: &bytes)
        for field in fields {
            Self.append(field.count, to: &bytes)
            bytes.append(contentsOf: field)
        }
        return bytes
    }

    /// Returns the number in the first four bytes; nil when there are fewer.
    package static func length(_ bytes: some Collection<UInt8>) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the text of a field; nil for bytes that are not UTF-8.
    static func text(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        // Invalid bytes became the replacement character.
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    /// Adds a length to the bytes of a message.
    static func append(_ length: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
}
