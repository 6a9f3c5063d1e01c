import Hummingbird
import SignetCore

/// The tables of the console.
///
/// Each is shown in pages, and its name is the query parameter for the page number.
enum ConsoleTable: String, Sendable, CaseIterable {
    case sessions
    case pushes
    case emails
    case users
    case requestLog
    case faults
}

/// The current page of each table; page numbers start at 1.
struct ConsoleQuery: Sendable, Hashable {
    private var pages: [ConsoleTable: Int] = [:]

    /// Creates a query for the first page of each table.
    init() {}

    init(_ request: Request) {
        for table in ConsoleTable.allCases {
            pages[table] = request.query(table.rawValue).flatMap { Int($0) }.flatMap { $0 > 1 ? $0 : nil }
        }
    }

    subscript(table: ConsoleTable) -> Int { pages[table] ?? 1 }

    /// Returns the query with a different page of one table.
    func turning(_ table: ConsoleTable, to page: Int) -> ConsoleQuery {
        var copy = self
        copy.pages[table] = page > 1 ? page : nil
        return copy
    }

    /// The query string of a URL, with the question mark; empty when every table is at its first page.
    var query: String {
        let parameters = ConsoleTable.allCases.compactMap { table in pages[table].map { "\(table.rawValue)=\($0)" } }
        return parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
    }
}

/// A page of a table.
struct TablePage<Row: Sendable>: Sendable {
    /// The page number, starting at 1.
    let number: Int
    let rows: [Row]
    /// The number of rows in the table, including rows beyond the last page.
    let count: Int
    private let last: Int

    /// The maximum number of rows on a page.
    static var size: Int { 50 }

    /// Creates a page.
    /// - Parameters:
    ///   - all: The rows that pages can show, in the order of the table.
    ///   - total: The number of rows in the table, if it is larger than the number of rows in `all`.
    ///   - number: The requested page number. If it is too large, the last page is used.
    ///   - row: A function that creates a row. It is called only for the rows on the page.
    init<Element>(
        _ all: some RandomAccessCollection<Element>, of total: Int = 0, _ number: Int, _ row: (Element) throws -> Row
    ) rethrows {
        last = max(1, (all.count + Self.size - 1) / Self.size)
        let page = min(number, last)
        self.number = page
        count = max(total, all.count)
        rows = try all.dropFirst((page - 1) * Self.size).prefix(Self.size).map(row)
    }

    init(_ all: some RandomAccessCollection<Row>, _ number: Int) { self.init(all, number) { $0 } }

    /// The range of rows on this page, such as `51 to 100 of 260`; nil when the page shows the whole table.
    var extent: String? {
        guard count > rows.count else { return nil }
        let start = (number - 1) * Self.size
        return "\(start + 1) to \(start + rows.count) of \(count)"
    }

    var hasNext: Bool { number < last }
}
