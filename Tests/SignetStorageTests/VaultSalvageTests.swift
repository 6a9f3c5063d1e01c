import Foundation
import SignetTesting
import Testing

@testable import SignetStorage

@Suite("What can be read of a vault whose file is damaged")
struct VaultSalvageTests {
    private static let count = 90

    private static func key(_ number: Int) -> RecordKey { RecordKey(.account, "Harbor Bank", "user\(number)") }
    private static func content(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 200) }

    /// A vault of several pages, and the bytes of its file.
    private struct Sample {
        let directory: VaultDirectory
        let id: String
        let bytes: [UInt8]
        var pages: Int { bytes.count / 4_096 }

        init(_ temporary: TemporaryDirectory) throws {
            directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            for number in 0..<count { try vault.put(content(number), key(number)) }
            try (vault.store as? SQLiteStore)?.close()
            id = vault.header.id
            bytes = Array(try Data(contentsOf: URL(filePath: directory.recordsPath)))
        }

        /// Writes the file with zeros in place of a page.
        func damage(page: Int) throws {
            var changed = bytes
            changed.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: [UInt8](repeating: 0, count: 4_096))
            PrivateFile.removeDatabase(directory.recordsPath)
            try PrivateFile.create(directory.recordsPath, containing: changed)
        }

        /// The pages whose records the others do not need: leaves without the header.
        var leaves: [Int] {
            (1..<pages).filter { page in
                let content = bytes[page * 4_096..<(page + 1) * 4_096]
                return content.first == 0x0A && Data(content).range(of: Data("\"check\"".utf8)) == nil
            }
        }
    }

    private func code(_ error: any Error) -> StoreError.Code? { (error as? StoreError)?.code }

    @Test("Without any one page the vault is refused, and all records of the other pages are read when that is asked for")
    func salvagesOtherPages() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let sample = try Sample(temporary)
            #expect(sample.leaves.count > 3)
            var withoutHeader = 0
            for page in 0..<sample.pages {
                try sample.damage(page: page)
                let before = try Data(contentsOf: URL(filePath: sample.directory.recordsPath))
                #expect(throws: StoreError.self) { try sample.directory.openVault() }
                guard let salvaged = try? sample.directory.salvageVault() else {
                    withoutHeader += 1
                    continue
                }
                #expect(salvaged.damage?.code == .corrupt)
                let read = try (0..<Self.count).filter { number in
                    let content = try salvaged.vault.get(Self.key(number))
                    #expect(content == nil || content == Self.content(number))
                    return content != nil
                }
                #expect(salvaged.lostCount == Self.count - read.count, "page \(page)")
                #expect(read.count >= Self.count / 2, "page \(page)")
                #expect { try salvaged.vault.put([1], Self.key(0)) } throws: { code($0) == .denied }
                #expect(try Data(contentsOf: URL(filePath: sample.directory.recordsPath)) == before)
            }
            // The header is in one page.
            #expect(withoutHeader <= 1)
        }
    }

    @Test("A whole vault is opened, verified and can be written to; records that were put back are not salvaged")
    func opensWholeVault() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let sample = try Sample(temporary)
            let salvaged = try sample.directory.salvageVault()
            #expect(salvaged.damage == nil && salvaged.lostCount == 0)
            let accounts = try salvaged.vault.store.read { (records: any RecordReader) throws(StoreError) in
                try records.records(.account, after: nil, limit: 1)
            }
            let old = try #require(accounts.first)
            for number in 0..<Self.count { try salvaged.vault.put([2], Self.key(number)) }
            try salvaged.vault.store.put(old.content.get(), RecordKey(.account, name: old.name))
            #expect { try sample.directory.salvageVault() } throws: { code($0) == .rolledBack }
        }
    }

    @Test("A damaged file is replaced by one with the records that can be read, and kept")
    func replacesDamagedFile() async throws {
        try await TemporaryDirectory.with { temporary in
            let sample = try Sample(temporary)
            #expect { try sample.directory.replaceDamagedRecords() } throws: { code($0) == .invalid }
            try sample.damage(page: try #require(sample.leaves.last))
            let before = try Data(contentsOf: URL(filePath: sample.directory.recordsPath))
            let replaced = try sample.directory.replaceDamagedRecords()
            #expect(replaced.damage != nil && replaced.lostCount > 0)
            #expect(try Data(contentsOf: URL(filePath: sample.directory.damagedPath)) == before)
            try replaced.vault.put([1], RecordKey(.item, "new"))
            let opened = try sample.directory.openVault()
            #expect(opened.header.id == sample.id)
            #expect(try opened.get(RecordKey(.item, "new")) == [1])
            #expect(try opened.all(.account).count == Self.count - replaced.lostCount)
            try opened.verifyRecords()
            #expect { try sample.directory.replaceDamagedRecords() } throws: { code($0) == .invalid }
        }
    }

    @Test("A damaged vault is removed by a call with its ID, or without one when its header cannot be read")
    func resetsDamagedVault() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let sample = try Sample(temporary)
            for page in 0..<sample.pages {
                try sample.damage(page: page)
                let id = try? sample.directory.header().id
                #expect(id == nil || id == sample.id)
                #expect(throws: StoreError.self) { try sample.directory.reset(confirming: "another") }
                #expect(sample.directory.holdsVault)
                try sample.directory.reset(confirming: id)
                #expect(!sample.directory.holdsVault, "page \(page)")
            }
        }
    }
}
