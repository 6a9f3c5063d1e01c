import SignetCore

/// A file of another program whose format is recognized and cannot be read.
enum UnsupportedFile: CaseIterable {
    case openPGP
    case keePass
    case compressed

    /// Returns the kind of a file according to its content; nil when the content is of none of these kinds.
    static func detect(_ bytes: [UInt8]) -> UnsupportedFile? {
        magicNumbers.first { bytes.starts(with: $0.bytes) }?.file
    }

    /// Returns the beginning of a text file.
    static func head(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(4_096), as: UTF8.self) }

    private static let magicNumbers: [(bytes: [UInt8], file: UnsupportedFile)] = [
        (Array("-----BEGIN PGP MESSAGE-----".utf8), .openPGP),
        ([0x03, 0xD9, 0xA2, 0x9A], .keePass), ([0x50, 0x4B, 0x03, 0x04], .compressed), ([0x1F, 0x8B], .compressed),
    ]

    /// The kind of the file and a way to import its accounts, for people.
    var advice: String {
        switch self {
        case .openPGP: "it is encrypted with OpenPGP; decrypt it with gpg or 'pass show', and import the output"
        case .keePass: "it is a database of KeePass 1; import it into KeePassXC, and save it there"
        case .compressed: "it is compressed; decompress it first"
        }
    }
}
