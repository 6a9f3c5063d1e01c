import SignetAuthenticator
import SignetCore

/// The files that are to be imported, read and understood.
struct ImportSource {
    let content: ImportContent
    /// The format of each, in the order in which they were given.
    let formats: [ImportFormat]

    /// Reads the files. Lists of URIs, and pictures of QR codes, are read as one, since an export may be spread over several.
    init(
        _ files: [String], as format: ImportFormat?, policy: EndpointPolicy, passphrase: FilePassphraseOptions
    ) throws {
        var contents: [ImportContent] = []
        var formats: [ImportFormat] = []
        var list: [UInt8] = []
        for file in files {
            let bytes = try Self.uris(in: Self.bytes(of: file, as: format), file)
            guard let kind = format ?? ImportFormat.detect(bytes) else { throw Self.unknown(file) }
            formats.append(kind)
            if kind == .otpauth || kind == .google {
                list += bytes + [UInt8(ascii: "\n")]
            } else {
                contents.append(try Self.read(bytes, of: file, as: kind, policy: policy, passphrase: passphrase))
            }
        }
        if !list.isEmpty { contents.append(try (format ?? .otpauth).read(list, policy: policy)) }
        content = ImportContent.combined(contents)
        self.formats = formats
    }

    /// Reads one file of a known format, and asks for its passphrase only when there must be one.
    static func read(
        _ bytes: [UInt8], of file: String, as format: ImportFormat, policy: EndpointPolicy = .secure,
        passphrase: FilePassphraseOptions
    ) throws -> ImportContent {
        do {
            return try format.read(bytes, policy: policy)
        } catch  where error.code == .passphraseNeeded {
            let given = try passphrase.passphrase(of: file, isArchive: format == .signet)
            return try format.read(bytes, passphrase: given, policy: policy)
        }
    }

    /// Everything in a file, if it is not too long.
    static func bytes(of file: String, as format: ImportFormat?) throws -> [UInt8] {
        let limit = format?.longest ?? AccountArchive.longest
        guard let bytes = try TransferFile.contents(of: file, limit: limit) else {
            throw Failure(.badInput, "import.tooLarge", "\(file): more than \(limit >> 20) MiB are not read", part: "file")
        }
        return bytes
    }

    private static func unknown(_ file: String) -> Failure {
        let failure = Failure(ImportFormat.unknown)
        return Failure(.badInput, failure.code, "\(file): \(failure.message)", part: failure.part)
    }

    /// The text of all QR codes in a picture, one a line; the bytes as they are when they are no picture.
    private static func uris(in bytes: [UInt8], _ file: String) throws -> [UInt8] {
        guard bytes.count <= PictureReader.maximumBytes else { return bytes }
        do {
            let texts = try QRScanner.scan(PictureReader.read(bytes))
            guard !texts.isEmpty else { throw PictureError.noCode }
            return Array(texts.joined(separator: "\n").utf8)
        } catch PictureError.unknownFormat {
            return bytes
        }
    }
}
