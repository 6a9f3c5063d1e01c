import Foundation
import GRDB
import SignetStorage

/// A vault in an SQLite file: how it grows, and what sealing adds to the same work of GRDB without it.
enum StoreRows {
    static func measure() async throws -> [Row] {
        let directory = try StoreDirectory()
        defer { directory.remove() }
        return try await growth(directory) + [besideBareRead(directory), besideBareWrite(directory)]
    }

    // MARK: Growth

    private static func growth(_ directory: StoreDirectory) async throws -> [Row] {
        let vaults = try (
            small: directory.vault("small", holding: 1_000), middle: directory.vault("middle", holding: 10_000),
            large: directory.vault("large", holding: 100_000)
        )
        let get = try await Race(
            ours: .calls("of 100,000") { try vaults.large.record($0 * 7_919 % 100_000) },
            reference: .calls("of 1,000") { try vaults.small.record($0 * 7_919 % 1_000) }
        ).run()
        let list = try await Race(
            ours: .calls("100,000 records") { _ in try vaults.large.list(expecting: 100_000) },
            reference: .calls("10,000 records") { _ in try vaults.middle.list(expecting: 10_000) }, rounds: 15
        ).run()
        return [
            Row("vault: one record by its name", get, .atMost(2)), Row("vault: list all", list, .atMost(12)),
            try memory(directory.path("large")),
        ]
    }

    private static let memoryLimit = 32.0

    /// Compares the memory of a listing with that of the open vault, in a process of its own.
    private static func memory(_ path: String) throws -> Row {
        let name = "vault: list 100,000, memory above idle"
        guard let program = Bundle.main.executablePath else { return .skipped(name, because: "this program has no path") }
        let added = try (0..<3).map { _ in
            let child = try ChildProcess(
                [program, listingOption, path], environment: ChildProcess.environment(), input: .nowhere, output: .pipe)
            guard let line = child.readLine(), let kibibytes = Double(line) else {
                throw BenchError("the listing did not say how much memory it took")
            }
            try child.wait()
            return kibibytes / 1_024
        }
        return Row(
            name: name, ratio: added.median / memoryLimit, limit: .atMost(1),
            ours: Row.Figure(name: "peak above idle", value: added.median, unit: "MiB"),
            reference: Row.Figure(name: "the limit", value: memoryLimit, unit: "MiB"))
    }

    /// The option that makes this program the process that lists.
    static let listingOption = "--list-records"

    /// The whole of that process: opens the vault, lists it, and says by how many KiB its peak of memory rose.
    static func list(_ path: String) throws {
        let vault = try BenchVault(path)
        _ = try vault.record(0)
        let idle = try peak()
        _ = try vault.list(expecting: 100_000)
        Terminal.out(String(try peak() - idle))
    }

    private static func peak() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("VmHWM:") }), let kibibytes = Int(line.filter(\.isNumber)) else {
            throw BenchError("this system does not say how much memory a process takes")
        }
        return kibibytes
    }

    // MARK: Beside GRDB

    private static func besideBareRead(_ directory: StoreDirectory) async throws -> Row {
        let vault = try directory.vault("read", holding: 1_000)
        let bare = try BareTable(directory.path("bare read"), holding: 1_000)
        let outcome = try await Race(
            ours: .calls("get and open") { try vault.record($0 % 1_000) },
            reference: .calls("GRDB read") { try bare.record($0 % 1_000) }
        ).run()
        return Row("vault: get and open, beside GRDB", outcome, .atMost(1.25))
    }

    /// A durable write beside the same write of GRDB.
    ///
    /// A write to a vault changes two rows: the record, and the header with the digest of all records. On a disk that
    /// confirms in a sixth of a millisecond this costs a quarter more than one row (a bare second row costs 1.08), on one that takes
    /// milliseconds nothing.
    private static func besideBareWrite(_ directory: StoreDirectory) async throws -> Row {
        let vault = try directory.vault("write", holding: 1_000)
        let bare = try BareTable(directory.path("bare write"), holding: 1_000)
        let numbers = Numbers()
        // Until both logs have their full length: a disk confirms sooner what makes no file longer.
        for _ in 0..<1_500 {
            _ = try vault.save(numbers.next())
            _ = try bare.save(numbers.next())
        }
        let outcome = try await Race(
            ours: .calls("seal and save") { _ in try vault.save(numbers.next()) },
            reference: .calls("GRDB write") { _ in try bare.save(numbers.next()) },
            rounds: 61
        ).run()
        return Row("vault: seal and save durably, beside GRDB", outcome, .atMost(1.3))
    }
}

/// A directory that goes when the measurement is over.
private struct StoreDirectory {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/signet-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func vault(_ name: String, holding count: Int) throws -> BenchVault { try BenchVault(path(name), holding: count) }

    func remove() {
        // What is left lies where the system clears up.
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// Numbers that do not come again: SQLite does not write, nor wait for the disk, where the same bytes are already.
private final class Numbers {
    private var last = 1_000_000

    func next() -> Int {
        last += 1
        return last
    }
}

/// A record's content: 512 bytes, others for each number.
private func content(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 0x5A, count: 504)
}

/// A vault with records `0`, `1`, ...
private struct BenchVault {
    private let vault: Vault

    /// The vault at `path`.
    init(_ path: String) throws {
        vault = try VaultDirectory(path: path).openVault()
    }

    /// A new vault with so many records.
    init(_ path: String, holding count: Int) throws {
        vault = try VaultDirectory(path: path).createVault(.keyFile)
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            for number in 0..<count { try records.put(content(number), Self.key(number)) }
        }
    }

    func record(_ number: Int) throws -> Int {
        let found = try vault.read { (records: any RecordReader) throws(StoreError) in try records.record(Self.key(number)) }
        guard let found, found.count == 512 else { throw BenchError("record \(number) is not there") }
        return Int(found[0])
    }

    func save(_ number: Int) throws -> Int {
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            try records.put(content(number), Self.key(number % 1_000))
        }
        return number
    }

    func list(expecting count: Int) throws -> Int {
        let (seen, sum) = try vault.read { (records: any RecordReader) throws(StoreError) in
            var (seen, sum) = (0, 0)
            try records.forEachRecord(of: .item) { (record) throws(StoreError) in
                seen += 1
                sum += Int(try record.content.get()[0])
            }
            return (seen, sum)
        }
        guard seen == count else { throw BenchError("\(seen) of \(count) records were listed") }
        return sum
    }

    private static func key(_ number: Int) -> RecordKey { RecordKey(.item, "\(number)") }
}

/// The same table without a vault: GRDB, with the settings that make ours durable.
private struct BareTable {
    private let database: DatabaseQueue

    init(_ path: String, holding count: Int) throws {
        database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON")
            try database.execute(
                sql:
                    "CREATE TABLE record (kind TEXT NOT NULL, name BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
            )
        }
        try database.write { database in for number in 0..<count { try Self.put(number, Self.name(number), database) } }
    }

    func record(_ number: Int) throws -> Int {
        let found = try database.read { database in
            try GRDB.Row.fetchOne(
                database.cachedStatement(sql: "SELECT bytes FROM record WHERE kind = ? AND name = ?"),
                arguments: ["item", Self.name(number)]
            ).map { try $0.withUnsafeData(atIndex: 0) { Array($0 ?? Data()) } }
        }
        guard let found, found.count == 512 else { throw BenchError("record \(number) is not there") }
        return Int(found[0])
    }

    func save(_ number: Int) throws -> Int {
        try database.write { try Self.put(number, Self.name(number % 1_000), $0) }
        return number
    }

    private static func put(_ number: Int, _ name: Data, _ database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT INTO record (kind, name, bytes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes"
        ).execute(arguments: ["item", name, Data(content(number))])
    }

    /// As long as the names in a vault.
    private static func name(_ number: Int) -> Data {
        withUnsafeBytes(of: number) { Data($0) } + Data(repeating: 0x5A, count: 8)
    }
}
