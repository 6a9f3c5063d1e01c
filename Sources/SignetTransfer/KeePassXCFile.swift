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
        let rows = try rows(bytes)
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

    /// Returns the fields of all rows; a field in quotation marks may contain commas, line ends and doubled quotation marks.
    private static func rows(_ bytes: [UInt8]) throws(ImportError) -> [[String]] {
        var rows: [[String]] = []
        var (row, field): ([String], [UInt8]) = ([], [])
        var (isQuoted, hasEndedQuotation) = (false, false)
        func endField() {
            row.append(String(decoding: field, as: UTF8.self))
            field = []
        }
        for byte in ImportFormat.withoutPadding(bytes) + Array("\n".utf8) {
            switch byte {
            case UInt8(ascii: "\""):
                // A doubled quotation mark ends the quotation and begins it again.
                if hasEndedQuotation { field.append(byte) }
                hasEndedQuotation = isQuoted
                isQuoted.toggle()
                continue
            case UInt8(ascii: ",") where !isQuoted: endField()
            case UInt8(ascii: "\r") where !isQuoted: break
            case UInt8(ascii: "\n") where !isQuoted:
                guard !row.isEmpty || !field.isEmpty else { break }
                endField()
                rows.append(row)
                row = []
                guard rows.count <= ImportFormat.maxEntries else {
                    throw ImportError(.tooLarge, format, "file", "more than \(ImportFormat.maxEntries) entries")
                }
            default: field.append(byte)
            }
            hasEndedQuotation = false
        }
        guard !isQuoted else {
            throw format.malformed("row \(rows.count + 1)", "a quotation mark is missing, or the file was cut off")
        }
        return rows
    }
}
