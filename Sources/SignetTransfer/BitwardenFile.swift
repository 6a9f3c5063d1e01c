import SignetCore
import SignetStorage

/// An export of Bitwarden: JSON, plain or encrypted with a password of its own, or CSV.
///
/// Codes are in the member `login.totp` of an item, or in the column `login_totp`: an `otpauth` URI, `steam://` and a secret, or a
/// secret alone. The other items are passwords, which are left out. The format is that of Bitwarden's documentation
/// (`bitwarden.com/help/encrypted-export`) and of its clients' source.
enum BitwardenFile {
    private static let format = ImportFormat.bitwarden
    private static let columns = ["type", "name", "login_username", "login_totp"]

    static func recognizes(_ json: JSONValue) -> Bool {
        json["encrypted"]?.bool != nil && (json["items"]?.array != nil || json["data"]?.string != nil)
    }

    /// Returns true for a CSV file whose header has the columns of Bitwarden.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        let header = String(decoding: bytes.prefix(1_024).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        let names = header.split(separator: ",").map { String($0.trimming("\"")) }
        return columns.allSatisfy { names.contains($0) }
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        if recognizes(bytes) { return try gatherRows(CSVFile.rows(bytes, as: format), policy: policy) }
        let file = try format.json(bytes)
        guard file["encrypted"]?.bool ?? false else { return try gather(file, policy: policy) }
        guard file["passwordProtected"]?.bool ?? false else {
            throw format.malformed(
                "encrypted",
                "only the account that exported it can decrypt it; export it again as '.json (Encrypted)' with the export type "
                    + "'Password protected', or as '.json'")
        }
        return try gather(BitwardenEncryption(file).open(with: format.needed(passphrase)), policy: policy)
    }

    // MARK: JSON

    private static func gather(_ file: JSONValue, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        let folders = ImportedDetails.groupNames(file["folders"], id: "id", name: "name")
        let collections = ImportedDetails.groupNames(file["collections"], id: "id", name: "name")
        for (index, item) in try format.entries(file["items"], part: "items").enumerated() {
            let login = item["login"]
            guard let totp = login?["totp"]?.string?.trimmingWhitespace(), !totp.isEmpty else {
                builder.leaveOut("password")
                continue
            }
            if let date = item["deletedDate"], date != .null {
                builder.leaveOut("deleted entry")
                continue
            }
            var entry = Entry(
                number: index + 1, location: "entry \(index + 1)", name: item["name"]?.string,
                username: login?["username"]?.string, totp: totp)
            entry.details.addGroup(id: item["folderId"]?.string, in: folders)
            for id in item["collectionIds"]?.array ?? [] { entry.details.addGroup(id: id.string, in: collections) }
            entry.details.setNote(item["notes"]?.string)
            entry.add(to: &builder, policy: policy)
        }
        return builder.content
    }

    // MARK: CSV

    private static func gatherRows(_ rows: [[String]], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        let header = rows.first ?? []
        guard let totp = header.firstIndex(of: "login_totp") else {
            throw format.malformed("row 1", "there is no column login_totp")
        }
        var builder = ImportBuilder()
        for (index, row) in rows.enumerated().dropFirst() {
            guard totp < row.count else {
                builder.skip(SkippedEntry("row \(index + 1)", type: "unknown", .invalid, "the column login_totp is missing"))
                continue
            }
            let text = row[totp].trimmingWhitespace()
            guard !text.isEmpty else {
                builder.leaveOut("password")
                continue
            }
            let fields = Dictionary(zip(header, row)) { first, _ in first }
            var entry = Entry(
                number: index, location: "row \(index + 1)", name: fields["name"], username: fields["login_username"], totp: text)
            entry.details.addGroup(fields["folder"])
            for name in fields["collections"]?.split(separator: ",") ?? [] { entry.details.addGroup(String(name)) }
            entry.details.setNote(fields["notes"])
            entry.add(to: &builder, policy: policy)
        }
        return builder.content
    }

    // MARK: Entries

    /// An item with codes.
    private struct Entry {
        let number: Int
        let location: String
        let name: String?
        let username: String?
        let totp: String
        /// The folder, the collections and the note.
        var details = ImportedDetails()

        func add(to builder: inout ImportBuilder, policy: EndpointPolicy) {
            guard var code = ImportedCode(number: number, text: totp) else {
                return URIList.add(labeled(totp), at: location, to: &builder, policy: policy, details: details)
            }
            (code.issuer, code.account) = (name, username)
            // Bitwarden has no other hash function for a secret alone.
            code.algorithm = "SHA1"
            code.details = details
            code.add(to: &builder)
        }

        /// Returns the URI with the names of the item in place of an empty label, which Bitwarden does not need.
        private func labeled(_ uri: String) -> String {
            guard let start = uri.firstRange(of: "://")?.upperBound else { return uri }
            let path = uri[start...].prefix { $0 != "?" && $0 != "#" }
            let kind = path.prefix { $0 != "/" }
            let label = path.dropFirst(kind.count).trimming("/")
            let names = [name, username].map { ($0 ?? "").trimmingWhitespace() }
            guard label.isEmpty, names != ["", ""] else { return uri }
            let added = names[0].isEmpty ? names[1].percentEncoded() : names.map { $0.percentEncoded() }.joined(separator: ":")
            return "\(uri[..<start])\(kind)/\(added)\(uri[path.endIndex...])"
        }
    }
}
