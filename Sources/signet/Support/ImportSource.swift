import SignetCore
import SignetTransfer

/// The parsed contents of the files to import.
struct ImportSource {
    let content: ImportContent
    /// The format of each file, in the given order.
    let formats: [ImportFormat]

    /// Reads the files.
    ///
    /// All lists of URIs and all pictures of QR codes are parsed together, because an export may span several files.
    init(
        _ files: [String], as format: ImportFormat?, policy: EndpointPolicy, passphrase: FilePassphraseOptions
    ) throws {
        var contents: [ImportContent] = []
        var formats: [ImportFormat] = []
        var list: [UInt8] = []
        for file in files {
            let bytes = try Self.uris(in: Self.bytes(of: file, as: format), file)
            guard let kind = format ?? ImportFormat.detect(bytes) else {
                throw Failure(ImportFormat.unknown(bytes), inFile: file)
            }
            formats.append(kind)
            if kind == .otpauth || kind == .google {
                // The empty line separates the last URI of a file from the first line of the next file.
                list += bytes + Array("\n\n".utf8)
            } else {
                contents.append(try Self.read(bytes, of: file, as: kind, policy: policy, passphrase: passphrase))
            }
        }
        if !list.isEmpty { contents.append(try (format ?? .otpauth).read(list, policy: policy)) }
        content = ImportContent.combined(contents)
        self.formats = formats
    }

    /// Reads one file of a known format.
    ///
    /// Asks for a passphrase only if the file is encrypted.
    static func read(
        _ bytes: [UInt8], of file: String, as format: ImportFormat, policy: EndpointPolicy = .secure,
        passphrase: FilePassphraseOptions
    ) throws -> ImportContent {
        let advice: TerminalText?
        do {
            return try format.read(bytes, policy: policy)
        } catch {
            guard error.code == .passphraseNeeded else { throw error }
            // A key container may need a key in place of a password.
            advice = format == .pskc ? "\(file): \(error.reason)" : nil
        }
        // Not in the block above, where the compiler crashes on a closure (Swift 6.3.1).
        return try passphrase.opening(file, isArchive: format == .signet, advice: advice) { given in
            try format.read(bytes, passphrase: given, policy: policy)
        }
    }

    /// Returns the bytes of a file.
    ///
    /// Throws if it is longer than the format allows.
    static func bytes(of file: String, as format: ImportFormat?) throws -> [UInt8] {
        let limit = format?.maxLength ?? AccountArchive.maxLength
        guard let bytes = try TransferFile.contents(of: file, limit: limit) else {
            throw Failure(.badInput, "import.tooLarge", "\(file): more than \(limit >> 20) MiB are not read", part: "file")
        }
        return bytes
    }

    /// Returns the texts of all QR codes in a picture, with an empty line after each, so that none continues the one before it.
    ///
    /// The URIs come first, because the first line of a list determines its format. Returns the bytes unchanged if they aren't a
    /// picture.
    private static func uris(in bytes: [UInt8], _ file: String) throws -> [UInt8] {
        guard bytes.count <= PictureReader.maximumBytes else { return bytes }
        do {
            let texts = try QRScanner.scan(PictureReader.read(bytes))
            guard !texts.isEmpty else { throw PictureError.noCode }
            let (uris, others) = (texts.filter(isURI), texts.filter { !isURI($0) })
            return Array((uris + others).joined(separator: "\n\n").utf8)
        } catch PictureError.unknownFormat {
            return bytes
        } catch {
            throw Failure(error, inFile: file)
        }
    }

    private static func isURI(_ text: String) -> Bool { EnrollmentURI.starts(in: text).first == text.startIndex }
}
