package import Foundation

/// A value of a property list.
package enum PropertyListValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// A reference to an object of a keyed archive.
    case reference(Int)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// The text; nil for another kind of value.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The bytes; nil for another kind of value.
    package var data: Data? { if case .data(let value) = self { value } else { nil } }
    /// The elements; nil for another kind of value.
    package var array: [PropertyListValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members; nil for another kind of value.
    package var dictionary: [String: PropertyListValue]? { if case .dictionary(let value) = self { value } else { nil } }
}

/// An error in the bytes of a property list or of a keyed archive.
///
/// It never contains their content.
package struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The part that caused the error.
    package let part: String
    /// A description of the error.
    package let reason: String

    /// Creates an error.
    package init(_ part: String, _ reason: String) {
        self.part = part
        self.reason = reason
    }

    /// The part and the reason.
    package var description: String { "\(part): \(reason)" }
}

/// A reader of binary property lists (version `bplist00`), which refuses everything that is not one.
///
/// docs/decisions/024-keyed-archives.md explains why Foundation's reader is not used. The layout is that of Apple's
/// CFBinaryPList.c: a header, objects, a table of their offsets, and a trailer of 32 bytes.
package struct BinaryPropertyList {
    /// The maximum size in bytes.
    package static let maxLength = 64 << 20
    /// The maximum number of values, where a value that is referred to twice counts twice.
    private static let maxValues = 1_000_000
    /// The maximum depth of nesting.
    private static let maxDepth = 32

    private let bytes: [UInt8]
    private let offsets: Range<Int>
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private var remaining = Self.maxValues
    /// The number of bytes of texts and data that may still be copied, so that a long one cannot be referred to a million times.
    private var remainingBytes: Int

    /// Returns true when the bytes begin as a binary property list.
    package static func isOne(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: Array("bplist".utf8)) }

    /// Returns the top value.
    /// - Throws: ``ArchiveError`` for anything that is not a complete property list within the limits.
    package static func value(of bytes: [UInt8]) throws(ArchiveError) -> PropertyListValue {
        var (list, top) = try list(bytes)
        return try list.object(top, depth: 0)
    }

    private static func list(_ bytes: [UInt8]) throws(ArchiveError) -> (BinaryPropertyList, top: Int) {
        guard bytes.starts(with: Array("bplist00".utf8)) else { throw ArchiveError("header", "not a binary property list") }
        guard bytes.count <= maxLength else { throw ArchiveError("file", "more than \(maxLength >> 20) MiB are not read") }
        guard bytes.count >= 8 + 32 else { throw ArchiveError("trailer", "the list was cut off") }
        let trailer = bytes.count - 32
        func number(_ offset: Int, _ size: Int) -> UInt64 {
            bytes[(trailer + offset)..<(trailer + offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        let (count, top, table) = (number(8, 8), number(16, 8), number(24, 8))
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count > 0, top < count,
            count <= UInt64(trailer), table >= 8, table <= UInt64(trailer),
            Int(count) * offsetSize <= trailer - Int(table)
        else { throw ArchiveError("trailer", "the list was cut off or changed") }
        let offsets = Int(table)..<(Int(table) + Int(count) * offsetSize)
        return (
            BinaryPropertyList(
                bytes: bytes, offsets: offsets, offsetSize: offsetSize, referenceSize: referenceSize, count: Int(count)),
            Int(top)
        )
    }

    private init(bytes: [UInt8], offsets: Range<Int>, offsetSize: Int, referenceSize: Int, count: Int) {
        (self.bytes, self.offsets, self.offsetSize) = (bytes, offsets, offsetSize)
        (self.referenceSize, self.count) = (referenceSize, count)
        remainingBytes = 4 * bytes.count + (1 << 20)
    }

    private mutating func object(_ index: Int, depth: Int) throws(ArchiveError) -> PropertyListValue {
        guard depth <= Self.maxDepth else { throw ArchiveError("object", "nested deeper than \(Self.maxDepth) levels") }
        remaining -= 1
        guard remaining >= 0 else { throw ArchiveError("file", "more than \(Self.maxValues) values") }
        let start = try offset(of: index)
        let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 0x0F))
        switch (kind, low) {
        case (0x0, 0x0): return .null
        case (0x0, 0x8): return .bool(false)
        case (0x0, 0x9): return .bool(true)
        case (0x1, 0...4): return try integer(start + 1, size: 1 << low)
        case (0x2, 2): return .real(Double(Float(bitPattern: UInt32(try number(start + 1, 4)))))
        case (0x2, 3): return .real(Double(bitPattern: try number(start + 1, 8)))
        case (0x3, 3): return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try number(start + 1, 8))))
        case (0x8, 0...7):
            guard let value = Int(exactly: try number(start + 1, low + 1)) else { throw damaged }
            return .reference(value)
        default: return try collection(kind, low, start, depth)
        }
    }

    private mutating func collection(_ kind: UInt8, _ low: Int, _ start: Int, _ depth: Int) throws(ArchiveError)
        -> PropertyListValue
    {
        let (size, content) = try length(low, start)
        if kind < 0xA {
            remainingBytes -= try slice(content, size, each: kind == 0x6 ? 2 : 1).count
            guard remainingBytes >= 0 else { throw ArchiveError("file", "a string or data object is referred to too often") }
        }
        switch kind {
        case 0x4: return .data(Data(try slice(content, size)))
        case 0x5:
            let text = try slice(content, size)
            guard text.allSatisfy({ $0 < 0x80 }) else { throw damaged }
            return .string(String(decoding: text, as: UTF8.self))
        case 0x6:
            let bytes = try slice(content, size, each: 2)
            let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            let text = String(decoding: units, as: UTF16.self)
            // Decoding has replaced a surrogate without its other half by U+FFFD.
            guard text.utf16.elementsEqual(units) else { throw ArchiveError("object", "a string is not UTF-16") }
            return .string(text)
        case 0xA: return .array(try elements(content, size, depth))
        case 0xD:
            let keys = try elements(content, size, depth)
            let values = try elements(content + size * referenceSize, size, depth)
            var members: [String: PropertyListValue] = [:]
            for (key, value) in zip(keys, values) {
                guard let key = key.string, members.updateValue(value, forKey: key) == nil else {
                    throw ArchiveError("object", "a member has no name, or one that occurs twice")
                }
            }
            return .dictionary(members)
        default: throw ArchiveError("object", "an unknown kind of value")
        }
    }

    private mutating func elements(_ start: Int, _ count: Int, _ depth: Int) throws(ArchiveError) -> [PropertyListValue] {
        _ = try slice(start, count, each: referenceSize)
        var elements: [PropertyListValue] = []
        for position in 0..<count {
            guard let index = Int(exactly: try number(start + position * referenceSize, referenceSize)) else { throw damaged }
            elements.append(try object(index, depth: depth + 1))
        }
        return elements
    }

    private func integer(_ start: Int, size: Int) throws(ArchiveError) -> PropertyListValue {
        // Numbers of one, two and four bytes are unsigned. Those of 16 bytes hold unsigned ones of 64 bits.
        let value = try number(start + max(0, size - 8), min(size, 8))
        guard size == 16 else { return .integer(Int64(bitPattern: value)) }
        guard try number(start, 8) == 0, let value = Int64(exactly: value) else {
            throw ArchiveError("object", "a number is too large")
        }
        return .integer(value)
    }

    /// Returns the number of elements of an object, and the offset of the first one.
    private func length(_ low: Int, _ start: Int) throws(ArchiveError) -> (count: Int, content: Int) {
        guard low == 0x0F else { return (low, start + 1) }
        let marker = try slice(start + 1, 1)
        guard let kind = marker.first, kind >> 4 == 1, kind & 0x0F <= 3 else { throw damaged }
        let size = 1 << Int(kind & 0x0F)
        guard let count = Int(exactly: try number(start + 2, size)) else { throw damaged }
        return (count, start + 2 + size)
    }

    private func offset(of index: Int) throws(ArchiveError) -> Int {
        guard index >= 0, index < count else { throw damaged }
        let position = offsets.lowerBound + index * offsetSize
        let value = bytes[position..<(position + offsetSize)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard value >= 8, value < UInt64(offsets.lowerBound) else { throw damaged }
        return Int(value)
    }

    private func number(_ start: Int, _ size: Int) throws(ArchiveError) -> UInt64 {
        try slice(start, size).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the bytes of `count` elements of `size` bytes, all of which are before the table of offsets.
    private func slice(_ start: Int, _ count: Int, each size: Int = 1) throws(ArchiveError) -> ArraySlice<UInt8> {
        let (length, isTooLong) = count.multipliedReportingOverflow(by: size)
        guard !isTooLong, count >= 0, start >= 8, start <= offsets.lowerBound, length <= offsets.lowerBound - start else {
            throw damaged
        }
        return bytes[start..<(start + length)]
    }

    private var damaged: ArchiveError { ArchiveError("object", "the list was cut off or changed") }
}
