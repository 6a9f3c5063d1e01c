package import SignetCore

/// The first message of a stream of libsodium (`crypto_secretstream_xchacha20poly1305`).
///
/// The format is that of libsodium's documentation and source. It is not the construction of RFC 8439: the tag of a message is
/// encrypted in a block of its own, and the padding before the lengths is another one.
package enum SecretStream {
    /// A decrypted message.
    package struct Message: Sendable, Hashable {
        /// The tag: 0 for a message, 3 for the last message of a stream.
        package let tag: UInt8
        /// The plaintext.
        package let content: [UInt8]
    }

    /// The bytes that a message has in addition to its plaintext: its tag and 16 bytes of authentication.
    private static let overhead = 17

    /// Returns the first message of a stream; nil when it was not encrypted with this key.
    /// - Parameters:
    ///   - message: The encrypted message.
    ///   - header: The header of the stream, of 24 bytes.
    ///   - key: The key, of 32 bytes.
    /// - Returns: The message with its tag; nil for a wrong key and for damaged bytes.
    package static func firstMessage(_ message: [UInt8], header: [UInt8], key: Secret) -> Message? {
        guard key.count == 32, header.count == 24, message.count >= overhead else { return nil }
        let subkey = ChaCha20.subkey(of: key.bytes, nonce: Array(header[0..<16]))
        // The counter of messages begins at 1.
        var nonce = LittleEndian.bytes32(1)
        nonce += header[16..<24]
        let ciphertext = Array(message[1..<message.count - 16])
        var first = [UInt8](repeating: 0, count: 64)
        first[0] = message[0]
        guard let oneTimeBlock = ChaCha20.apply(to: [UInt8](repeating: 0, count: 64), key: subkey, counter: 0, nonce: nonce),
            var block = ChaCha20.apply(to: first, key: subkey, counter: 1, nonce: nonce)
        else { return nil }
        let tag = block[0]
        block[0] = message[0]
        // libsodium computes the padding in this way, and keeps it so that existing streams stay readable.
        let padding = (16 - 64 + ciphertext.count) & 15
        let length = UInt64(64 + ciphertext.count)
        var authenticated = block
        authenticated += ciphertext
        authenticated += [UInt8](repeating: 0, count: padding)
        authenticated += LittleEndian.bytes([UInt64(0), length])
        let expected = Poly1305.tag(authenticated, key: Array(oneTimeBlock[0..<32]))
        guard ConstantTime.areEqual(expected, message[(message.count - 16)...]),
            let content = ChaCha20.apply(to: ciphertext, key: subkey, counter: 2, nonce: nonce)
        else { return nil }
        return Message(tag: tag, content: content)
    }
}
