import SignetCore

/// A CSV file of KeePassXC (RFC 4180).
///
/// Its column `TOTP` has an `otpauth` URI for each entry with codes; of such an entry, the path of the group and the notes are read
/// too. The other entries are passwords, which are left out.
enum KeePassXCFile {
    private static let format = ImportFormat.keePassXC
    private static let columns = ["Group", "Title", "Username", "Password"]

    static func recognizes(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: columns.map { "\"\($0)\"" }.joined(separator: ",").utf8)
    }

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        let rows = try CSVFile.rows(bytes, as: format)
        guard let column = rows.first?.firstIndex(of: "TOTP") else { throw format.malformed("row 1", "there is no column TOTP") }
        var builder = ImportBuilder()
        let (group, note) = (rows.first?.firstIndex(of: "Group"), rows.first?.firstIndex(of: "Notes"))
        for (index, row) in rows.enumerated().dropFirst() {
            guard column < row.count else {
                builder.skip(SkippedEntry("row \(index + 1)", type: "unknown", .invalid, "the column TOTP is missing"))
                continue
            }
            let uri = row[column].trimmingWhitespace()
            if uri.isEmpty {
                builder.leaveOut("password")
            } else {
                var details = ImportedDetails()
                if let group, group < row.count { details.addGroup(row[group]) }
                if let note, note < row.count { details.setNote(row[note]) }
                URIList.add(uri, at: "row \(index + 1)", to: &builder, policy: policy, details: details)
            }
        }
        return builder.content
    }
}
