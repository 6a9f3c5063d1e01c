import Crypto
import SignetCore

/// The decrypted and decompressed content of a KeePass database.
struct KDBXContent {
    private static let format = KDBXFile.format
    /// The nonce of Salsa20, which is the same in each database.
    private static let salsa20Nonce: [UInt8] = [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A]

    private let xml: [UInt8]
    /// The encryption of the protected values; nil when they are not encrypted.
    private let stream: KeyStream?
    /// The hash of the header that the document must name, if it names one; nil in version 4, whose header is authenticated.
    private let headerHash: [UInt8]?

    /// Reads the content of version 3, which is the document.
    init(version3 bytes: [UInt8], _ header: KDBXHeader) throws(ImportError) {
        xml = bytes
        stream = try Self.stream(header.innerStream?.id, header.innerStream?.key)
        headerHash = KDBXKeys.sha256(header.bytes)
    }

    /// Reads the content of version 4: a header, which also has the attachments, and the document.
    init(version4 bytes: [UInt8]) throws(ImportError) {
        var reader = KDBXReader(bytes)
        var (id, key): ([UInt8]?, [UInt8]?) = (nil, nil)
        fields: while true {
            guard let field = reader.number(1), let length = reader.number(4), let value = reader.bytes(length) else {
                throw Self.format.malformed("content", "its header was cut off")
            }
            switch field {
            case 0: break fields
            case 1: id = value
            case 2: key = value
            default: continue
            }
        }
        xml = Array(reader.rest)
        stream = try Self.stream(KDBXReader.number(id), key)
        headerHash = nil
    }

    /// Returns the encryption of protected values; nil for none.
    private static func stream(_ id: Int?, _ key: [UInt8]?) throws(ImportError) -> KeyStream? {
        if id == 0 { return nil }
        guard let id, let key, !key.isEmpty else { throw format.malformed("content", "the key of protected values is missing") }
        let stream: KeyStream?
        switch id {
        case 2: stream = KeyStream(salsa20: Secret(SHA256.hash(data: key)), nonce: salsa20Nonce)
        case 3:
            let hash = Array(SHA512.hash(data: key))
            stream = KeyStream(chaCha20: Secret(hash[..<32]), nonce: Array(hash[32..<44]))
        default: throw format.malformed("content", "the encryption of protected values is unknown")
        }
        guard let stream else { throw format.malformed("content", "the key of protected values cannot be used") }
        return stream
    }

    /// Parses the document, and decrypts its protected values.
    func document() throws(ImportError) -> XMLReader.Element {
        guard xml.count <= ImportFormat.maxLength else {
            throw ImportError(
                .tooLarge, Self.format, "content", "more than \(ImportFormat.maxLength >> 20) MiB of XML are not read")
        }
        var document = try Self.format.xml(xml)
        if let headerHash, let text = document["Meta"]?["HeaderHash"]?.value {
            guard (try? Base64.decode(text)) == headerHash else { throw KDBXFile.damaged("header") }
        }
        guard var stream else { return document }
        try document.replaceTexts(ofMarked: "Protected") { (text: String) throws(ImportError) -> String in
            guard let bytes = try? Base64.decode(text.filter { !$0.isWhitespace }), let plain = stream.applied(to: bytes) else {
                throw Self.format.malformed("content", "a protected value cannot be decrypted")
            }
            return String(decoding: plain, as: UTF8.self)
        }
        return document
    }
}
