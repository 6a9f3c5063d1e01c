/// A name as the user typed it, which selects accounts and mechanisms.
package struct TypedName: Sendable, Hashable {
    /// The text.
    package let text: String
    /// The text in lower case.
    package let lowercased: String

    /// Creates the name from a text.
    package init(_ text: String) {
        (self.text, lowercased) = (text, text.lowercased())
    }

    /// Returns true when one of the names is the text, or differs from it by case alone.
    package func isOne(of names: [String]) -> Bool {
        names.contains { $0 == text || $0.lowercased() == lowercased }
    }
}
