public import SignetCore
import SignetStorage

/// The file formats from which accounts can be imported.
///
/// Reading depends on the bytes alone. It asks the user nothing, stores nothing, and limits the sizes that it accepts.
public enum ImportFormat: String, Sendable, Hashable, CaseIterable {
    /// The encrypted archive of Signet (docs/reference/archive-format.md).
    case signet
    /// The JSON of the ForgeRock SDKs for Android and iOS (legacy), with accounts, mechanisms and notifications.
    case forgerock
    /// The keychain items of the ForgeRock SDK for iOS and of Ping's modules, as a binary property list: an export of the items
    /// (docs/reference/keychain-archive.md), or a single archive of `NSKeyedArchiver`.
    case keychain
    /// An Aegis vault, plain or encrypted by a password.
    case aegis
    /// A 2FAS backup, plain or encrypted.
    case twoFAS = "2fas"
    /// An andOTP backup, plain or encrypted by a password.
    case andOTP = "andotp"
    /// A backup of Stratum (formerly Authenticator Pro), plain or encrypted by a password.
    case stratum
    /// The JSON file of FreeOTP+.
    case freeOTPPlus = "freeotp+"
    /// An export of cotp: its own JSON, plain or encrypted by a password, or JSON with a list of URIs.
    case cotp
    /// An export of Bitwarden, of which the TOTP keys are read: JSON, plain or with a password of its own, or CSV.
    case bitwarden
    /// An export of Proton Authenticator, plain or encrypted by a password.
    case proton
    /// An export of ente Auth, plain or encrypted by a password.
    case ente
    /// The decrypted text of files of pass with the extension pass-otp.
    case passOTP = "pass-otp"
    /// A CSV file of KeePassXC, of which the TOTP column is read.
    case keePassXC = "keepassxc"
    /// An XML file of KeePass or KeePassXC.
    case keePassXML = "keepass-xml"
    /// A KeePass database (KDBX), version 3.1 or 4, that a password opens.
    case keePass = "kdbx"
    /// A key container of RFC 6030 (PSKC): plain, or encrypted by a password or a preshared key.
    case pskc
    /// The JSON of the Credential Exchange Format of the FIDO Alliance (CXF), of which the TOTP credentials are read.
    case cxf
    /// `otpauth` URIs, one per line.
    case otpauth
    /// `otpauth-migration` URIs of Google Authenticator, one per line.
    case google

    /// The maximum size in bytes of a file that is not an archive.
    ///
    /// The limit for archives is ``AccountArchive/maxLength``.
    public static let maxLength = 64 << 20

    /// The maximum number of entries in a file.
    static let maxEntries = 100_000

    /// The maximum size in bytes of a file of this format.
    public var maxLength: Int { self == .signet ? AccountArchive.maxLength : Self.maxLength }

    /// The name of the format for people.
    public var title: String {
        switch self {
        case .signet: "Signet archive"
        case .forgerock: "ForgeRock SDK JSON"
        case .keychain: "ForgeRock or Ping keychain items"
        case .aegis: "Aegis vault"
        case .twoFAS: "2FAS backup"
        case .andOTP: "andOTP backup"
        case .stratum: "Stratum backup"
        case .freeOTPPlus: "FreeOTP+ JSON"
        case .cotp: "cotp export"
        case .bitwarden: "Bitwarden export"
        case .proton: "Proton Authenticator export"
        case .ente: "ente Auth export"
        case .passOTP: "pass-otp file"
        case .keePassXC: "KeePassXC CSV"
        case .keePassXML: "KeePass XML"
        case .keePass: "KeePass database"
        case .pskc: "PSKC key container"
        case .cxf: "FIDO Credential Exchange Format"
        case .otpauth: "otpauth list"
        case .google: "Google Authenticator export"
        }
    }

    /// Returns the format of a file according to its content; nil when the format is unknown.
    public static func detect(_ bytes: [UInt8]) -> ImportFormat? {
        let bytes = withoutByteOrderMark(bytes)
        if AccountArchive.isArchive(bytes) { return .signet }
        guard bytes.count <= maxLength else { return nil }
        if BinaryPropertyList.isOne(bytes) { return .keychain }
        if KDBXFile.recognizes(bytes) { return .keePass }
        if StratumEncryption.detect(bytes) != nil { return .stratum }
        guard let first = bytes.first(where: { !Self.isSpace($0) }) else { return nil }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return detectJSON(withoutPadding(bytes)) }
        if first == UInt8(ascii: "<") { return detectXML(bytes) }
        return detectText(bytes) ?? (AndOTPFile.mayBeEncrypted(bytes) ? .andOTP : nil)
    }

    private static func detectText(_ bytes: [UInt8]) -> ImportFormat? {
        if KeePassXCFile.recognizes(bytes) { return .keePassXC }
        if BitwardenFile.recognizes(bytes) { return .bitwarden }
        if EnteFile.recognizes(bytes) { return .ente }
        if let format = URIList.detect(bytes) { return format }
        return PassOTPFile.recognizes(bytes) ? .passOTP : nil
    }

    private static func detectXML(_ bytes: [UInt8]) -> ImportFormat? {
        let head = UnsupportedFile.head(bytes)
        if KeePassXMLFile.recognizes(head: head) { return .keePassXML }
        return PSKCFile.recognizes(head: head) ? .pskc : nil
    }

    private static func detectJSON(_ bytes: [UInt8]) -> ImportFormat? {
        guard let json = try? JSON.value(of: bytes) else {
            return LegacySDKFile.isListOfObjects(bytes) ? .forgerock : nil
        }
        if CXFFile.recognizes(json) { return .cxf }
        if AegisFile.recognizes(json) { return .aegis }
        if TwoFASFile.recognizes(json) { return .twoFAS }
        if StratumFile.recognizes(json) { return .stratum }
        if FreeOTPPlusFile.recognizes(json) { return .freeOTPPlus }
        if CotpFile.recognizes(json) { return .cotp }
        if BitwardenFile.recognizes(json) { return .bitwarden }
        if ProtonFile.recognizes(json) { return .proton }
        if EnteFile.recognizes(json) { return .ente }
        if LegacySDKFile.recognizes(json) { return .forgerock }
        return AndOTPFile.recognizes(json) ? .andOTP : nil
    }

    /// Returns the bytes without the UTF-8 byte order mark that some editors write at the beginning.
    private static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    }

    /// Returns the bytes of a text without the NUL bytes that some programs write at its end.
    package static func withoutPadding(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.last == 0 else { return bytes }
        return Array(bytes.prefix((bytes.lastIndex { $0 != 0 } ?? -1) + 1))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Reads a file of this format.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - passphrase: The passphrase of an encrypted file.
    ///   - policy: The rule for acceptable push endpoints.
    /// - Returns: The valid entries, and the skipped ones with the reasons.
    /// - Throws: ``ImportError``. After ``ImportError/Code/passphraseNeeded``, read the file again with a passphrase.
    public func read(
        _ bytes: [UInt8], passphrase: Secret? = nil, policy: EndpointPolicy = .secure
    ) throws(ImportError) -> ImportContent {
        guard bytes.count <= maxLength else {
            throw ImportError(.tooLarge, self, "file", "more than \(maxLength >> 20) MiB are not read")
        }
        let bytes = Self.withoutByteOrderMark(bytes)
        return switch self {
        case .signet: try AccountArchive(opening: bytes, with: passphrase).content(policy: policy)
        case .forgerock: try LegacySDKFile.read(Self.withoutPadding(bytes), policy: policy)
        case .keychain: try KeychainItemsFile.read(bytes, policy: policy)
        case .aegis: try AegisFile.read(bytes, passphrase: passphrase)
        case .twoFAS: try TwoFASFile.read(bytes, passphrase: passphrase)
        case .andOTP: try AndOTPFile.read(bytes, passphrase: passphrase)
        case .stratum: try StratumFile.read(bytes, passphrase: passphrase)
        case .freeOTPPlus: try FreeOTPPlusFile.read(bytes)
        case .cotp: try CotpFile.read(bytes, passphrase: passphrase, policy: policy)
        case .bitwarden: try BitwardenFile.read(bytes, passphrase: passphrase, policy: policy)
        case .proton: try ProtonFile.read(bytes, passphrase: passphrase, policy: policy)
        case .ente: try EnteFile.read(bytes, passphrase: passphrase, policy: policy)
        case .passOTP: try PassOTPFile.read(bytes, policy: policy)
        case .keePassXC: try KeePassXCFile.read(bytes, policy: policy)
        case .keePassXML: try KeePassXMLFile.read(bytes, policy: policy)
        case .keePass: try KDBXFile.read(bytes, passphrase: passphrase, policy: policy)
        case .pskc: try PSKCFile.read(bytes, passphrase: passphrase)
        case .cxf: try CXFFile.read(bytes)
        case .otpauth, .google: try URIList.read(bytes, as: self, policy: policy)
        }
    }

    /// Reads a file after detecting its format.
    /// - Throws: ``ImportError``, with ``ImportError/Code/unknownFormat`` when the format cannot be detected.
    public static func read(
        _ bytes: [UInt8], passphrase: Secret? = nil, policy: EndpointPolicy = .secure
    ) throws(ImportError) -> ImportContent {
        guard let format = detect(bytes) else { throw unknown(bytes) }
        return try format.read(bytes, passphrase: passphrase, policy: policy)
    }

    /// Returns the error for a file whose format ``detect(_:)`` does not know.
    package static func unknown(_ bytes: [UInt8]) -> ImportError {
        if let file = UnsupportedFile.detect(withoutByteOrderMark(bytes)) {
            return ImportError(.unknownFormat, nil, "file", file.advice)
        }
        return ImportError(
            .unknownFormat, nil, "file",
            "it is in none of these formats: " + allCases.map(\.title).joined(separator: ", ")
                + "; an export that another program has compressed or encrypted in its own way cannot be read")
    }
}

extension ImportFormat {
    func malformed(_ part: String, _ reason: String) -> ImportError { ImportError(.malformed, self, part, reason) }

    /// Parses JSON that is the file or was encrypted in it.
    func json(_ bytes: [UInt8], part: String = "file") throws(ImportError) -> JSONValue {
        do {
            return try JSON.value(of: Self.withoutPadding(bytes))
        } catch {
            throw malformed(part, "it is not JSON, or was cut off (byte \(error.offset))")
        }
    }

    /// Returns the bytes of a JSON text in base64.
    /// - Parameters:
    ///   - value: The text.
    ///   - part: The part of the file that an error names.
    ///   - count: The accepted numbers of bytes.
    ///   - title: The term for the bytes in an error.
    /// - Returns: The bytes.
    /// - Throws: ``ImportError/Code/malformed`` for another value.
    func bytes(
        _ value: JSONValue?, part: String, count: some RangeExpression<Int>, _ title: String
    ) throws(ImportError) -> [UInt8] {
        guard let bytes = value?.string.flatMap({ try? Base64.decode($0) }), count.contains(bytes.count) else {
            throw malformed(part, "not \(title) in base64")
        }
        return bytes
    }

    /// Returns the entries of a JSON array, whose number is limited.
    func entries(_ value: JSONValue?, part: String) throws(ImportError) -> [JSONValue] {
        guard let entries = value?.array else { throw malformed(part, "a list was expected") }
        guard entries.count <= Self.maxEntries else {
            throw ImportError(.tooLarge, self, part, "more than \(Self.maxEntries) entries")
        }
        return entries
    }

    /// Returns the error for a passphrase that does not open the file.
    func wrongPassphrase(_ part: String, orDamaged: Bool = true) -> ImportError {
        ImportError(
            .wrongPassphrase, self, part,
            "the passphrase is not the one it was encrypted with" + (orDamaged ? ", or the file is damaged" : ""))
    }

    /// Returns the passphrase, or throws ``ImportError/Code/passphraseNeeded`` when it is nil.
    func needed(_ passphrase: Secret?) throws(ImportError) -> Secret {
        guard let passphrase else {
            throw ImportError(.passphraseNeeded, self, "file", "it is encrypted; its passphrase is needed")
        }
        return passphrase
    }
}
