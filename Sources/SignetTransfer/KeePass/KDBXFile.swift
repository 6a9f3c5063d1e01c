import SignetCore

/// A KeePass database (KDBX), version 3.1 or 4, that a password alone opens.
///
/// The content is XML, which ``KeePassXMLFile`` reads. A header without encryption comes before it. In version 4, authentication
/// codes (HMAC-SHA-256) of the header and of each block are checked before the content is decrypted. Version 3.1 has none: its
/// content begins with bytes of the header, and its blocks have hashes. Protected values are encrypted once more by a stream
/// cipher.
///
/// Source: "KDBX File Format Specification" and "KDBX 4", https://keepass.info/help/kb/kdbx.html.
enum KDBXFile {
    static let format = ImportFormat.keePass
    /// The maximum size in bytes of the decompressed content.
    ///
    /// The XML in it is limited to ``ImportFormat/maxLength``; attachments are the rest.
    static let maxContentLength = 4 * ImportFormat.maxLength

    static func recognizes(_ bytes: [UInt8]) -> Bool { bytes.starts(with: KDBXHeader.magic) }

    static func read(
        _ bytes: [UInt8], passphrase: Secret?, policy: EndpointPolicy
    ) throws(ImportError) -> ImportContent {
        let header = try KDBXHeader(bytes)
        if header.version == 4 { try checkHash(of: header, in: bytes) }
        let keys = try KDBXKeys(format.needed(passphrase), header)
        let content: KDBXContent
        if header.version == 4 {
            let encrypted = try authenticated(bytes, header, keys)
            guard let plain = decrypted(encrypted, header, keys) else { throw damaged("content") }
            content = try KDBXContent(version4: decompressed(plain, header))
        } else {
            let encrypted = Array(bytes[header.bytes.count...])
            guard let plain = decrypted(encrypted, header, keys), plain.count >= header.startBytes.count,
                ConstantTime.areEqual(plain.prefix(header.startBytes.count), header.startBytes)
            else { throw wrongPassphrase }
            let blocks = try blocks(plain, from: header.startBytes.count)
            content = try KDBXContent(version3: decompressed(blocks, header), header)
        }
        return try KeePassXMLFile.read(content.document(), as: format, policy: policy)
    }

    // MARK: Errors

    static func damaged(_ part: String) -> ImportError {
        ImportError(.damaged, format, part, "it was changed or cut off since it was written")
    }

    /// The error for a key that is not that of the database.
    ///
    /// The file does not tell whether the database needs more than a password.
    private static var wrongPassphrase: ImportError {
        ImportError(
            .wrongPassphrase, format, "header",
            "the passphrase is wrong, the file is damaged, or the database needs a key file or a hardware key too; Signet takes a "
                + "password only: remove the others in KeePassXC, or export XML or CSV there")
    }

    // MARK: Version 4

    private static let hashLength = 32

    /// Checks the hash of the header, which shows damage without a password.
    private static func checkHash(of header: KDBXHeader, in bytes: [UInt8]) throws(ImportError) {
        var reader = KDBXReader(bytes, from: header.bytes.count)
        guard let hash = reader.bytes(hashLength), hash == KDBXKeys.sha256(header.bytes) else { throw damaged("header") }
    }

    /// Returns the encrypted content, after the codes of the header and of all blocks were checked.
    private static func authenticated(
        _ bytes: [UInt8], _ header: KDBXHeader, _ keys: KDBXKeys
    ) throws(ImportError) -> [UInt8] {
        var reader = KDBXReader(bytes, from: header.bytes.count + hashLength)
        guard let code = reader.bytes(hashLength) else { throw damaged("header") }
        guard keys.isValid(code, for: header.bytes, number: .max) else { throw wrongPassphrase }
        var content: [UInt8] = []
        var number: UInt64 = 0
        while true {
            guard let code = reader.bytes(hashLength), let length = reader.number(4), let block = reader.bytes(length) else {
                throw damaged("content")
            }
            let input = LittleEndian.bytes([number]) + LittleEndian.bytes32(length) + block
            guard keys.isValid(code, for: input, number: number) else { throw damaged("content") }
            if block.isEmpty { return content }
            content += block
            number += 1
        }
    }

    // MARK: Version 3

    /// Returns the content of the blocks, after their hashes were checked.
    private static func blocks(_ bytes: [UInt8], from start: Int) throws(ImportError) -> [UInt8] {
        var reader = KDBXReader(bytes, from: start)
        var content: [UInt8] = []
        var number = 0
        while true {
            guard reader.number(4) == number, let hash = reader.bytes(hashLength), let length = reader.number(4),
                let block = reader.bytes(length)
            else { throw damaged("content") }
            if block.isEmpty { return content }
            guard hash == KDBXKeys.sha256(block) else { throw damaged("content") }
            content += block
            number += 1
        }
    }

    // MARK: Both versions

    /// Returns the decrypted content; nil when it has a wrong length or padding.
    private static func decrypted(_ bytes: [UInt8], _ header: KDBXHeader, _ keys: KDBXKeys) -> [UInt8]? {
        switch header.cipher {
        case .aes256:
            return AESModes.openCBC(bytes, with: keys.content, vector: header.vector)
                .flatMap { AESModes.withoutPadding($0, isUniform: true) }
        case .chaCha20:
            var stream = KeyStream(chaCha20: keys.content, nonce: header.vector)
            return stream?.applied(to: bytes)
        }
    }

    private static func decompressed(_ bytes: [UInt8], _ header: KDBXHeader) throws(ImportError) -> [UInt8] {
        guard header.isCompressed else { return bytes }
        do throws(Inflater.Failure) {
            return try Gzip.decompress(bytes, limit: maxContentLength)
        } catch {
            switch error {
            case .malformed: throw format.malformed("content", "it cannot be decompressed")
            case .tooLong:
                throw ImportError(
                    .tooLarge, format, "content", "more than \(maxContentLength >> 20) MiB are not read; export XML or CSV")
            }
        }
    }
}
