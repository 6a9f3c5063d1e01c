import SignetCore
import SignetStorage

/// The names of all accounts of a vault, with what proves their records: the content of one record (docs/reference/vault-format.md).
///
/// A process finds an account in it without reading the others. Each entry begins with the hashes of the names, so that a search
/// compares few texts (docs/decisions/040-name-index.md).
struct NameIndex: Sendable {
    /// An account.
    struct Entry: Sendable, Hashable {
        let names: AccountNames
        /// The mark of the account's record.
        let mark: [UInt8]
        let mechanisms: [MechanismEntry]
    }

    /// A mechanism of an account.
    struct MechanismEntry: Sendable, Hashable {
        let uid: String
        /// The mark of the mechanism's record; nil for a counter, whose record changes with each code, and for a record that could
        /// not be read.
        let mark: [UInt8]?
    }

    static let markLength = 12
    private static let format: UInt8 = 1
    private static let keyIDLength = 4
    /// The length of the format and the state.
    private static let headLength = 1 + 8 + keyIDLength

    /// The content of the record.
    let bytes: [UInt8]
    /// The state of the accounts for which the index was made.
    let state: AccountsState

    /// Reads the content of a record; returns nil for another format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes[0] == Self.format else { return nil }
        let version = bytes[1..<9].reduce(0) { $0 << 8 | UInt64($1) }
        state = AccountsState(version: version, keyID: Array(bytes[9..<Self.headLength]))
        self.bytes = bytes
    }

    /// Creates an index of accounts.
    init(_ entries: some Sequence<Entry>, state: AccountsState) {
        self.init(encoded: entries.flatMap(\.encoded), state: state)
    }

    private init(encoded entries: [UInt8], state: AccountsState) {
        self.state = state
        bytes =
            [Self.format] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: state.version >> (8 * $0)) } + state.keyID
            + entries
    }

    /// True when the index has no account.
    var isEmpty: Bool { bytes.count == Self.headLength }

    /// Returns the entries with a name, or a mechanism's ID, that differs from a text at most by case.
    /// - Parameters:
    ///   - text: The text that the user typed.
    ///   - limit: The most entries to return.
    /// - Returns: The entries; nil when there are more, and for malformed content.
    func entries(called text: String, limit: Int) -> [Entry]? {
        let name = TypedName(text)
        // Names with other characters have no hashes: equal texts can have different bytes.
        let hash = name.lowercased.isASCII ? NameHash.of(name.lowercased) : nil
        var found: [Entry] = []
        var reader = ByteReader(bytes, from: Self.headLength)
        while !reader.isAtEnd {
            guard let length = reader.number(), let end = reader.end(of: length), let isSimilar = reader.findsHash(hash) else {
                return nil
            }
            if isSimilar {
                guard let entry = Entry(&reader) else { return nil }
                if name.isOne(of: entry.allNames) { found.append(entry) }
                guard found.count <= limit else { return nil }
            }
            reader.position = end
        }
        return found
    }

    /// Returns the index with other entries for some accounts.
    /// - Parameters:
    ///   - changes: The new entries; nil for an account that is not in the index any more.
    ///   - state: The state of the accounts with these changes.
    /// - Returns: The new index; nil for malformed content.
    func replacing(_ changes: [AccountID: Entry?], state: AccountsState) -> NameIndex? {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count + 256 * changes.count)
        var reader = ByteReader(bytes, from: Self.headLength)
        while !reader.isAtEnd {
            let start = reader.position
            guard let length = reader.number(), let end = reader.end(of: length), reader.findsHash(nil) != nil,
                let entry = Entry(&reader)
            else { return nil }
            if !changes.keys.contains(entry.names.id) { kept += bytes[start..<end] }
            reader.position = end
        }
        for entry in changes.values { kept += entry?.encoded ?? [] }
        return NameIndex(encoded: kept, state: state)
    }
}

extension NameIndex.Entry {
    private static let (hasDisplayIssuer, hasDisplayAccountName): (UInt8, UInt8) = (1, 2)

    /// Reads an entry behind its hashes; returns nil for malformed content.
    fileprivate init?(_ reader: inout ByteReader) {
        guard let mark = reader.bytes(NameIndex.markLength), let flags = reader.byte(), let issuer = reader.text(),
            let accountName = reader.text()
        else { return nil }
        var display: [String?] = []
        for flag in [Self.hasDisplayIssuer, Self.hasDisplayAccountName] {
            guard flags & flag != 0 else {
                display.append(nil)
                continue
            }
            guard let name = reader.text() else { return nil }
            display.append(name)
        }
        guard let count = reader.number() else { return nil }
        var mechanisms: [NameIndex.MechanismEntry] = []
        for _ in 0..<count {
            guard let isMarked = reader.byte(), let mark = reader.bytes(isMarked == 0 ? 0 : NameIndex.markLength),
                let uid = reader.text()
            else { return nil }
            mechanisms.append(NameIndex.MechanismEntry(uid: uid, mark: isMarked == 0 ? nil : mark))
        }
        self.init(
            names: AccountNames(
                id: AccountID(issuer: issuer, accountName: accountName), displayIssuer: display[0], displayAccountName: display[1]
            ),
            mark: mark, mechanisms: mechanisms)
    }

    /// The bytes of the entry, behind their number.
    fileprivate var encoded: [UInt8] {
        let texts = (names.all + mechanisms.map(\.uid)).map { $0.lowercased() }
        let hashes = texts.allSatisfy(\.isASCII) ? Set(texts.map(NameHash.of)) : []
        var bytes = Self.number(hashes.count)
        for hash in hashes { bytes += Self.number(Int(hash)) }
        bytes += mark
        let flags =
            (names.displayIssuer == nil ? 0 : Self.hasDisplayIssuer)
            | (names.displayAccountName == nil ? 0 : Self.hasDisplayAccountName)
        bytes.append(flags)
        let parts = [names.id.issuer, names.id.accountName, names.displayIssuer, names.displayAccountName].compactMap { $0 }
        for part in parts { bytes += Self.text(part) }
        bytes += Self.number(mechanisms.count)
        for mechanism in mechanisms {
            bytes.append(mechanism.mark == nil ? 0 : 1)
            bytes += mechanism.mark ?? []
            bytes += Self.text(mechanism.uid)
        }
        return Self.number(bytes.count) + bytes
    }

    private static func number(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
    }

    private static func text(_ text: String) -> [UInt8] { number(text.utf8.count) + text.utf8 }

    /// The names of the account, and the IDs of its mechanisms.
    fileprivate var allNames: [String] { names.all + mechanisms.map(\.uid) }
}

/// The hash of a name in the index: FNV-1a of 32 bits, over its bytes in lower case.
///
/// Names with the same hash cost a comparison and mean nothing else, so it needs no key.
private enum NameHash {
    static func of(_ lowercased: String) -> UInt32 {
        lowercased.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

/// A position in the bytes of an index.
///
/// Each method returns nil at the end of the bytes.
private struct ByteReader {
    private let content: [UInt8]
    var position: Int

    init(_ content: [UInt8], from position: Int) {
        (self.content, self.position) = (content, position)
    }

    var isAtEnd: Bool { position >= content.count }

    /// Returns the position behind the next bytes.
    func end(of count: Int) -> Int? { count <= content.count - position ? position + count : nil }

    mutating func byte() -> UInt8? {
        guard position < content.count else { return nil }
        defer { position += 1 }
        return content[position]
    }

    /// Reads a number of four bytes, most significant first.
    mutating func number() -> Int? {
        guard let end = end(of: 4) else { return nil }
        var number: UInt32 = 0
        while position < end {
            number = number << 8 | UInt32(content[position])
            position += 1
        }
        return Int(number)
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard let end = end(of: count) else { return nil }
        defer { position = end }
        return Array(content[position..<end])
    }

    /// Reads a text behind the number of its bytes.
    mutating func text() -> String? {
        guard let count = number(), let end = end(of: count) else { return nil }
        defer { position = end }
        return String(strictUTF8: content[position..<end])
    }

    /// Reads the hashes of an entry.
    /// - Parameter hash: The hash to look for; nil to look for none.
    /// - Returns: False when the entry has hashes and this one is not among them.
    mutating func findsHash(_ hash: UInt32?) -> Bool? {
        guard let count = number(), let end = end(of: 4 * count) else { return nil }
        var isFound = hash == nil || count == 0
        while !isFound, position < end { isFound = number().map { UInt32($0) } == hash }
        position = end
        return isFound
    }
}
