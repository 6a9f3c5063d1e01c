import Foundation

/// All rows, and the circumstances they were measured in.
struct Report: Codable {
    let date: Date
    let cores: Int
    let rows: [Row]

    init(date: Date, rows: [Row]) {
        self.date = date
        self.rows = rows
        cores = ProcessInfo.processInfo.activeProcessorCount
    }

    /// True when every limit that was measured holds.
    var holds: Bool { rows.allSatisfy { $0.holds ?? true } }

    /// The report as `bench.json`.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(self) + Data("\n".utf8)
    }

    /// The report for the eye.
    var table: String {
        let lines =
            [["compared", "ratio", "limit", "", "ours", "reference", "which is"]] + rows.filter { $0.skipped == nil }.map(\.cells)
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let measured = lines.map { cells in
            zip(cells, widths).enumerated().map {
                $0.offset.isFigure ? $0.element.0.right($0.element.1) : $0.element.0.left($0.element.1)
            }
            .joined(separator: "  ")
        }
        let skipped = rows.compactMap { row in row.skipped.map { "skipped: \(row.name): \($0)" } }
        return (measured + skipped + ["\(cores) cores; ratios are medians over interleaved rounds"]).joined(separator: "\n")
    }
}

extension Row {
    /// The cells of a line of the table.
    fileprivate var cells: [String] {
        [
            name, ratio.map { $0.short } ?? "", limitText, holds.map { $0 ? "holds" : "MISSED" } ?? "for the record",
            ours.map { "\($0.value.short) \($0.unit)" } ?? "", reference.map { "\($0.value.short) \($0.unit)" } ?? "",
            reference?.name ?? "",
        ]
    }

    private var limitText: String {
        guard let limit else { return "" }
        let wish = ambition.map { ", wish \($0.short)" } ?? ""
        return (direction == .atLeast ? "≥ " : "≤ ") + limit.short + wish
    }
}

extension Int {
    /// True when the table's column of this number holds figures, which are aligned to the right.
    fileprivate var isFigure: Bool { [1, 4, 5].contains(self) }
}

extension Double {
    /// Three digits or so.
    fileprivate var short: String {
        let digits = abs(self) >= 100 ? 0 : abs(self) >= 10 ? 1 : 2
        return formatted(
            .number.precision(.fractionLength(0...digits)).grouping(.never).locale(Locale(identifier: "en_US_POSIX")))
    }
}

extension String {
    fileprivate func left(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func right(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
