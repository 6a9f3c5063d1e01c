extension Secret {
    /// The UTF-8 bytes of a token, as it came on the wire.
    package init(text: String) {
        self.init(text.utf8)
    }

    /// The text, for an encoder inside the package that is about to send or seal it.
    package var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
