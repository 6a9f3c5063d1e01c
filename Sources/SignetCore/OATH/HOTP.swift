import Crypto

/// HMAC-based one-time passwords (RFC 4226).
public enum HOTP {
    /// Returns the code of one counter value.
    ///
    /// The secret is used unchanged with every algorithm: short keys are not padded.
    public static func code(
        secret: Secret, counter: UInt64, digits: OTPDigits = .six, algorithm: OTPAlgorithm = .sha1
    ) -> String {
        OTPEncoding.decimal.text(of: binary(secret: secret, counter: counter, algorithm: algorithm), digits: digits)
    }

    /// Returns the 31-bit number from which the code of a counter value is written.
    static func binary(secret: Secret, counter: UInt64, algorithm: OTPAlgorithm) -> UInt32 {
        switch algorithm {
        case .sha1: truncatedMAC(Insecure.SHA1.self, secret: secret, counter: counter)
        case .sha256: truncatedMAC(SHA256.self, secret: secret, counter: counter)
        case .sha512: truncatedMAC(SHA512.self, secret: secret, counter: counter)
        }
    }

    /// Truncates the MAC (RFC 4226 section 5.3): four bytes from the offset in its last byte, without the sign bit.
    private static func truncatedMAC<H: HashFunction>(_: H.Type, secret: Secret, counter: UInt64) -> UInt32 {
        let mac = withUnsafeBytes(of: counter.bigEndian) { message in
            HMAC<H>.authenticationCode(for: message, using: secret.key)
        }
        return mac.withUnsafeBytes { bytes in
            let offset = Int(bytes[bytes.count - 1] & 0xF)
            return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) & 0x7FFF_FFFF
        }
    }
}
