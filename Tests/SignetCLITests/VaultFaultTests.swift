import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet with a faulty vault")
struct VaultFaultTests {
    /// The faults of a vault.
    enum Fault: CaseIterable {
        case openDirectory, linkedDirectory, foreignDirectory, fileAsDirectory, openRecords, linkedRecords, hardLinkedRecords,
            foreignRecords
        case openKey, linkedKey, missingKey, wrongKey, shortKey, longKey, missingRecords, noise, emptyRecords, damagedPage,
            newerFormat

        /// The exit code, and words of the message.
        var expected: (exit: Int32, words: [String]) {
            switch self {
            case .openDirectory: (77, ["others can reach it", "0755", "chmod 700"])
            case .openRecords, .openKey: (77, ["others can reach it", "0644", "chmod 600"])
            case .linkedDirectory, .fileAsDirectory, .linkedRecords, .linkedKey: (77, ["link"])
            case .foreignDirectory, .foreignRecords: (77, ["another user", "12345"])
            case .hardLinkedRecords: (77, ["hard link"])
            case .missingKey: (78, ["vault.key", "put it back"])
            case .wrongKey: (78, ["vault.key", "does not hold the key"])
            case .shortKey: (78, ["vault.key", "32 bytes"])
            case .longKey: (74, ["vault.key", "longer than 32"])
            case .missingRecords: (78, ["signet init --protect keyfile"])
            case .noise, .damagedPage: (74, ["damaged"])
            case .emptyRecords: (74, [])
            case .newerFormat: (78, ["newer"])
            }
        }

        var needsRoot: Bool { self == .foreignDirectory || self == .foreignRecords }

        func apply(to cli: CommandLineFixture) async throws {
            let (home, records, key) = (cli.home, cli.home + "/vault.sqlite", cli.home + "/vault.key")
            let files = FileManager.default
            func movedAway(_ path: String) throws -> String {
                try files.moveItem(atPath: path, toPath: cli.directory.file("moved"))
                return cli.directory.file("moved")
            }
            switch self {
            case .openDirectory: try #require(chmod(home, 0o755) == 0)
            case .linkedDirectory: try files.createSymbolicLink(atPath: home, withDestinationPath: movedAway(home))
            case .foreignDirectory: try #require(chown(home, 12345, 12345) == 0)
            case .fileAsDirectory:
                _ = try movedAway(home)
                _ = try cli.write([], to: "vault")
            case .openRecords: try #require(chmod(records, 0o644) == 0)
            case .linkedRecords: try files.createSymbolicLink(atPath: records, withDestinationPath: movedAway(records))
            case .hardLinkedRecords: try files.linkItem(atPath: records, toPath: cli.directory.file("second"))
            case .foreignRecords: try #require(chown(records, 12345, 12345) == 0)
            case .openKey: try #require(chmod(key, 0o644) == 0)
            case .linkedKey: try files.createSymbolicLink(atPath: key, withDestinationPath: movedAway(key))
            case .missingKey: _ = try movedAway(key)
            case .wrongKey: _ = try cli.write(Array(repeating: 7, count: 32), to: "vault/vault.key")
            case .shortKey: _ = try cli.write(Array(repeating: 7, count: 31), to: "vault/vault.key")
            case .longKey: _ = try cli.write(Array(repeating: 7, count: 33), to: "vault/vault.key")
            case .missingRecords: try files.removeItem(atPath: records)
            case .noise:
                _ = try cli.write(
                    (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 255) }, to: "vault/vault.sqlite")
            case .emptyRecords: _ = try cli.write([], to: "vault/vault.sqlite")
            case .damagedPage:
                var bytes = try Data(contentsOf: URL(filePath: records))
                bytes.replaceSubrange(100..., with: Data(repeating: 0x5A, count: bytes.count - 100))
                _ = try cli.write(bytes, to: "vault/vault.sqlite")
            case .newerFormat:
                try await SQLite.run(
                    records,
                    "UPDATE record SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"format\":2', '\"format\":3') AS BLOB) WHERE kind = 'vault'"
                )
            }
        }
    }

    @Test(
        "Every command that opens a faulty vault exits with the documented code and reason, and changes nothing",
        arguments: Fault.allCases.filter { !$0.needsRoot || geteuid() == 0 })
    func reportsVaultFaultOfEveryCommand(fault: Fault) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            try await fault.apply(to: cli)
            let before = try Self.snapshot(of: cli)
            let (exit, words) = fault.expected
            for arguments in [["accounts", "--json"], ["code", "mira"], ["enroll", OATHSample.uri(account: "noa")]] {
                let outcome = try await TaskLimiter.processes.pass { try await cli.start(arguments).end() }
                outcome.fails(exit)
                for word in words { #expect(outcome.errors.contains(word), "\(arguments): \(outcome.errors)") }
                #expect((outcome.jsonError?["code"]?.string?.hasPrefix("store.") == true) == arguments.contains("--json"))
            }
            if fault != .missingRecords {
                let again = try await cli.signet("init", "--protect", "keyfile")
                #expect(again.status == 73 || again.status == 77, "\(again.errors)")
            }
            #expect(try Self.snapshot(of: cli) == before)
        }
    }

    @Test("A vault path that is a link is refused also with a trailing slash; a directory may have one")
    func refusesLinkWithTrailingSlash() async throws {
        try await CommandLineFixture.with { cli in
            let link = cli.directory.file("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: cli.home)
            for path in [link, link + "/", link + "//"] {
                try await cli.signet("accounts", environment: ["SIGNET_HOME": path]).fails(77, "link")
            }
            try await cli.signet("accounts", environment: ["SIGNET_HOME": cli.home + "/"]).succeeds()
        }
    }

    @Test("A vault whose key file was put back opens again")
    func opensAfterKeyIsPutBack() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            let (key, away) = (cli.home + "/vault.key", cli.directory.file("away"))
            try FileManager.default.moveItem(atPath: key, toPath: away)
            try await cli.signet("code", "mira").fails(78)
            try await cli.signet("init", "--protect", "keyfile").fails(73)
            try FileManager.default.moveItem(atPath: away, toPath: key)
            #expect(try await cli.signet("code", "mira").line == HOTP.code(secret: OATHSample.secret, counter: 0))
        }
    }

    @Test(
        "While another process holds the write lock a writer exits with 75 after 5 seconds, and a reader reads",
        .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func readsLockedVaultWithoutWriting() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            let holder = try SQLite.holder(of: cli.home + "/vault.sqlite", at: cli)
            try await holder.waitForOutput { output, _ in output.contains("held") }
            let start = ContinuousClock.now
            async let enrolling = cli.start(["enroll", OATHSample.uri(account: "noa")]).end()
            async let coding = cli.start(["code", "mira"]).end()
            #expect(try await cli.accounts().count == 1)
            try await enrolling.fails(75, "another process", "try again")
            try await coding.fails(75, "another process")
            #expect(ContinuousClock.now - start >= .seconds(5))
            holder.closeInput()
            try await holder.end().succeeds()
            #expect(try await cli.signet("code", "mira").line == HOTP.code(secret: OATHSample.secret, counter: 0))
            #expect(try await cli.accounts().count == 1)
        }
    }

    @Test(
        "A write lock that is released in time only delays the command",
        .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
    func lockedForShort() async throws {
        try await CommandLineFixture.with { cli in
            let holder = try SQLite.holder(of: cli.home + "/vault.sqlite", at: cli)
            try await holder.waitForOutput { output, _ in output.contains("held") }
            let enrolling = try cli.start(["enroll", OATHSample.uri()])
            let directory = "/proc/\(enrolling.identifier)/fd"
            let hasOpened = try await eventually {
                let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
                return files.contains { file in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(file)")
                    return target?.hasSuffix("/vault.sqlite") == true
                }
            }
            #expect(hasOpened)
            holder.closeInput()
            try await enrolling.end().succeeds()
        }
    }

    @Test("A full disk exits with 74, and the stored accounts are kept", .enabled(if: SmallDisk.isPossible))
    func keepsAccountsOnFullDisk() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await SmallDisk.with(cli.home, kilobytes: 512) { disk in
                try await cli.signet("init", "--protect", "keyfile").succeeds()
                try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=7")).succeeds()
                #expect(try await cli.signet("code", "mira").line == "099169")
                try disk.fill()
                for _ in 0..<2 { try await cli.signet("enroll", OATHSample.uri(account: "noa")).fails(74, "no space is left") }
                try await cli.signet("code", "mira").fails(74, "no space is left")
                let accountNames = try await cli.accounts().compactMap { $0["account"]?.string }
                #expect(accountNames == ["mira"])
                disk.empty()
                #expect(try await cli.signet("code", "mira").line == "802135")
                try await cli.signet("enroll", OATHSample.uri(account: "noa")).succeeds()
            }
        }
    }

    @Test("signet init on a full disk leaves nothing behind that blocks the next attempt", .enabled(if: SmallDisk.isPossible))
    func retriesInitAfterFullDisk() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await SmallDisk.with(cli.home, kilobytes: 512) { disk in
                try disk.fill()
                try await cli.signet("init", "--protect", "keyfile").fails(74, "no space is left")
                disk.empty()
                #expect(try cli.vaultFiles().isEmpty)
                try await cli.signet("init", "--protect", "keyfile").succeeds()
            }
        }
    }

    /// Everything under the test's folder: names, modes and bytes.
    private static func snapshot(of cli: CommandLineFixture) throws -> [String: String] {
        let files = FileManager.default
        let names = try files.subpathsOfDirectory(atPath: cli.directory.path).filter {
            !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal")
        }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let attributes = try files.attributesOfItem(atPath: cli.directory.file(name))
                let bytes = files.contents(atPath: cli.directory.file(name))?.base64EncodedString() ?? "-"
                return (name, "\(attributes[.posixPermissions] ?? "") \(attributes[.type] ?? "") \(bytes)")
            })
    }
}
