extension Secret {
    /// Creates a secret from the UTF-8 bytes of a token.
    package init(text: String) {
        self.init(text.utf8)
    }

    /// The text, for an encoder inside the package that sends or seals it.
    package var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
