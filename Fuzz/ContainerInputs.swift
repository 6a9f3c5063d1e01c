// A plain release build does not offer internal declarations to other modules.
#if DEBUG || SIGNET_FUZZER
import SignetCore

@testable import SignetTransfer

/// The readers of what encrypted files contain, which a fuzzer cannot reach through the encryption.
enum ContainerInputs {
    private static let limit = 1 << 20
    private static let key = Secret("000102030405060708090A0B0C0D0E0F".utf8)

    /// Reads compressed data, the decrypted content of a KeePass database, a key container with a preshared key, and a wrapped value.
    static func readContainer(_ bytes: [UInt8]) {
        if let (output, end) = try? Inflater.inflate(bytes, limit: limit) {
            precondition(output.count <= limit && end <= bytes.count, "more than the limit, or more than there is")
        }
        if let content = try? Gzip.decompress(bytes, limit: limit) {
            precondition(content.count <= limit, "more than the limit")
            readDatabase(content)
        }
        readDatabase(bytes)
        // A password would be derived with as many rounds as the file says.
        if !String(decoding: bytes, as: UTF8.self).contains("DerivedKey") { _ = try? PSKCFile.read(bytes, passphrase: key) }
        if let value = AESModes.unwrapped(bytes, with: Secret([UInt8](repeating: 0, count: 16))) {
            precondition(value.count < bytes.count, "a value that is longer than its wrapping")
        }
    }

    private static func readDatabase(_ bytes: [UInt8]) {
        guard let document = try? KDBXContent(version4: bytes).document(),
            let content = try? KeePassXMLFile.read(document, as: .keePass, policy: .secure)
        else { return }
        precondition(Set(content.accounts.map(\.id)).count == content.accounts.count, "an account is there twice")
    }
}
#endif
