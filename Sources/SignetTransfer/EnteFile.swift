import SignetCore

/// An export of ente Auth, version 1, plain or encrypted with a password.
///
/// The plain export has an `otpauth` URI in each line. Its parameter `codeDisplay` is JSON with the note and the tags of an entry,
/// and says which entries are in the trash. The encrypted export is a JSON object with the list as one message of libsodium's
/// secretstream; the key is derived by Argon2id. The format is that of ente's documentation
/// (`ente.io/help/auth/migration/export`) and of its source.
enum EnteFile {
    private static let format = ImportFormat.ente
    private static let newestVersion: Int64 = 1
    private static let displayParameter = "codeDisplay="

    static func recognizes(_ json: JSONValue) -> Bool {
        json["kdfParams"]?.object != nil && json["encryptedData"]?.string != nil
    }

    /// Returns true for a list of several URIs of which the first one has ente's own parameter.
    ///
    /// A single URI is one that other programs can enroll too.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        let lines = lines(Array(bytes.prefix(2 * EnrollmentURI.maxLength)))
        guard lines.count > 1, let line = lines.first?.text else { return false }
        return line.lowercased().hasPrefix("otpauth://") && line.contains(displayParameter)
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return try gather(bytes, policy: policy) }
        return try gather(decrypt(format.json(bytes), passphrase: passphrase), policy: policy)
    }

    // MARK: Decrypting

    private static func decrypt(_ file: JSONValue, passphrase: Secret?) throws(ImportError) -> [UInt8] {
        guard let version = file["version"]?.lenientInteger, version > 0 else {
            throw format.malformed("version", "not a version")
        }
        guard version <= newestVersion else {
            throw ImportError(
                .newerVersion, format, "version",
                "version \(version) is newer than \(newestVersion), the newest that Signet reads; export plain text")
        }
        let costs = file["kdfParams"]
        guard let memory = costs?["memLimit"]?.lenientInteger, let iterations = costs?["opsLimit"]?.lenientInteger else {
            throw format.malformed("kdfParams", "a limit is missing")
        }
        let salt = try format.bytes(costs?["salt"], part: "kdfParams", count: 8...64, "a salt")
        let header = try format.bytes(file["encryptionNonce"], part: "encryptionNonce", count: 24...24, "24 bytes")
        let sealed = try format.bytes(file["encryptedData"], part: "encryptedData", count: 17..., "a ciphertext")
        // libsodium takes the memory in bytes, and has one lane.
        let key = try Argon2.fileKey(
            from: format.needed(passphrase), salt: salt,
            cost: (memoryKiB: memory / 1_024, iterations: iterations, parallelism: 1), as: format, part: "kdfParams")
        guard let message = SecretStream.firstMessage(sealed, header: header, key: key) else {
            throw format.wrongPassphrase("encryptedData")
        }
        return message.content
    }

    // MARK: Entries

    private static func gather(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        let lines = lines(bytes)
        guard lines.count <= ImportFormat.maxEntries else {
            throw ImportError(.tooLarge, format, "file", "more than \(ImportFormat.maxEntries) entries")
        }
        for (number, line) in lines {
            let display = display(of: line)
            if display?["trashed"]?.bool ?? false {
                builder.leaveOut("deleted entry")
                continue
            }
            var details = ImportedDetails()
            details.setNote(display?["note"]?.string)
            for tag in display?["tags"]?.array ?? [] { details.addGroup(tag.string) }
            details.setIconName(display?["iconID"]?.string)
            URIList.add(
                withEscapes(line, isForm: display != nil), at: "line \(number)", to: &builder, policy: policy, details: details)
        }
        return builder.content
    }

    /// Returns the lines that are not empty, with their numbers from 1 and without the quotation marks of a JSON text.
    private static func lines(_ bytes: [UInt8]) -> [(number: Int, text: String)] {
        let lines = ImportFormat.withoutPadding(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line -> (number: Int, text: String)? in
            let text = String(decoding: line.prefix(2 * EnrollmentURI.maxLength), as: UTF8.self).trimmingWhitespace()
            guard !text.isEmpty else { return nil }
            let isQuoted = text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
            return (number: index + 1, text: isQuoted ? String(text.dropFirst().dropLast()) : text)
        }
    }

    /// Returns a URI with its number signs escaped, which ente does not do, and with spaces for the plus signs of its parameters.
    ///
    /// The app encodes the parameters as forms do when it adds its own one. The URI has no fragment.
    private static func withEscapes(_ uri: String, isForm: Bool) -> String {
        let uri = uri.replacing("#", with: "%23")
        guard isForm, let query = uri.firstIndex(of: "?") else { return uri }
        return "\(uri[..<query])\(uri[query...].replacing("+", with: "%20"))"
    }

    /// Returns the JSON of ente's own parameter; nil when a URI does not have it.
    private static func display(of uri: String) -> JSONValue? {
        let query = uri.drop { $0 != "?" }.dropFirst()
        guard let pair = query.split(separator: "&").first(where: { $0.hasPrefix(displayParameter) }) else { return nil }
        // The app encodes the parameter as forms do.
        let text = pair.dropFirst(displayParameter.count).replacing("+", with: "%20")
        return text.percentDecoded().flatMap { try? JSON.value(of: Array($0.utf8)) }
    }
}
