import SignetCore

/// All records of a small store in one byte sequence, for an engine that keeps them in one item.
///
///     bundle  = "SGB" version(1) count(4) record*
///     record  = kind name bytes            in ascending order of kind, then name, each once
///     kind, name, bytes = length(4) byte*  the kind is its raw value in UTF-8
///
/// Numbers are unsigned, most significant byte first. Kinds that this version does not know are kept unchanged.
struct RecordBundle: Sendable, Equatable {
    /// A kind and a name.
    ///
    /// The kind is stored as bytes, so that an unknown kind is not lost.
    struct Name: Hashable, Comparable {
        let kind: [UInt8]
        let name: [UInt8]

        init(kind: [UInt8], name: [UInt8]) {
            self.kind = kind
            self.name = name
        }

        init(_ key: RecordKey) {
            self.init(kind: Array(key.kind.rawValue.utf8), name: key.name)
        }

        static func < (left: Name, right: Name) -> Bool {
            left.kind == right.kind
                ? left.name.lexicographicallyPrecedes(right.name) : left.kind.lexicographicallyPrecedes(right.kind)
        }
    }

    var records: [Name: [UInt8]] = [:]

    private static let magic = Array("SGB".utf8)
    private static let version: UInt8 = 1

    var encoded: [UInt8] {
        var bytes = Self.magic + [Self.version]
        withUnsafeBytes(of: UInt32(records.count).bigEndian) { bytes += $0 }
        for name in records.keys.sorted() {
            for part in [name.kind, name.name, records[name] ?? []] { bytes += LengthPrefixed.bytes(part) }
        }
        return bytes
    }

    init() {}

    /// Decodes a bundle.
    /// - Throws: ``StoreError/Code/corrupt`` when `bytes` are not exactly the output of ``encoded``;
    ///   ``StoreError/Code/newerFormat`` for a later version of the format.
    init(_ bytes: [UInt8]) throws(StoreError) {
        var reader = ByteReader(bytes)
        guard reader.bytes(Self.magic.count) == Self.magic, let version = reader.bytes(1)?.first, version > 0 else {
            throw Self.damaged
        }
        guard version <= Self.version else {
            throw StoreError(
                .newerFormat, "read the records",
                "format \(version) was written by a newer version of Signet; this version reads formats up to \(Self.version)"
            )
        }
        guard let count = reader.number() else { throw Self.damaged }
        var last: Name?
        for _ in 0..<count {
            guard let kind = reader.lengthPrefixed(), let name = reader.lengthPrefixed(), let content = reader.lengthPrefixed()
            else { throw Self.damaged }
            let key = Name(kind: kind, name: name)
            if let last, key <= last { throw Self.damaged }
            records[key] = content
            last = key
        }
        guard reader.rest.isEmpty else { throw Self.damaged }
    }

    private static let damaged = StoreError(
        .corrupt, "read the records", "the records are damaged; they were not changed")
}

extension RecordBundle {
    /// Returns at most `limit` records of a kind whose names come after `name`, in the order of their names.
    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) -> [StoredRecord] {
        let kind = Array(kind.rawValue.utf8)
        return records.keys
            .filter { $0.kind == kind && (name?.lexicographicallyPrecedes($0.name) ?? true) }
            .sorted().prefix(max(0, limit))
            .map { StoredRecord(name: $0.name, content: .success(records[$0] ?? [])) }
    }
}

/// A transaction over a bundle.
///
/// To keep its changes, the caller must store ``bytes``.
package final class BundledRecords: RecordWriter {
    private(set) var bundle: RecordBundle
    private let before: RecordBundle

    init(bundle: RecordBundle) {
        self.bundle = bundle
        before = bundle
    }

    /// Decodes the records in `bytes`.
    ///
    /// The bundle is empty when `bytes` is nil.
    /// - Throws: ``StoreError/Code/corrupt``, ``StoreError/Code/newerFormat``.
    package convenience init(_ bytes: [UInt8]?) throws(StoreError) {
        guard let bytes else {
            self.init(bundle: RecordBundle())
            return
        }
        self.init(bundle: try RecordBundle(bytes))
    }

    /// All records, encoded.
    package var bytes: [UInt8] { bundle.encoded }

    /// True when the records differ from those at the beginning.
    package var isChanged: Bool { bundle != before }

    package func record(_ key: RecordKey) -> [UInt8]? { bundle.records[RecordBundle.Name(key)] }

    package func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) -> [StoredRecord] {
        bundle.records(kind, after: name, limit: limit)
    }

    package func put(_ bytes: [UInt8], _ key: RecordKey) { bundle.records[RecordBundle.Name(key)] = bytes }
    package func remove(_ key: RecordKey) { bundle.records[RecordBundle.Name(key)] = nil }
}
