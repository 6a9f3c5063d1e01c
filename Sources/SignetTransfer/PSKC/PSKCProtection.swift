import SignetCore
import SignetStorage

/// The encryption of the values in a key container (RFC 6030 section 6), and the check of their authentication codes.
///
/// The key is derived from a password by PBKDF2 (section 6.2), or is a preshared one, which the user gives in hexadecimal.
/// Containers that are encrypted for a certificate cannot be read.
struct PSKCProtection {
    private static let format = ImportFormat.pskc
    /// The accepted numbers of rounds; ten million take a machine several seconds.
    private static let rounds = 1...10_000_000
    private static let maxSaltLength = 1_024

    private let key: Secret
    private let authentication: PSKCAuthentication?

    /// Reads the protection of a container.
    /// - Parameters:
    ///   - container: The root of the file.
    ///   - passphrase: The password, or the preshared key in hexadecimal digits.
    /// - Throws: ``ImportError``, with ``ImportError/Code/passphraseNeeded`` when no passphrase was given. The reason tells whether
    ///   a password or a key is needed.
    init(_ container: XMLReader.Element, passphrase: Secret?) throws(ImportError) {
        guard let element = container["EncryptionKey"] else {
            throw Self.format.malformed("EncryptionKey", "values are encrypted, and it is not there")
        }
        if let derived = element["DerivedKey"] {
            key = try Self.derivedKey(derived, passphrase)
        } else if element["KeyName"] != nil {
            key = try Self.presharedKey(passphrase)
        } else {
            throw Self.unsupported("EncryptionKey", "its keys are encrypted for a certificate or in an unknown way")
        }
        if let method = container["MACMethod"] {
            authentication = try PSKCAuthentication(method, key: key)
        } else {
            authentication = nil
        }
    }

    static func unsupported(_ part: String, _ reason: String) -> ImportError {
        ImportError(
            .unknownFormat, format, part, "\(reason); decrypt it first, for example with pskctool, and import the plain container"
        )
    }

    // MARK: The key

    private static func derivedKey(_ element: XMLReader.Element, _ passphrase: Secret?) throws(ImportError) -> Secret {
        let part = "DerivedKey"
        guard let method = element["KeyDerivationMethod"], method.attributes["Algorithm"]?.hasSuffix("#pbkdf2") == true,
            let parameters = method["PBKDF2-params"]
        else { throw unsupported(part, "its key is not derived with PBKDF2") }
        let hash: PassphraseKey.Hash
        // RFC 6030 has the function as an attribute; python-pskc writes it as text.
        let function = parameters["PRF"].map { $0.attributes["Algorithm"] ?? $0.value ?? "" }
        switch function.map({ PSKCName($0).text }) {
        case nil, "hmac-sha1": hash = .sha1
        case "hmac-sha256": hash = .sha256
        default: throw unsupported(part, "its key is derived with an unknown hash function")
        }
        guard let saltText = parameters["Salt"]?["Specified"]?.value, let salt = PSKCValue.base64(saltText), !salt.isEmpty,
            salt.count <= maxSaltLength, let count = parameters["IterationCount"]?.value.flatMap({ Int($0) }),
            let length = parameters["KeyLength"]?.value.flatMap({ Int($0) }), [16, 24, 32].contains(length)
        else { throw format.malformed(part, "a parameter of PBKDF2 is missing or cannot be used") }
        guard rounds.contains(count) else { throw ImportError(.tooCostly, format, part, "the cost of PBKDF2 is out of bounds") }
        let key = try PassphraseKey.derived(
            from: format.needed(passphrase), salt: salt, rounds: count, hash: hash, as: format, part: part)
        // A shorter key of PBKDF2 is the beginning of a longer one.
        return Secret(key.bytes.prefix(length))
    }

    private static func presharedKey(_ passphrase: Secret?) throws(ImportError) -> Secret {
        guard let passphrase else {
            throw ImportError(
                .passphraseNeeded, format, "EncryptionKey",
                "it is encrypted with a preshared key; give that key in hexadecimal digits as the passphrase")
        }
        let text = String(strictUTF8: passphrase.bytes)?.filter { !$0.isWhitespace }
        guard let key = text.flatMap({ Hexadecimal.bytes($0) }), [16, 24, 32].contains(key.count) else {
            throw ImportError(
                .wrongPassphrase, format, "EncryptionKey",
                "the passphrase is not a key of 16, 24 or 32 bytes in hexadecimal digits; the container is encrypted with such a "
                    + "preshared key")
        }
        return Secret(key)
    }

    // MARK: Values

    /// The results of decrypting a value.
    enum Outcome {
        case value([UInt8])
        /// The authentication code is not that of the value: the key is wrong, or the value was changed.
        case unauthenticated
        /// The value cannot be read, with the reason for people.
        case unreadable(String)
    }

    /// Decrypts a value, after its authentication code was checked.
    /// - Parameter element: The element that has `EncryptedValue`, and `ValueMAC` unless the encryption authenticates.
    /// - Returns: The value, or the reason why it cannot be read.
    func decrypt(_ element: XMLReader.Element) -> Outcome {
        guard let encrypted = element["EncryptedValue"].flatMap({ PSKCValue($0) }) else {
            return .unreadable("has an encrypted value that cannot be read")
        }
        if let text = element["ValueMAC"]?.value {
            guard let authentication, let code = PSKCValue.base64(text) else { return .unreadable("has no valid MAC") }
            guard authentication.isValid(code, for: encrypted.ciphertext) else { return .unauthenticated }
        } else if !encrypted.isAuthenticated {
            return .unreadable("is encrypted without a MAC, so that a change would not be noticed")
        }
        guard encrypted.fits(key) else { return .unreadable("is encrypted in a way that is not read") }
        guard let value = encrypted.decrypted(with: key) else {
            return encrypted.isAuthenticated ? .unauthenticated : .unreadable("cannot be decrypted")
        }
        return .value(value)
    }
}

/// The name of an algorithm: the end of its URI, in lower case.
struct PSKCName {
    let text: String

    init(_ uri: String) { text = String(uri.lowercased().split(separator: "#").last ?? "") }
}
