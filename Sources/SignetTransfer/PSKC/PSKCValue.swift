import Crypto
import SignetCore

/// An encrypted value of a key container (`xenc:EncryptedDataType`): the encryption, and the ciphertext.
struct PSKCValue {
    private enum Encryption {
        /// AES-CBC; the initialization vector comes before the ciphertext.
        case cbc
        /// AES Key Wrap (RFC 3394, with padding RFC 5649), which authenticates.
        case keyWrap
    }

    private let encryption: Encryption
    private let keyLength: Int
    /// The bytes that an authentication code is computed from: the initialization vector and the ciphertext.
    let ciphertext: [UInt8]

    /// Reads a value; returns nil when a part is missing or the encryption is unknown.
    init?(_ element: XMLReader.Element) {
        guard let algorithm = element["EncryptionMethod"]?.attributes["Algorithm"],
            let text = element["CipherData"]?["CipherValue"]?.value, let ciphertext = Self.base64(text)
        else { return nil }
        switch PSKCName(algorithm).text {
        case "aes128-cbc": (encryption, keyLength) = (.cbc, 16)
        case "aes192-cbc": (encryption, keyLength) = (.cbc, 24)
        case "aes256-cbc": (encryption, keyLength) = (.cbc, 32)
        case "kw-aes128": (encryption, keyLength) = (.keyWrap, 16)
        case "kw-aes192": (encryption, keyLength) = (.keyWrap, 24)
        case "kw-aes256": (encryption, keyLength) = (.keyWrap, 32)
        default: return nil
        }
        self.ciphertext = ciphertext
    }

    /// True when the encryption detects a wrong key and a change.
    var isAuthenticated: Bool { encryption == .keyWrap }

    func fits(_ key: Secret) -> Bool { key.count == keyLength }

    /// Decrypts the value; returns nil when the key does not fit or the value was changed.
    func decrypted(with key: Secret) -> [UInt8]? {
        guard fits(key) else { return nil }
        switch encryption {
        case .cbc:
            let length = AESModes.blockLength
            guard ciphertext.count >= 2 * length else { return nil }
            return AESModes.openCBC(
                Array(ciphertext[length...]), with: key, vector: Array(ciphertext[..<length])
            ).flatMap { AESModes.withoutPadding($0, isUniform: false) }
        case .keyWrap:
            return AESModes.unwrapped(ciphertext, with: key)
        }
    }

    /// Decodes base64 with white space in it; returns nil for other text.
    static func base64(_ text: String) -> [UInt8]? { try? Base64.decode(text.filter { !$0.isWhitespace }) }
}

/// The authentication of encrypted values (RFC 6030 section 6.1.1): HMAC over the ciphertext.
struct PSKCAuthentication {
    private enum Hash {
        case sha1
        case sha256
        case sha512
    }

    private let hash: Hash
    private let key: Secret

    /// Reads the method, whose key is encrypted like the values.
    ///
    /// Without a key of its own, the method uses that of the encryption. Returns nil for a method without an algorithm.
    /// - Parameters:
    ///   - method: The element `MACMethod`.
    ///   - encryptionKey: The key of the values.
    /// - Throws: ``ImportError``, with ``ImportError/Code/wrongPassphrase`` when the key does not decrypt that of the method.
    init?(_ method: XMLReader.Element, key encryptionKey: Secret) throws(ImportError) {
        let part = "MACMethod"
        // python-pskc writes a method without an algorithm when no value needs one.
        guard let algorithm = method.attributes["Algorithm"] else { return nil }
        switch PSKCName(algorithm).text {
        case "hmac-sha1": hash = .sha1
        case "hmac-sha256": hash = .sha256
        case "hmac-sha512": hash = .sha512
        default: throw PSKCProtection.unsupported(part, "its authentication is unknown")
        }
        guard method["MACKeyReference"] == nil else {
            throw PSKCProtection.unsupported(part, "its authentication uses another preshared key")
        }
        guard let element = method["MACKey"] else {
            key = encryptionKey
            return
        }
        guard let encrypted = PSKCValue(element), encrypted.fits(encryptionKey) else {
            throw PSKCProtection.unsupported(
                part, "its key is encrypted in a way that is not read, or with a key of another length")
        }
        guard let value = encrypted.decrypted(with: encryptionKey), !value.isEmpty else {
            throw ImportFormat.pskc.wrongPassphrase(part)
        }
        key = Secret(value)
    }

    /// Returns true when a code is that of bytes.
    func isValid(_ code: [UInt8], for bytes: [UInt8]) -> Bool {
        switch hash {
        case .sha1: HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: bytes, using: key.key)
        case .sha256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key.key)
        case .sha512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: bytes, using: key.key)
        }
    }
}
