import SignetCore
import SignetStorage

/// The records of passkeys in a vault: one record for each passkey, and a list of them.
///
/// A damaged record costs one passkey. The list has the relying party of each, so a login opens only the records for its own.
/// They are items, because version 0.1.0 reads no vault with another kind of record.
enum PasskeyRecords {
    /// An entry of the list.
    struct Entry: Sendable, Hashable {
        let id: [UInt8]
        let relyingPartyID: String
    }

    /// The record of the list.
    ///
    /// No item of a `KeychainStorage` has a name of several parts.
    private static let list = RecordKey(.item, "signet", "passkeys")
    private static let version: JSONValue = .integer(1)

    private static func record(of id: [UInt8]) -> RecordKey {
        RecordKey(.item, "signet", "passkey", Base64.encode(id, as: .url))
    }

    /// Returns the entries of all passkeys, the oldest first.
    /// - Throws: `StoreError`: `corrupt`, `newerFormat`, and the errors of the vault.
    static func entries(in records: any RecordReader) throws(StoreError) -> [Entry] {
        guard let bytes = try records.record(list) else { return [] }
        let json = try? JSON.value(of: bytes)
        guard json?["version"] == version else { throw unreadable(json?["version"]) }
        let listed = json?["passkeys"]?.array
        let entries = listed?.compactMap { entry -> Entry? in
            guard let id = entry["id"]?.string.flatMap({ try? Base64.decode($0) }), let party = entry["relyingParty"]?.string
            else { return nil }
            return Entry(id: id, relyingPartyID: party)
        }
        guard let entries, entries.count == listed?.count else { throw unreadable(nil) }
        return entries
    }

    /// Returns a passkey.
    /// - Throws: `StoreError`: `corrupt` also for a listed passkey that has no record, `newerFormat`, and the errors of the vault.
    static func passkey(_ entry: Entry, in records: any RecordReader) throws(StoreError) -> StoredPasskey {
        guard let bytes = try records.record(record(of: entry.id)) else { throw unreadable(nil) }
        let stored = try StoredPasskey(bytes)
        guard stored.passkey.id == entry.id, stored.passkey.relyingPartyID == entry.relyingPartyID else { throw unreadable(nil) }
        return stored
    }

    /// Adds a passkey.
    static func add(_ stored: StoredPasskey, in records: any RecordWriter) throws(StoreError) {
        let entry = Entry(id: stored.passkey.id, relyingPartyID: stored.passkey.relyingPartyID)
        try put(try entries(in: records) + [entry], in: records)
        try replace(stored, in: records)
    }

    /// Writes a passkey that is in the list.
    static func replace(_ stored: StoredPasskey, in records: any RecordWriter) throws(StoreError) {
        try records.put(stored.bytes, record(of: stored.passkey.id))
    }

    /// Removes a passkey, also one whose record is damaged.
    /// - Returns: True when the list had the passkey.
    static func remove(_ id: [UInt8], in records: any RecordWriter) throws(StoreError) -> Bool {
        let entries = try entries(in: records)
        guard entries.contains(where: { $0.id == id }) else { return false }
        try put(entries.filter { $0.id != id }, in: records)
        try records.remove(record(of: id))
        return true
    }

    private static func put(_ entries: [Entry], in records: any RecordWriter) throws(StoreError) {
        let listed = entries.map { entry -> JSONValue in
            .object(["id": .string(Base64.encode(entry.id, as: .url)), "relyingParty": .string(entry.relyingPartyID)])
        }
        try records.put(JSON.encode(.object(["version": version, "passkeys": .array(listed)])), list)
    }

    /// Returns the error for a record of another version or form.
    /// - Parameter version: The version of the record; nil for a record that has the version of this program or none.
    /// - Returns: The error.
    static func unreadable(_ version: JSONValue?) -> StoreError {
        if case .integer(let number)? = version, number > 1 {
            return StoreError(.newerFormat, "read a passkey", "a newer version of Signet wrote it; it was not changed")
        }
        return StoreError(.corrupt, "read a passkey", "the record is damaged; it was not changed")
    }
}
