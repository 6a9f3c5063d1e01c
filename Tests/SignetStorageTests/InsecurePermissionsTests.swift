import Foundation
import GRDB
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("The directory of a vault")
struct InsecurePermissionsTests {
    /// A fault of the directory, and the expected error.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case directoryOpenToOthers, directoryIsLink, directoryIsFile, keyOpenToOthers, keyIsLink, keyHasSecondName,
            recordsOpenToOthers,
            recordsAreLink, recordsAreDirectory
        var testDescription: String { rawValue }

        func commit(on vault: VaultDirectory, in temporary: TemporaryDirectory) throws {
            let files = FileManager.default
            func allow(_ path: String, _ mode: Int) throws {
                try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            func replaceByLink(_ path: String) throws {
                try files.moveItem(atPath: path, toPath: temporary.file("moved"))
                try files.createSymbolicLink(atPath: path, withDestinationPath: temporary.file("moved"))
            }
            switch self {
            case .directoryOpenToOthers: try allow(vault.path, 0o755)
            case .directoryIsLink: try replaceByLink(vault.path)
            case .directoryIsFile:
                try files.moveItem(atPath: vault.path, toPath: temporary.file("moved"))
                try Data().write(to: URL(filePath: vault.path))
            case .keyOpenToOthers: try allow(vault.keyPath, 0o644)
            case .keyIsLink: try replaceByLink(vault.keyPath)
            case .keyHasSecondName: try files.linkItem(atPath: vault.keyPath, toPath: temporary.file("second"))
            case .recordsOpenToOthers: try allow(vault.recordsPath, 0o640)
            case .recordsAreLink: try replaceByLink(vault.recordsPath)
            case .recordsAreDirectory:
                try files.removeItem(atPath: vault.recordsPath)
                try files.createDirectory(
                    atPath: vault.recordsPath, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            }
        }
    }

    @Test(
        "A vault directory that other users can access or of the wrong type is refused, not repaired", arguments: Fault.allCases)
    func refusesExposedDirectory(fault: Fault) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            try fault.commit(on: directory, in: temporary)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .insecurePermissions }
            #expect { try directory.createVault(.keyFile) } throws: {
                [.insecurePermissions, .exists].contains(($0 as? StoreError)?.code)
            }
        }
    }

    @Test("A vault directory owned by another user is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
    func refusesVaultOfForeignOwner() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            try #require(chown(directory.path, 65534, 65534) == 0)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .insecurePermissions }
        }
    }

    @Test("A vault directory has mode 0700 and its files 0600 whatever the umask")
    func setsPrivateModes() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("deep/down/vault"))
            let old = umask(0)
            defer { umask(old) }
            try directory.createVault(.keyFile).put([1], RecordKey(.account, "x"))
            let modes = try FileManager.default.subpathsOfDirectory(atPath: temporary.path).map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: temporary.file(name))
                return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
            }
            let octalModes = modes.map { String($0, radix: 8) }
            #expect(Set(modes).isSubset(of: [0o700, 0o600]), "\(octalModes)")
        }
    }

    @Test(
        "The vault's location is SIGNET_HOME, else the service's directory, else XDG_DATA_HOME, else the home",
        arguments: [
            (["SIGNET_HOME": "/a", "XDG_DATA_HOME": "/b", "HOME": "/c"], "/a"),
            (["SIGNET_HOME": "/a", "STATE_DIRECTORY": "/s", "HOME": "/c"], "/a"),
            (["STATE_DIRECTORY": "/s", "XDG_DATA_HOME": "/b", "HOME": "/c"], "/s/signet"),
            (["STATE_DIRECTORY": "/s:/t", "HOME": "/c"], "/s/signet"),
            (["STATE_DIRECTORY": "relative", "HOME": "/c"], "/c/.local/share/signet"),
            (["STATE_DIRECTORY": ":", "HOME": "/c"], "/c/.local/share/signet"),
            (["SIGNET_HOME": "", "XDG_DATA_HOME": "/b", "HOME": "/c"], "/b/signet"),
            (["XDG_DATA_HOME": "relative", "HOME": "/c"], "/c/.local/share/signet"),
            (["HOME": "/c"], "/c/.local/share/signet"),
            ([:], nil),
        ] as [([String: String], String?)])
    func choosesDirectory(environment: [String: String], path: String?) {
        #expect(VaultDirectory(environment: environment)?.path == path)
    }

    @Test("A vault held by another process is busy until that process releases it")
    func reportsBusyVault() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile, timeout: 0.1)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: directory.recordsPath, configuration: configuration)
            try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            #expect { try vault.put([1], RecordKey(.account, "x")) } throws: { ($0 as? StoreError)?.code == .busy }
            #expect(try vault.get(RecordKey(.account, "x")) == nil)
            try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try vault.put([1], RecordKey(.account, "x"))
            #expect(try vault.get(RecordKey(.account, "x")) == [1])
        }
    }

    @Test(
        "A write to a vault on a full disk fails with that reason and keeps the stored records",
        .enabled(if: SmallDisk.isPossible, "a small tmpfs cannot be mounted here"))
    func keepsRecordsOnFullDisk() async throws {
        try await TemporaryDirectory.with { temporary in
            try await SmallDisk.with(temporary.file("disk"), kilobytes: 256) { _ in
                let directory = VaultDirectory(path: temporary.file("disk/vault"))
                let vault = try directory.createVault(.keyFile)
                try vault.put([7], RecordKey(.account, "kept"))
                var failure: StoreError?
                for number in 0..<100 where failure == nil {
                    do {
                        try vault.put([UInt8](repeating: 1, count: 16_384), RecordKey(.notification, "\(number)"))
                    } catch {
                        failure = error as? StoreError
                    }
                }
                #expect(failure?.code == .full)
                #expect(try vault.get(RecordKey(.account, "kept")) == [7])
                #expect(try directory.openVault().get(RecordKey(.account, "kept")) == [7])
                let second = VaultDirectory(path: temporary.file("disk/second"))
                #expect { try second.createVault(.keyFile) } throws: { ($0 as? StoreError)?.code == .full }
                #expect(!second.holdsVault)
            }
        }
    }

    @Test(
        "A vault on a nearly full disk of any size is made whole or not at all",
        .enabled(if: SmallDisk.isPossible, "a small tmpfs cannot be mounted here"),
        arguments: (2...12).map { $0 * 8 })
    func nearlyFull(kilobytes: Int) async throws {
        try await TemporaryDirectory.with { temporary in
            try await SmallDisk.with(temporary.file("disk"), kilobytes: kilobytes) { _ in
                let directory = VaultDirectory(path: temporary.file("disk/vault"))
                do {
                    _ = try directory.createVault(.keyFile)
                    #expect(try directory.openVault().get(RecordKey(.account, "x")) == nil)
                } catch let error as StoreError {
                    #expect(error.code == .full, "\(error)")
                    let isThere = FileManager.default.fileExists(atPath: directory.path)
                    let left = isThere ? try FileManager.default.contentsOfDirectory(atPath: directory.path) : []
                    #expect(directory.holdsVault || left.isEmpty, "\(left)")
                }
            }
        }
    }

    @Test(
        "A process that opens a vault twice keeps its locks when another process opens and closes it",
        .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func openedTwice() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let first = try directory.createVault(.keyFile)
            _ = try directory.openVault()
            // Another process opens and closes it. Without this process's locks it would remove the log of the first connection.
            try await Python.run(
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('select count(*) from record').fetchall(); c.close()",
                directory.recordsPath)
            try first.put([1], RecordKey(.account, "x"))
            #expect(try directory.openVault().get(RecordKey(.account, "x")) == [1])
            try await Python.run(
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); assert c.execute(\"select count(*) from record where kind='account'\").fetchall() == [(1,)]",
                directory.recordsPath)
        }
    }

    @Test("A vault file that is not a database is reported as damaged, and left unchanged")
    func reportsDamagedDatabase() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            let noise = Data(repeating: 0x5A, count: 8192)
            try noise.write(to: URL(filePath: directory.recordsPath))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.recordsPath)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .corrupt }
            #expect(try Data(contentsOf: URL(filePath: directory.recordsPath)) == noise)
        }
    }
}
