extension Secret {
    /// Creates a secret from the UTF-8 bytes of a token.
    package init(text: String) {
        self.init(text.utf8)
    }

    /// The bytes as UTF-8 text, for an interface that takes a string, such as a header.
    ///
    /// The string can be printed, and nothing erases it.
    public var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
