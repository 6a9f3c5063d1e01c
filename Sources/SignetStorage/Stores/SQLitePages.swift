import SignetCore

/// The pages of an SQLite file, to read records from a damaged one.
///
/// SQLite reads nothing below a damaged page of a tree. Here each page of the table's tree is read for itself ("Database File
/// Format", sections 1.3, 1.6 and 2.1). The result is not trusted more than the rest of the file: a vault opens only records that it
/// sealed for this name.
struct SQLitePages {
    private let bytes: [UInt8]
    private let pageSize: Int
    /// The size of a page without its reserved end.
    private let usableSize: Int
    private var pageCount: Int { bytes.count / pageSize }

    /// Creates a value from the bytes of a file.
    ///
    /// When the header of the file is damaged, pages of 4 KiB are assumed, as SQLite makes them.
    init(_ file: [UInt8]) {
        var (size, reserved) = (0, 0)
        if file.count >= 100, file.starts(with: Array("SQLite format 3\0".utf8)) {
            size = Int(file[16]) << 8 | Int(file[17])
            if size == 1 { size = 65_536 }
            reserved = Int(file[20])
        }
        if size < 512 || size.nonzeroBitCount != 1 || size - reserved < 480 { (size, reserved) = (4_096, 0) }
        pageSize = size
        usableSize = size - reserved
        // A file that was cut may end in a part of a page.
        bytes = file + [UInt8](repeating: 0, count: (size - file.count % size) % size)
    }

    /// Returns the records in all pages that can be read.
    ///
    /// A record that is there twice with different bytes is left out, because either may be an older one.
    func records() -> [RecordKey: [UInt8]] {
        var found: [RecordKey: [UInt8]] = [:]
        var ambiguous: Set<RecordKey> = []
        var chained: Set<Int> = []
        for number in 0..<pageCount {
            for payload in payloads(in: page(number), chained: &chained) {
                guard let (key, content) = Self.record(payload) else { continue }
                if let other = found.updateValue(content, forKey: key), other != content { ambiguous.insert(key) }
            }
        }
        for key in ambiguous { found[key] = nil }
        return found
    }

    private func page(_ number: Int) -> ArraySlice<UInt8> { bytes[number * pageSize..<(number + 1) * pageSize] }

    /// Returns the rows of a page of the table's tree, and none for any other page.
    private func payloads(in page: ArraySlice<UInt8>, chained: inout Set<Int>) -> [[UInt8]] {
        let start = page.startIndex
        // An index page: a leaf, or one with children. A table without rowids is kept like an index.
        guard page[start] == 0x0A || page[start] == 0x02 else { return [] }
        let isLeaf = page[start] == 0x0A
        let count = Int(page[start + 3]) << 8 | Int(page[start + 4])
        let pointers = page.dropFirst(isLeaf ? 8 : 12)
        return (0..<min(count, pointers.count / 2)).compactMap { index in
            let pointer = pointers.startIndex + 2 * index
            let offset = Int(pointers[pointer]) << 8 | Int(pointers[pointer + 1])
            return payload(page.dropFirst(offset + (isLeaf ? 0 : 4)), chained: &chained)
        }
    }

    /// Returns the row in a cell; nil when it is damaged.
    /// - Parameters:
    ///   - cell: The page from the length of the row on.
    ///   - chained: The overflow pages of other rows. Each belongs to one row only, so that damage does not cause endless work.
    /// - Returns: The whole row.
    private func payload(_ cell: ArraySlice<UInt8>, chained: inout Set<Int>) -> [UInt8]? {
        var reader = ByteReader(cell)
        guard let length = reader.sqliteNumber(), length <= bytes.count, var payload = reader.bytes(localLength(of: length))
        else { return nil }
        var next = payload.count < length ? reader.number() : nil
        while payload.count < length {
            guard let number = next, number > 1, number <= pageCount, chained.insert(number).inserted else { return nil }
            var overflow = ByteReader(page(number - 1))
            next = overflow.number()
            payload += overflow.bytes(min(usableSize - 4, length - payload.count)) ?? []
        }
        return payload
    }

    /// Returns how many bytes of a row of this length are in its cell.
    private func localLength(of length: Int) -> Int {
        let largest = (usableSize - 12) * 64 / 255 - 23
        guard length > largest else { return length }
        let smallest = (usableSize - 12) * 32 / 255 - 23
        let preferred = smallest + (length - smallest) % (usableSize - 4)
        return preferred <= largest ? preferred : smallest
    }

    /// Returns the record in a row of kind, name and bytes.
    private static func record(_ payload: [UInt8]) -> (RecordKey, [UInt8])? {
        var header = ByteReader(payload)
        guard let headerLength = header.sqliteNumber(), let kindType = header.sqliteNumber(),
            let nameType = header.sqliteNumber(),
            let bytesType = header.sqliteNumber(), payload.count - header.rest.count == headerLength
        else { return nil }
        // Texts have odd types from 13, blobs even ones from 12.
        guard kindType >= 13, kindType % 2 == 1, nameType >= 12, nameType % 2 == 0, bytesType >= 12, bytesType % 2 == 0,
            let kind = header.bytes((kindType - 13) / 2), let name = header.bytes((nameType - 12) / 2),
            let bytes = header.bytes((bytesType - 12) / 2), header.rest.isEmpty,
            let known = RecordKind(rawValue: String(decoding: kind, as: UTF8.self))
        else { return nil }
        return (RecordKey(known, name: name), bytes)
    }
}

extension ByteReader {
    /// Reads a number of SQLite: seven bits a byte, most significant first, until a byte below 128.
    ///
    /// Numbers of more than five bytes, which no length of a record has, are refused.
    fileprivate mutating func sqliteNumber() -> Int? {
        var number = 0
        for _ in 0..<5 {
            guard let byte = bytes(1)?.first else { return nil }
            number = number << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return number }
        }
        return nil
    }
}
