/// The members of a stored record that this version does not know.
///
/// A later version wrote them. They are kept when the record is written again. They may be secrets, so no text form of the value
/// contains them.
package struct UnknownMembers: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The members by name.
    package let values: [String: JSONValue]

    /// Creates the value for a record.
    package init(_ values: [String: JSONValue] = [:]) { self.values = values }

    package var description: String { "<\(values.count) unknown members>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
