import Foundation
import GRDB
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

/// Damage below the records: in SQLite's own pages.
///
/// By default the beginning of each page; with `SIGNET_KILLS=all` (`make kills`) every bit of the file.
@Suite("A vault whose file is damaged below its records")
struct SQLiteDamageTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["SIGNET_KILLS"] == "all"
    private static let accounts = 12

    private static func key(_ number: Int) -> RecordKey { RecordKey(.account, "Harbor Bank", "user\(number)") }
    private static func content(_ number: Int) -> [UInt8] { Array("content of account \(number)".utf8) }

    /// Makes a vault with some accounts, closes it, and returns the bytes of its file.
    private func makeVault(_ directory: VaultDirectory) throws -> [UInt8] {
        let vault = try directory.createVault(.keyFile)
        for number in 0..<Self.accounts { try vault.put(Self.content(number), Self.key(number)) }
        try (vault.store as? SQLiteStore)?.close()
        try #require(!PrivateFile.exists(directory.recordsPath + "-wal"))
        return Array(try Data(contentsOf: URL(filePath: directory.recordsPath)))
    }

    /// The effect of a change of the file.
    private enum Effect { case reported, harmless, silent }

    /// Writes the file and reads the vault as every program does: all accounts at once, and each by its name.
    private func effect(of bytes: [UInt8], _ directory: VaultDirectory) throws -> Effect {
        PrivateFile.removeDatabase(directory.recordsPath)
        try PrivateFile.create(directory.recordsPath, containing: bytes)
        do {
            let vault = try directory.openVault()
            let all = try Set(vault.all(.account))
            for number in 0..<Self.accounts where try vault.get(Self.key(number)) != Self.content(number) { return .silent }
            return all.count == Self.accounts ? .harmless : .silent
        } catch {
            return .reported
        }
    }

    @Test("A bit that is flipped in any page is reported or does no harm")
    func reportsFlippedBits() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let bytes = try makeVault(directory)
            let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
            // The first page begins with the header of the file; the others with their own.
            let first = Self.isExhaustive ? pageSize : 112
            let rest = Self.isExhaustive ? pageSize : 40
            var (reported, silent) = (0, [String]())
            for page in 0..<bytes.count / pageSize {
                for offset in 0..<(page == 0 ? first : rest) {
                    for bit in 0..<8 where Self.isExhaustive || (offset + bit) % 2 == 0 {
                        var changed = bytes
                        changed[page * pageSize + offset] ^= 1 << UInt8(bit)
                        switch try effect(of: changed, directory) {
                        case .reported: reported += 1
                        case .harmless: break
                        case .silent: silent.append("page \(page), byte \(offset), bit \(bit)")
                        }
                    }
                }
            }
            #expect(silent.isEmpty, "\(silent)")
            #expect(reported > 100)
        }
    }

    @Test("A row whose kind is changed to a smaller one, which SQLite lists and does not find, is reported")
    func reportsSmallerKind() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let bytes = try makeVault(directory)
            let kind = Array("account".utf8)
            let rows = bytes.indices.dropLast(kind.count).filter { bytes[$0..<($0 + kind.count)].elementsEqual(kind) }
            #expect(rows.count >= Self.accounts)
            for row in rows {
                var changed = bytes
                changed[row] ^= 0x20
                #expect(try effect(of: changed, directory) == .reported)
            }
        }
    }

    @Test("A file that is cut at any length, or made longer, is reported or does no harm")
    func reportsCutFiles() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let bytes = try makeVault(directory)
            var silent: [Int] = []
            for length in stride(from: 0, to: bytes.count, by: Self.isExhaustive ? 1 : 64)
            where try effect(of: Array(bytes[..<length]), directory) != .reported { silent.append(length) }
            #expect(silent.isEmpty, "\(silent)")
            for extra in [1, 64, 4_095] {
                let longer = bytes + [UInt8](repeating: 0, count: extra)
                #expect(try effect(of: longer, directory) == .reported)
            }
            #expect(try effect(of: bytes, directory) == .harmless)
        }
    }

    @Test("A page in which SQLite lists fewer rows is reported as damage, and the file stays as it is")
    func reportsShorterPage() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            var bytes = try makeVault(directory)
            let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
            // The number of cells in the head of a page that holds rows.
            let leaves = (1..<bytes.count / pageSize).filter { bytes[$0 * pageSize] == 0x0A }
            let leaf = try #require(leaves.first)
            bytes[leaf * pageSize + 4] -= 1
            try Data(bytes).write(to: URL(filePath: directory.recordsPath))
            try #require(chmod(directory.recordsPath, 0o600) == 0)
            #expect { try directory.openVault() } throws: {
                ($0 as? StoreError)?.code == .corrupt && "\($0)".contains("damaged")
            }
            #expect(try Array(Data(contentsOf: URL(filePath: directory.recordsPath))) == bytes)
        }
    }

    @Test("A file of more pages than are checked at open is read, and reported at the first write and by a check")
    func checksLargeFileAtFirstWrite() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let path = temporary.file("store")
            let store = try SQLiteStore(path: path, creating: true)
            let content = [UInt8](repeating: 7, count: 40_000)
            try store.write { (records: any RecordWriter) throws(StoreError) in
                for number in 0..<500 { try records.put(content, RecordKey(.item, String(number))) }
            }
            try store.checkpoint()
            try store.close()
            try await DatabaseQueue(path: path).write { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                #expect(pages > SQLiteIntegrity.pagesCheckedAtOpen)
            }
            // The pages of an overflow chain, which now ends too early.
            let file = try FileHandle(forUpdating: URL(filePath: path))
            for page: UInt64 in [3_000, 3_001] {
                try file.seek(toOffset: 4_096 * page)
                try file.write(contentsOf: [UInt8](repeating: 0, count: 4))
            }
            try file.close()
            let damaged = try SQLiteStore(path: path)
            _ = try damaged.get(RecordKey(.item, "0"))
            #expect { try damaged.put([1], RecordKey(.item, "new")) } throws: { ($0 as? StoreError)?.code == .corrupt }
            #expect { try damaged.checkIntegrity() } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
    }

    @Test("A record whose name has another type in the file is refused, because no program finds it by its name")
    func refusesNameOfOtherType() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try makeVault(directory)
            let queue = try DatabaseQueue(path: directory.recordsPath)
            try await queue.write { database in
                try database.execute(
                    sql:
                        "UPDATE record SET name = CAST(name AS TEXT) WHERE name = (SELECT min(name) FROM record WHERE kind = 'account')"
                )
            }
            try queue.close()
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
    }
}
