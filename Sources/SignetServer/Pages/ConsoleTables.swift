import SignetCore

/// The tables of the console. Each is shown page by page; its name is the parameter that says which.
enum ConsoleTable: String, Sendable, CaseIterable {
    case sessions
    case pushes
    case letters
    case users
    case journal
    case faults
}

/// Which page of each table is looked at, from 1.
struct ConsoleQuery: Sendable, Hashable {
    private var pages: [ConsoleTable: Int] = [:]

    /// The first page of each.
    init() {}

    init(_ reader: RequestReader) {
        for table in ConsoleTable.allCases {
            pages[table] = reader.query(table.rawValue).flatMap { Int($0) }.flatMap { $0 > 1 ? $0 : nil }
        }
    }

    subscript(table: ConsoleTable) -> Int { pages[table] ?? 1 }

    /// The place with another page of one table.
    func turning(_ table: ConsoleTable, to page: Int) -> ConsoleQuery {
        var place = self
        place.pages[table] = page > 1 ? page : nil
        return place
    }

    /// As the end of an address; empty when every table is at its first page.
    var query: String {
        let parameters = ConsoleTable.allCases.compactMap { table in pages[table].map { "\(table.rawValue)=\($0)" } }
        return parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
    }
}

/// What a page of a table has, of how much there is.
struct TablePage<Row: Sendable>: Sendable {
    /// From 1.
    let number: Int
    let rows: [Row]
    /// How many rows the table has, those that cannot be turned to included.
    let count: Int
    private let last: Int

    /// The most rows of a page.
    static var size: Int { 50 }

    /// - Parameters:
    ///   - all: the table as far as it can be turned to, in its order.
    ///   - total: how many rows it has, when that is more.
    ///   - number: the page that is asked for; one that there is not is the last one.
    ///   - row: makes a row; it is asked for those that are shown only.
    init<Element>(
        _ all: some RandomAccessCollection<Element>, of total: Int = 0, _ number: Int, _ row: (Element) -> Row
    ) {
        last = max(1, (all.count + Self.size - 1) / Self.size)
        let page = min(number, last)
        self.number = page
        count = max(total, all.count)
        rows = all.dropFirst((page - 1) * Self.size).prefix(Self.size).map(row)
    }

    init(_ all: some RandomAccessCollection<Row>, _ number: Int) { self.init(all, number) { $0 } }

    /// `51 to 100 of 260`; nil when all of it is here.
    var extent: String? {
        guard count > rows.count else { return nil }
        let start = (number - 1) * Self.size
        return "\(start + 1) to \(start + rows.count) of \(count)"
    }

    var hasNext: Bool { number < last }
}
