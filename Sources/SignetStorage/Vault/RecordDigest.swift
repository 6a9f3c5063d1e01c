import Crypto
import Foundation
import SignetCore

/// A keyed digest of the records of a vault, and their number.
///
/// It is MSet-Add-Hash (Clarke and others, "Incremental Multiset Hash Functions and Their Application to Memory Integrity
/// Checking", ASIACRYPT 2003): the sum modulo 2^256 of an HMAC for each record. A change of one record changes the digest by two
/// HMACs, however many records there are. The sum of no records is zero, and a difference of two digests is a digest too.
struct RecordDigest: Sendable, Hashable {
    /// The number of records; modulo 2^64 in a difference.
    private(set) var count: UInt64 = 0
    /// The sum, least significant word first.
    private var words = SIMD4<UInt64>()

    static let length = 32

    /// Creates the digest of no records.
    init() {}

    /// Creates a digest from a sum of 32 bytes, most significant byte first.
    init(count: UInt64, sum: some ContiguousBytes) {
        self.count = count
        sum.withUnsafeBytes { bytes in
            for index in 0..<4 {
                words[3 - index] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            }
        }
    }

    /// The sum as 32 bytes, most significant byte first.
    var sum: [UInt8] {
        (0..<Self.length).reversed().map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (8 * UInt64($0 % 8))) }
    }

    static func += (digest: inout RecordDigest, other: RecordDigest) { digest.add(other.count, other.words, carry: 0) }

    /// Subtracts a digest: adds its two's complement.
    static func -= (digest: inout RecordDigest, other: RecordDigest) { digest.add(0 &- other.count, ~other.words, carry: 1) }

    private mutating func add(_ count: UInt64, _ words: SIMD4<UInt64>, carry: UInt64) {
        self.count &+= count
        var carry = carry
        for index in 0..<4 {
            let (part, first) = self.words[index].addingReportingOverflow(words[index])
            let (whole, second) = part.addingReportingOverflow(carry)
            self.words[index] = whole
            carry = first || second ? 1 : 0
        }
    }
}

extension VaultKeys {
    /// The part of a stored record that its digest covers: the preamble and the nonce.
    ///
    /// The nonce is different at each sealing, and the tag of the record authenticates the rest.
    static let coveredLength = 20

    /// Returns the digest of one record, from the beginning of its stored bytes.
    func digest(of stored: some Collection<UInt8>, _ hidden: RecordKey) -> RecordDigest {
        let kind = hidden.kind.rawValue.utf8
        var message: [UInt8] = [1]
        message.reserveCapacity(9 + kind.count + hidden.name.count + Self.coveredLength)
        LengthPrefixed.append(kind, to: &message)
        LengthPrefixed.append(hidden.name, to: &message)
        message += stored.prefix(Self.coveredLength)
        return RecordDigest(count: 1, sum: digestCode(of: message))
    }

    /// Returns the digest of all records in a header.
    func digest(in summary: VaultHeader.Records) -> RecordDigest {
        var digest = RecordDigest(count: summary.count, sum: summary.sum)
        digest -= mask(summary.nonce)
        return digest
    }

    /// Returns a digest as a header contains it: masked with a new nonce, so that headers do not reveal the digests of records.
    func summary(of digest: RecordDigest, accountsVersion: UInt64) -> VaultHeader.Records {
        let nonce = Secret.random(byteCount: 16).bytes
        var masked = digest
        masked += mask(nonce)
        return VaultHeader.Records(count: digest.count, nonce: nonce, sum: masked.sum, accountsVersion: accountsVersion)
    }

    private func mask(_ nonce: [UInt8]) -> RecordDigest { RecordDigest(count: 0, sum: digestCode(of: [0] + nonce)) }
}

/// Writes the stored bytes of a vault's records, and sums up by how much their digest changes.
final class DigestedWriter: RecordWriter {
    private let records: any RecordWriter
    private let keys: VaultKeys
    /// The difference between the digests of the records after and before the changes.
    private(set) var change = RecordDigest()

    init(records: any RecordWriter, keys: VaultKeys) {
        self.records = records
        self.keys = keys
    }

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? { try records.record(key) }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try records.records(kind, after: name, limit: limit)
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) { try put(bytes, key, over: records.record(key)) }

    func remove(_ key: RecordKey) throws(StoreError) { try remove(key, records.record(key)) }

    /// Writes a record over the bytes that the store has for it now.
    /// - Parameters:
    ///   - bytes: The new bytes.
    ///   - key: The hidden name.
    ///   - old: The bytes in the store, if there are any.
    ///   - known: The beginning that this process knows of the record.
    /// - Returns: The digest of the new bytes.
    /// - Throws: The errors of the store.
    @discardableResult
    func put(
        _ bytes: [UInt8], _ key: RecordKey, over old: [UInt8]?, _ known: KnownRecord? = nil
    ) throws(StoreError) -> RecordDigest {
        try records.put(bytes, key)
        if let old {
            change -= known.flatMap { $0.isBeginning(of: old) ? $0.digest : nil } ?? keys.digest(of: old, key)
        }
        let digest = keys.digest(of: bytes, key)
        change += digest
        return digest
    }

    /// Removes a record for which the store has these bytes now.
    func remove(_ key: RecordKey, _ old: [UInt8]?) throws(StoreError) {
        try records.remove(key)
        if let old { change -= keys.digest(of: old, key) }
    }
}

/// A reader that lists the beginnings of records without reading the rest of them.
protocol PrefixReader: RecordReader {
    /// Calls `body` with the name and the first bytes of each record of a kind, in the order of the names.
    func forEachPrefix(
        of kind: RecordKind, length: Int, _ body: (_ name: [UInt8], _ prefix: [UInt8]) throws(StoreError) -> Void
    ) throws(StoreError)
}

extension RecordReader {
    /// Calls `body` with the part of each stored record that the digest covers.
    func forEachCovered(_ body: (RecordKey, _ prefix: [UInt8]) throws(StoreError) -> Void) throws(StoreError) {
        let reader = self as? any PrefixReader
        for kind in RecordKind.allCases where kind != .vault {
            func pass(_ name: [UInt8], _ prefix: [UInt8]) throws(StoreError) { try body(RecordKey(kind, name: name), prefix) }
            if let reader {
                try reader.forEachPrefix(of: kind, length: VaultKeys.coveredLength, pass)
            } else {
                try forEachRecord(of: kind) { (record) throws(StoreError) in
                    try pass(record.name, Array(record.content.get().prefix(VaultKeys.coveredLength)))
                }
            }
        }
    }
}
