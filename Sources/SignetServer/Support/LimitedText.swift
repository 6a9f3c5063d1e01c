extension String {
    /// Returns the text, or its beginning when it is longer than a number of characters.
    ///
    /// A text is rarely longer, and its bytes are counted faster than its characters.
    func limited(to length: Int) -> String { utf8.count <= length ? self : String(prefix(length)) }
}
