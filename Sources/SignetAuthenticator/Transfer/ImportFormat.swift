public import SignetCore

/// The formats that accounts can be read from.
///
/// Reading is a function of the bytes alone: it asks nobody, stores nothing, and is bounded in what it takes.
public enum ImportFormat: String, Sendable, Hashable, CaseIterable {
    /// The encrypted archive of this program (docs/format-archive.md).
    case signet
    /// The JSON of the ForgeRock SDKs, Android and legacy iOS: accounts, mechanisms and notifications.
    case forgerock
    /// An Aegis vault, plain or encrypted by a password.
    case aegis
    /// A 2FAS backup, plain or encrypted.
    case twoFAS = "2fas"
    /// An andOTP backup, plain or encrypted by a password.
    case andOTP = "andotp"
    /// `otpauth` URIs, one a line.
    case otpauth
    /// `otpauth-migration` URIs of Google Authenticator, one a line.
    case google

    /// The most bytes that are read of any file; an archive may have more: ``AccountArchive/longest``.
    public static let longest = 64 << 20

    /// The most entries that are read of one file.
    static let mostEntries = 100_000

    /// The most bytes that are read of a file of this format.
    public var longest: Int { self == .signet ? AccountArchive.longest : Self.longest }

    /// What people call it.
    public var title: String {
        switch self {
        case .signet: "Signet archive"
        case .forgerock: "ForgeRock SDK JSON"
        case .aegis: "Aegis vault"
        case .twoFAS: "2FAS backup"
        case .andOTP: "andOTP backup"
        case .otpauth: "otpauth list"
        case .google: "Google Authenticator export"
        }
    }

    /// The format of a file, by its content; nil when it is none of these.
    public static func detect(_ bytes: [UInt8]) -> ImportFormat? {
        let bytes = withoutByteOrderMark(bytes)
        if AccountArchive.isArchive(bytes) { return .signet }
        guard bytes.count <= longest else { return nil }
        guard let first = bytes.first(where: { !Self.isSpace($0) }) else { return nil }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return detectJSON(bytes) }
        if let format = URIList.detect(bytes) { return format }
        return AndOTPFile.mayBeEncrypted(bytes) ? .andOTP : nil
    }

    private static func detectJSON(_ bytes: [UInt8]) -> ImportFormat? {
        guard let json = try? JSON.value(of: bytes) else {
            return LegacySDKFile.isListOfObjects(bytes) ? .forgerock : nil
        }
        if AegisFile.recognises(json) { return .aegis }
        if TwoFASFile.recognises(json) { return .twoFAS }
        if LegacySDKFile.recognises(json) { return .forgerock }
        return AndOTPFile.recognises(json) ? .andOTP : nil
    }

    /// The file without what some editors put before its first character.
    private static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Reads a file of this format.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - passphrase: What it is encrypted with, if it is.
    ///   - policy: Which push endpoints are acceptable.
    /// - Throws: ``ImportError``; with ``ImportError/Code/passphraseNeeded`` read it again with a passphrase.
    public func read(
        _ bytes: [UInt8], passphrase: Secret? = nil, policy: EndpointPolicy = .secure
    ) throws(ImportError) -> ImportContent {
        guard bytes.count <= longest else {
            throw ImportError(.tooLarge, self, "file", "more than \(longest >> 20) MiB are not read")
        }
        let bytes = Self.withoutByteOrderMark(bytes)
        return switch self {
        case .signet: try AccountArchive(opening: bytes, with: passphrase).content(policy: policy)
        case .forgerock: try LegacySDKFile.read(bytes, policy: policy)
        case .aegis: try AegisFile.read(bytes, passphrase: passphrase)
        case .twoFAS: try TwoFASFile.read(bytes, passphrase: passphrase)
        case .andOTP: try AndOTPFile.read(bytes, passphrase: passphrase)
        case .otpauth, .google: try URIList.read(bytes, as: self, policy: policy)
        }
    }

    /// Reads a file of whatever format it is.
    /// - Throws: ``ImportError``, with ``ImportError/Code/unknownFormat`` when it is of none.
    public static func read(
        _ bytes: [UInt8], passphrase: Secret? = nil, policy: EndpointPolicy = .secure
    ) throws(ImportError) -> ImportContent {
        guard let format = detect(bytes) else { throw unknown }
        return try format.read(bytes, passphrase: passphrase, policy: policy)
    }

    /// The error for a file of no known format.
    package static var unknown: ImportError {
        ImportError(
            .unknownFormat, nil, "file",
            "it is none of these: " + allCases.map(\.title).joined(separator: ", ")
                + "; an export that another program has compressed or encrypted in its own way cannot be read")
    }
}

extension ImportFormat {
    func malformed(_ part: String, _ reason: String) -> ImportError { ImportError(.malformed, self, part, reason) }

    /// The JSON of a file, or of what was encrypted in it.
    func json(_ bytes: [UInt8], part: String = "file") throws(ImportError) -> JSONValue {
        do {
            return try JSON.value(of: bytes)
        } catch {
            throw malformed(part, "it is not JSON, or was cut off (byte \(error.offset))")
        }
    }

    /// An array of entries, not too long.
    func entries(_ value: JSONValue?, part: String) throws(ImportError) -> [JSONValue] {
        guard let entries = value?.array else { throw malformed(part, "a list was expected") }
        guard entries.count <= Self.mostEntries else {
            throw ImportError(.tooLarge, self, part, "more than \(Self.mostEntries) entries")
        }
        return entries
    }

    /// The error for a passphrase that does not open what it should.
    func wrongPassphrase(_ part: String, orDamaged: Bool = true) -> ImportError {
        ImportError(
            .wrongPassphrase, self, part,
            "the passphrase is not the one it was encrypted with" + (orDamaged ? ", or the file is damaged" : ""))
    }

    /// The passphrase, or the error that says that there must be one.
    func needed(_ passphrase: Secret?) throws(ImportError) -> Secret {
        guard let passphrase else {
            throw ImportError(.passphraseNeeded, self, "file", "it is encrypted; its passphrase is needed")
        }
        return passphrase
    }
}
