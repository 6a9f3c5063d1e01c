import SignetCore

/// A file of another program whose format is recognized and cannot be read.
enum UnsupportedFile: CaseIterable {
    case stratum
    case keePass
    case keePassXML
    case pskc
    case compressed

    /// Returns the kind of a file according to its content; nil when the content is of none of these kinds.
    static func detect(_ bytes: [UInt8]) -> UnsupportedFile? {
        if let magic = magicNumbers.first(where: { bytes.starts(with: $0.bytes) }) { return magic.file }
        let head = String(decoding: bytes.prefix(4_096), as: UTF8.self)
        if head.contains("<KeePassFile") { return .keePassXML }
        return head.contains("urn:ietf:params:xml:ns:keyprov:pskc") ? .pskc : nil
    }

    private static let magicNumbers: [(bytes: [UInt8], file: UnsupportedFile)] = [
        (Array("AUTHENTICATORPRO".utf8), .stratum), (Array("AuthenticatorPro".utf8), .stratum),
        ([0x03, 0xD9, 0xA2, 0x9A], .keePass), ([0x50, 0x4B, 0x03, 0x04], .compressed), ([0x1F, 0x8B], .compressed),
    ]

    /// The kind of the file and a way to import its accounts, for people.
    var advice: String {
        switch self {
        case .stratum: "it is an encrypted backup of Stratum; make one without encryption there"
        case .keePass: "it is a KeePass database; export it as CSV with KeePassXC"
        case .keePassXML: "it is KeePass XML; export the database as CSV with KeePassXC"
        case .pskc: "it is a key container of RFC 6030; write its keys as otpauth URIs, one per line, into a file"
        case .compressed: "it is compressed; decompress it first"
        }
    }
}
