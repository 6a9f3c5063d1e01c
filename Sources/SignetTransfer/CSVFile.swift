import SignetCore

/// A CSV file (RFC 4180) of another program.
enum CSVFile {
    /// Returns the fields of all rows, with the header.
    ///
    /// A field in quotation marks may contain commas, line ends and doubled quotation marks.
    static func rows(_ bytes: [UInt8], as format: ImportFormat) throws(ImportError) -> [[String]] {
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
