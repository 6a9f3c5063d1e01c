import SignetCore

/// A file of another program whose format is recognized and cannot be read.
enum UnsupportedFile: CaseIterable {
    case stratum
    case freeOTPPlus
    case cotp
    case keePass
    case keePassXML
    case keePassCSV
    case pskc
    case compressed

    /// Returns the kind of a file according to its content; nil when the content is of none of these kinds.
    static func detect(_ bytes: [UInt8]) -> UnsupportedFile? {
        if let magic = magicNumbers.first(where: { bytes.starts(with: $0.bytes) }) { return magic.file }
        let head = String(decoding: bytes.prefix(4_096), as: UTF8.self)
        if head.contains("<KeePassFile") { return .keePassXML }
        if head.contains("urn:ietf:params:xml:ns:keyprov:pskc") { return .pskc }
        if head.hasPrefix(#""Group","Title","Username","Password""#) { return .keePassCSV }
        guard let json = try? JSON.value(of: ImportFormat.withoutPadding(bytes)) else { return nil }
        if json["Authenticators"]?.array != nil { return .stratum }
        if json["tokens"]?.array != nil { return .freeOTPPlus }
        return json["elements"]?.array != nil || json["items"]?.array != nil ? .cotp : nil
    }

    private static let magicNumbers: [(bytes: [UInt8], file: UnsupportedFile)] = [
        (Array("AUTHENTICATORPRO".utf8), .stratum), (Array("AuthenticatorPro".utf8), .stratum),
        ([0x03, 0xD9, 0xA2, 0x9A], .keePass), ([0x50, 0x4B, 0x03, 0x04], .compressed), ([0x1F, 0x8B], .compressed),
    ]

    /// What the file is, and how its accounts can be imported.
    var advice: String {
        switch self {
        case .stratum: "it is a backup of Stratum; export a list of URIs there"
        case .freeOTPPlus: "it is a JSON file of FreeOTP+; export the key URI format there"
        case .cotp: "it is a database of cotp, or its list of URIs as JSON; export andOTP's format there"
        case .keePass: "it is a KeePass database; export its otpauth URIs, one per line"
        case .keePassXML: "it is KeePass XML; write its otpauth URIs, one per line, into a file"
        case .keePassCSV: "it is CSV of KeePassXC; write its otpauth URIs, one per line, into a file"
        case .pskc: "it is a key container of RFC 6030; write its keys as otpauth URIs, one per line, into a file"
        case .compressed: "it is compressed; decompress it first"
        }
    }
}
