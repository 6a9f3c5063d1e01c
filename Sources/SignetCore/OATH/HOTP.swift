import Crypto

/// HMAC-based one-time passwords (RFC 4226).
public enum HOTP {
    /// Returns the code of one counter value.
    ///
    /// The secret is used unchanged with every algorithm: short keys are not padded.
    public static func code(
        secret: Secret, counter: UInt64, digits: OTPDigits = .six, algorithm: OTPAlgorithm = .sha1
    ) -> String {
        let binary =
            switch algorithm {
            case .sha1: truncatedMAC(Insecure.SHA1.self, secret: secret, counter: counter)
            case .sha256: truncatedMAC(SHA256.self, secret: secret, counter: counter)
            case .sha512: truncatedMAC(SHA512.self, secret: secret, counter: counter)
            }
        return decimal(binary, digits: digits.count)
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

    private static func decimal(_ binary: UInt32, digits: Int) -> String {
        String(unsafeUninitializedCapacity: digits) { output in
            var rest = binary
            for position in stride(from: digits - 1, through: 0, by: -1) {
                output[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return digits
        }
    }
}
