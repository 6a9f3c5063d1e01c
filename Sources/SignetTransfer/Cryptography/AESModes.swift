import Crypto
import CryptoExtras
import SignetCore

/// AES in the modes that files of other programs use (FIPS 197, NIST SP 800-38A).
///
/// These modes do not authenticate. Each format that uses them has a check of its own.
enum AESModes {
    static let blockLength = 16

    /// Decrypts AES-CBC; returns nil for a ciphertext, key or vector of a wrong length.
    /// - Parameters:
    ///   - ciphertext: The ciphertext, whose length is a multiple of 16 bytes.
    ///   - key: The key of 16, 24 or 32 bytes.
    ///   - vector: The initialization vector of 16 bytes.
    /// - Returns: The plaintext with its padding.
    static func openCBC(_ ciphertext: [UInt8], with key: Secret, vector: [UInt8]) -> [UInt8]? {
        guard ciphertext.count.isMultiple(of: blockLength), [16, 24, 32].contains(key.count), vector.count == blockLength,
            let vector = try? AES._CBC.IV(ivBytes: vector),
            let plaintext = try? AES._CBC.decrypt(ciphertext, using: key.key, iv: vector, noPadding: true)
        else { return nil }
        return Array(plaintext)
    }

    /// Removes the padding, whose last byte is its length; returns nil when that is not from 1 to 16.
    /// - Parameters:
    ///   - bytes: A plaintext with its padding.
    ///   - isUniform: True when each byte of the padding must be its length (PKCS #7). XML Encryption (section 5.2) leaves the
    ///     others undefined.
    /// - Returns: The bytes before the padding.
    static func withoutPadding(_ bytes: [UInt8], isUniform: Bool) -> [UInt8]? {
        guard let last = bytes.last, (1...UInt8(blockLength)).contains(last), bytes.count >= Int(last) else { return nil }
        guard !isUniform || bytes.suffix(Int(last)).allSatisfy({ $0 == last }) else { return nil }
        return Array(bytes.dropLast(Int(last)))
    }

    /// Encrypts a block with AES-256 many times in a row; returns nil for a key or block of a wrong length.
    ///
    /// In the mode CFB each block of zeros becomes the encryption of the block before it, so that one call encrypts many times
    /// with one key schedule.
    /// - Parameters:
    ///   - block: The block of 16 bytes.
    ///   - key: The key of 32 bytes.
    ///   - rounds: The number of encryptions, at least 1.
    /// - Returns: The block after the last encryption.
    static func encrypted(_ block: [UInt8], with key: Secret, rounds: Int) -> [UInt8]? {
        guard block.count == blockLength, key.count == 32 else { return nil }
        let zeros = [UInt8](repeating: 0, count: blockLength * 4_096)
        var (block, left) = (block, rounds)
        while left > 0 {
            let count = min(left, 4_096)
            guard let vector = try? AES._CFB.IV(ivBytes: block),
                let stream = try? AES._CFB.encrypt(zeros.prefix(count * blockLength), using: key.key, iv: vector)
            else { return nil }
            block = Array(Array(stream).suffix(blockLength))
            left -= count
        }
        return block
    }

    // MARK: Key wrap

    /// The maximum length of a wrapped value, which exceeds that of a secret.
    private static let maxWrappedLength = 4_096

    /// Unwraps a value with AES Key Wrap (RFC 3394), or with its variant with padding (RFC 5649) when the value has that form.
    /// - Parameters:
    ///   - wrapped: The wrapped value.
    ///   - key: The key of 16, 24 or 32 bytes.
    /// - Returns: The value; nil when it was not wrapped with this key, or was changed.
    static func unwrapped(_ wrapped: [UInt8], with key: Secret) -> [UInt8]? {
        guard wrapped.count.isMultiple(of: 8), (16...maxWrappedLength).contains(wrapped.count),
            [16, 24, 32].contains(key.count)
        else { return nil }
        let count = wrapped.count / 8 - 1
        // The block that is decrypted: the integrity value and one part of the value, which are the halves of a block of AES.
        var check = Array(wrapped[..<8])
        var value = Array(wrapped[8...])
        let steps: [Int] = count == 1 ? [] : (1...6 * count).reversed()
        if count == 1 {
            guard let block = decrypted(wrapped, with: key) else { return nil }
            (check, value) = (Array(block[..<8]), Array(block[8...]))
        }
        for step in steps {
            let start = 8 * ((step - 1) % count)
            for index in 0..<8 { check[index] ^= UInt8(truncatingIfNeeded: step >> (8 * (7 - index))) }
            guard let block = decrypted(check + value[start..<start + 8], with: key) else { return nil }
            check = Array(block[..<8])
            value.replaceSubrange(start..<start + 8, with: block[8...])
        }
        return unwrappedValue(value, check: check)
    }

    /// Returns the value when its integrity value is right, without padding.
    private static func unwrappedValue(_ value: [UInt8], check: [UInt8]) -> [UInt8]? {
        if check == [UInt8](repeating: 0xA6, count: 8), value.count > 8 { return value }
        guard check.starts(with: [0xA6, 0x59, 0x59, 0xA6]) else { return nil }
        let length = check[4...].reduce(0) { $0 << 8 | Int($1) }
        guard length <= value.count, length > value.count - 8, value[length...].allSatisfy({ $0 == 0 }) else { return nil }
        return Array(value[..<length])
    }

    /// Decrypts one block.
    private static func decrypted(_ block: [UInt8], with key: Secret) -> [UInt8]? {
        var block = block
        do {
            try AES.inversePermute(&block, key: key.key)
            return block
        } catch {
            return nil
        }
    }
}
