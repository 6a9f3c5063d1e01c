package import SignetStorage

/// The result of looking up one record.
///
/// A record that cannot be read is neither absent nor a failure of the whole store.
package enum RecordLookup<Value> {
    case absent
    case found(Value)
    case unreadable(StoreError)

    /// Looks a record up.
    /// - Throws: The errors of `find` that concern more than this record.
    package init(_ find: () throws(StoreError) -> Value?) throws(StoreError) {
        do throws(StoreError) {
            self = if let value = try find() { .found(value) } else { .absent }
        } catch {
            guard error.isRecordScoped else { throw error }
            self = .unreadable(error)
        }
    }

    /// Returns this result unless the record has a newer format, which is not damage.
    /// - Throws: ``StoreError/Code/newerFormat``.
    package func requiringKnownFormat() throws(StoreError) -> Self {
        if case .unreadable(let error) = self, error.code == .newerFormat { throw error }
        return self
    }

    /// The value of a record that can be read; nil for any other.
    package var value: Value? { if case .found(let value) = self { value } else { nil } }
    /// True when the record does not exist.
    package var isAbsent: Bool { if case .absent = self { true } else { false } }
    /// True when there is a record that cannot be read.
    package var isUnreadable: Bool { if case .unreadable = self { true } else { false } }
}
