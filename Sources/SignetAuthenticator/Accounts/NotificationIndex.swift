import Foundation
import SignetCore
import SignetStorage

/// The index of the notifications of one mechanism in the order of their arrival.
///
/// A head record has the newest entries, and one page record has each full group of ``pageSize`` entries before them. Adding a
/// notification and dropping the oldest one writes the head and sometimes one page, regardless of the number of notifications.
struct NotificationIndex {
    let mechanismUID: String
    let reader: any RecordBackedReader

    /// The index entry of one notification.
    struct Entry: Hashable {
        let id: String
        let receivedAt: Date

        init(_ notification: PushNotification) { (id, receivedAt) = (notification.id, notification.receivedAt) }

        fileprivate init(id: String, receivedAt: Date) { (self.id, self.receivedAt) = (id, receivedAt) }

        fileprivate static func isBefore(_ first: Entry, _ second: Entry) -> Bool {
            (first.receivedAt, first.id) < (second.receivedAt, second.id)
        }
    }

    /// The number of entries in a page.
    ///
    /// It is small enough for SQLite to store the record in one database page together with other records.
    static let pageSize = 12

    /// The content of the head record.
    private struct Head {
        /// The number of the oldest page, and the number of the page to be written next.
        var first = 0
        var next = 0
        /// The number of entries of the oldest page that have been dropped.
        var skipped = 0
        /// The total number of entries.
        var count = 0
        /// The newest entries, which are not in a page yet.
        var entries: [Entry] = []

        /// Drops the oldest `number` entries.
        ///
        /// They are the first ones of `group`: the rest of the oldest page, or ``entries`` if all pages were dropped.
        mutating func dropOldest(_ number: Int, of group: [Entry]) {
            count -= number
            if first == next {
                entries.removeFirst(number)
            } else if number == group.count {
                first += 1
                skipped = 0
            } else {
                skipped += number
            }
        }
    }

    private var records: any RecordReader { reader.reader }

    /// Returns all entries, oldest first.
    ///
    /// When the index is missing or cannot be read, the entries come from a scan of all notifications.
    func entries() throws(StoreError) -> [Entry] {
        guard let head = try head() else { return try scan() }
        var entries: [Entry] = []
        for number in head.first..<head.next {
            guard let page = try page(number) else { return try scan() }
            entries += number == head.first ? page.dropFirst(head.skipped) : page[...]
        }
        return entries + head.entries
    }

    /// Creates the empty index of a new mechanism.
    func begin(in records: any RecordWriter) throws(StoreError) {
        if try head() == nil { try put(Head(), in: records) }
    }

    /// Adds a notification that has just arrived as the newest entry, regardless of its time.
    ///
    /// Then it drops the entries above the limit.
    /// - Returns: The dropped entries.
    func add(_ entry: Entry, dropping limit: RetentionLimit, in records: any RecordWriter) throws(StoreError) -> [Entry] {
        var head = try soundHead(in: records)
        try append(entry, to: &head, in: records)
        let dropped = try drop(limit, from: &head, in: records)
        try put(head, in: records)
        return dropped
    }

    /// Adds entries with arbitrary times.
    ///
    /// All entries are read and rewritten only when a new entry is older than the newest existing one.
    func insert(_ entries: [Entry], in records: any RecordWriter) throws(StoreError) {
        guard !entries.isEmpty else { return }
        var head = try soundHead(in: records)
        let new = entries.sorted(by: Entry.isBefore)
        if let newest = head.entries.last, Entry.isBefore(new[0], newest) {
            try rewrite((self.entries() + new).sorted(by: Entry.isBefore), over: head, in: records)
        } else {
            for entry in new { try append(entry, to: &head, in: records) }
            try put(head, in: records)
        }
    }

    private func append(_ entry: Entry, to head: inout Head, in records: any RecordWriter) throws(StoreError) {
        if head.entries.count >= Self.pageSize {
            try put(head.entries, page: head.next, in: records)
            head.next += 1
            head.entries = []
        }
        head.entries.append(entry)
        head.count += 1
    }

    /// Drops the entries above the limit.
    /// - Returns: The dropped entries.
    func drop(_ limit: RetentionLimit, in records: any RecordWriter) throws(StoreError) -> [Entry] {
        var head = try soundHead(in: records)
        let dropped = try drop(limit, from: &head, in: records)
        if !dropped.isEmpty { try put(head, in: records) }
        return dropped
    }

    func remove(_ id: String, in records: any RecordWriter) throws(StoreError) {
        let entries = try entries()
        guard entries.contains(where: { $0.id == id }) else { return }
        try rewrite(entries.filter { $0.id != id }, over: head(), in: records)
    }

    /// Drops the oldest entries while they are above the limit.
    ///
    /// When a page is lost, the index is first rebuilt from the stored notifications. An entry of the head whose notification is
    /// not stored yet is kept.
    private func drop(
        _ limit: RetentionLimit, from head: inout Head, in records: any RecordWriter
    ) throws(StoreError) -> [Entry] {
        var found = try entries(above: limit, in: head)
        if found == nil {
            let newest = head.entries
            head = try rewrite(scan().filter { !newest.contains($0) } + newest, over: head, in: records)
            found = try entries(above: limit, in: head)
        }
        guard let (dropped, rest) = found else { return [] }
        for number in head.first..<rest.first { try records.remove(.notificationIndex(mechanismUID, page: number)) }
        head = rest
        return dropped
    }

    /// Returns the entries above the limit, oldest first, and the head without them; nil when a page is lost.
    ///
    /// The newest entry always stays. It reads only the pages that have such entries, and the one after them.
    private func entries(
        above limit: RetentionLimit, in head: Head
    ) throws(StoreError) -> (dropped: [Entry], rest: Head)? {
        var dropped: [Entry] = []
        var rest = head
        for number in head.first...head.next {
            guard rest.count > 1, limit.canBeExceeded(among: rest.count) else { break }
            guard let group = try remainder(ofPage: number, in: rest) else { return nil }
            let above = group.prefix(limit.excess(of: group.map(\.receivedAt), among: rest.count))
            dropped += above
            rest.dropOldest(above.count, of: group)
            if above.count < group.count { break }
        }
        return (dropped, rest)
    }

    /// Returns the entries of a page that have not been dropped, or those of the head after the last page; nil when the page is
    /// lost.
    private func remainder(ofPage number: Int, in head: Head) throws(StoreError) -> [Entry]? {
        if number == head.next { return head.entries }
        let skipped = number == head.first ? head.skipped : 0
        guard let page = try page(number), skipped < page.count else { return nil }
        return Array(page[skipped...])
    }

    /// Removes all entries and keeps an empty index.
    func restart(in records: any RecordWriter) throws(StoreError) { try rewrite([], over: head(), in: records) }

    /// Removes the index records.
    func end(in records: any RecordWriter) throws(StoreError) {
        if let head = try head() { try removePages(head, in: records) }
        try records.remove(.notificationIndex(mechanismUID))
    }

    // MARK: Records

    /// Returns the head.
    ///
    /// When the head is missing or cannot be read, the index is rebuilt from the stored notifications.
    private func soundHead(in records: any RecordWriter) throws(StoreError) -> Head {
        if let head = try head() { return head }
        return try rewrite(scan(), over: nil, in: records)
    }

    /// Returns the entries of this mechanism from a scan of all notifications, oldest first.
    private func scan() throws(StoreError) -> [Entry] {
        try reader.notifications().reversed().filter { $0.message.mechanismUID == mechanismUID }.map { Entry($0) }
    }

    /// Rewrites the whole index.
    /// - Parameters:
    ///   - entries: All entries, oldest first.
    ///   - old: The head whose pages are removed. It may be a head that has not been stored yet.
    ///   - records: The transaction.
    /// - Returns: The new head, after it was stored.
    /// - Throws: `StoreError` when a page or the head cannot be written or removed.
    @discardableResult
    private func rewrite(_ entries: [Entry], over old: Head?, in records: any RecordWriter) throws(StoreError) -> Head {
        if let old { try removePages(old, in: records) }
        var head = Head()
        for entry in entries { try append(entry, to: &head, in: records) }
        try put(head, in: records)
        return head
    }

    private func removePages(_ head: Head, in records: any RecordWriter) throws(StoreError) {
        for number in head.first..<head.next { try records.remove(.notificationIndex(mechanismUID, page: number)) }
    }

    /// Returns the stored head; nil when it is missing or cannot be read.
    private func head() throws(StoreError) -> Head? {
        let key = RecordKey.notificationIndex(mechanismUID)
        guard let bytes = try RecordLookup({ () throws(StoreError) in try records.record(key) }).value,
            let members = (try? JSON.value(of: bytes))?.object.map(JSONMembers.init),
            let first = try? members.integer("first"), let next = try? members.integer("next"), first <= next, first >= 0,
            let skipped = try? members.integer("skipped"), let count = try? members.integer("count"), skipped >= 0,
            let entries = Self.entries(members["entries"])
        else { return nil }
        return Head(first: first, next: next, skipped: skipped, count: count, entries: entries)
    }

    private func page(_ number: Int) throws(StoreError) -> [Entry]? {
        let key = RecordKey.notificationIndex(mechanismUID, page: number)
        guard let bytes = try RecordLookup({ () throws(StoreError) in try records.record(key) }).value else { return nil }
        return Self.entries((try? JSON.value(of: bytes))?["entries"])
    }

    private func put(_ head: Head, in records: any RecordWriter) throws(StoreError) {
        let value = JSONValue.object([
            "first": .integer(Int64(head.first)), "next": .integer(Int64(head.next)), "skipped": .integer(Int64(head.skipped)),
            "count": .integer(Int64(head.count)), "entries": Self.json(head.entries),
        ])
        try records.put(JSON.encode(value), .notificationIndex(mechanismUID))
    }

    private func put(_ entries: [Entry], page: Int, in records: any RecordWriter) throws(StoreError) {
        try records.put(
            JSON.encode(.object(["entries": Self.json(entries)])), .notificationIndex(mechanismUID, page: page))
    }

    private static func json(_ entries: [Entry]) -> JSONValue {
        .array(entries.map { .array([.string($0.id), .number($0.receivedAt.timeIntervalSinceReferenceDate)]) })
    }

    private static func entries(_ value: JSONValue?) -> [Entry]? {
        guard let elements = value?.array else { return nil }
        let entries = elements.compactMap { element -> Entry? in
            guard let pair = element.array, pair.count == 2, let id = pair[0].string, let seconds = pair[1].seconds else {
                return nil
            }
            return Entry(id: id, receivedAt: Date(timeIntervalSinceReferenceDate: seconds))
        }
        return entries.count == elements.count ? entries : nil
    }
}

/// The limit on the entries that are kept: by their number, and by their age.
struct RetentionLimit {
    private let limit: Int?
    private let horizon: Date?

    init(_ retention: NotificationRetention, now: Date) {
        limit = retention.limit
        horizon = retention.horizon(at: now)
    }

    /// Returns true when any of `count` entries can be above the limit.
    ///
    /// When it returns false, the times of the entries need not be read.
    func canBeExceeded(among count: Int) -> Bool { limit.map { count > $0 } ?? false || horizon != nil }

    /// Counts the entries above the limit among the oldest ones.
    ///
    /// The newest of all entries is never above the limit.
    /// - Parameters:
    ///   - oldest: The times at which the oldest entries arrived, oldest first.
    ///   - count: The total number of entries.
    /// - Returns: The number of the entries of `oldest`, from its start, that are above the limit.
    func excess(of oldest: [Date], among count: Int) -> Int {
        var number = 0
        for time in oldest {
            guard count - number > 1, includes(time, of: count - number) else { break }
            number += 1
        }
        return number
    }

    /// Returns true when the oldest of `count` entries, which arrived at `oldest`, is above the limit.
    func includes(_ oldest: Date, of count: Int) -> Bool {
        limit.map { count > $0 } ?? false || horizon.map { oldest < $0 } ?? false
    }
}

extension JSONValue {
    fileprivate var seconds: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
