extension String {
    /// Creates a text from bytes; nil when they are not valid UTF-8.
    ///
    /// `String(validating:as:)` of the standard library does the same, but needs iOS 18 and macOS 15. Decoding replaces what is not valid
    /// by U+FFFD, so that the bytes of the text differ from the original ones then.
    package init?(strictUTF8 bytes: some Collection<UInt8>) {
        var text = String(decoding: bytes, as: UTF8.self)
        let isValid = text.withUTF8 { decoded in
            bytes.withContiguousStorageIfAvailable { Self.areEqual(decoded, $0) } ?? decoded.elementsEqual(bytes)
        }
        guard isValid else { return nil }
        self = text
    }

    /// Compares all bytes, because a loop that may end early takes four times as long.
    private static func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
