import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

@Suite("The first write of the default storage")
struct FirstUseTests {
    private static let key = RecordKey(.item, "first")

    /// A key protector that works or not, under the name of a real one.
    private struct Stand: KeyProtector {
        let name: String
        var reason: String?
        var failure: StoreError.Code?
        let passphrase = PassphraseProtector(cost: .quick) { () throws(StoreError) in Secret([1, 2, 3]) }

        func availability() -> KeyProtectorAvailability { reason.map { .unusable($0) } ?? .usable }
        func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
            if let failure { throw StoreError(failure, "seal vault", "\(name) fails") }
            return try passphrase.wrap(dataKey, context: context)
        }
        func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
            try passphrase.unwrap(wrapped, context: context)
        }
    }

    /// A store for a new directory in `temporary`, and the lines that it logs.
    private final class Machine {
        let directory: VaultDirectory
        let preferences = VaultPreferences()
        let log = LogLines()

        init(_ temporary: TemporaryDirectory) { directory = VaultDirectory(path: temporary.file("home/share/signet")) }

        func store(_ protectors: [any KeyProtector] = [], _ environment: [String: String] = [:]) throws -> FirstUseStore {
            try FirstUseStore(
                directory, preferences, environment: environment, protectors: protectors, logger: log.logger)
        }
    }

    @Test("Reading, and a write that leaves nothing, create neither a vault nor a directory")
    func readingAndEmptyWriteCreateNothing() async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            let store = try machine.store()
            #expect(try store.get(Self.key) == nil)
            try store.write { (records: any RecordWriter) throws(StoreError) in
                let absent = try records.record(Self.key)
                #expect(absent == nil)
                try records.remove(Self.key)
            }
            #expect(throws: StoreError.self) {
                try store.write { (records: any RecordWriter) throws(StoreError) in
                    try records.put([1], Self.key)
                    throw StoreError(.failed, "test", "rolled back")
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
            #expect(machine.log.lines == [])
        }
    }

    @Test(
        "The first key protector that works seals the vault",
        arguments: [
            ([], "keyfile", "warning"),
            ([("tpm", "no device"), ("secret-service", nil), ("credential", nil)], "secret-service", "notice"),
            ([("tpm", nil), ("secret-service", nil)], "tpm", "notice"),
            ([("tpm", "no device"), ("secret-service", "it is locked")], "keyfile", "warning"),
        ] as [([(String, String?)], String, String)])
    func sealsWithStrongest(stands: [(String, String?)], sealed: String, level: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            let protectors = stands.map { Stand(name: $0.0, reason: $0.1) }
            let store = try machine.store(protectors)
            try store.put([7], Self.key)
            #expect(try store.get(Self.key) == [7])
            let protection = try #require(try store.opened()?.protection)
            #expect(protection.protector == sealed && !protection.hasRecovery)
            #expect(protection.isHardware == (sealed == "tpm"))
            let line = try #require(machine.log.lines.first)
            #expect(machine.log.lines.count == 1 && line.hasPrefix(level) && line.contains("recovery key"))
            for (_, reason) in stands where level == "warning" { #expect(reason.map(line.contains) ?? true) }
            #expect(try machine.store(protectors).get(Self.key) == [7])
        }
    }

    @Test("A key protector that is there and fails is passed over, and other errors end the write")
    func passesOverFailure() async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            let canceled = Stand(name: "tpm", failure: .cancelled)
            #expect { try machine.store([canceled]).put([7], Self.key) } throws: { ($0 as? StoreError)?.code == .cancelled }
            #expect(!machine.directory.holdsVault)
            let failing = Stand(name: "tpm", failure: .denied)
            try machine.store([failing, Stand(name: "credential")]).put([7], Self.key)
            #expect(try machine.directory.header().slots.map(\.protector) == ["credential"])
        }
    }

    @Test("The passphrase of the app seals the vault when nothing stronger works, and opens it again")
    func asksApp() async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            let asked = Counter()
            machine.preferences.askForPassphrase { () throws(StoreError) in
                asked.add()
                return Secret(Array("correct horse".utf8))
            }
            try machine.store([Stand(name: "tpm", reason: "no device")]).put([7], Self.key)
            #expect(asked.count == 1)
            #expect(try machine.directory.header().slots.map(\.protector) == ["passphrase"])
            #expect(try machine.store().get(Self.key) == [7])
        }
    }

    @Test(
        "A required level that nothing here has fails with the reason of each key protector, and creates nothing",
        arguments: ProtectionLevel.allCases, [true, false])
    func requiresLevel(level: ProtectionLevel, byApp: Bool) async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            if byApp { machine.preferences.require(level) }
            let environment = byApp ? [:] : ["SIGNET_REQUIRE": level.rawValue]
            let protectors = [Stand(name: "tpm", reason: "switch it on"), Stand(name: "secret-service", reason: "unlock it")]
            let store = try machine.store(protectors, environment)
            guard level > .keyFile else { return try store.put([7], Self.key) }
            #expect {
                try store.put([7], Self.key)
            } throws: { error in
                guard let error = error as? StoreError else { return false }
                return error.code == .protectionTooWeak && error.reason.contains("tpm: switch it on")
                    && error.reason.contains("unlock it") == (level == .separateKey)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
            // A vault that is weaker is not opened, and stays as it is.
            let made = try machine.directory.createVault(.keyFile)
            #expect { try store.get(Self.key) } throws: { ($0 as? StoreError)?.code == .protectionTooWeak }
            #expect { try store.put([7], Self.key) } throws: { ($0 as? StoreError)?.code == .protectionTooWeak }
            #expect(try machine.directory.header() == made.header)
        }
    }

    @Test("An unknown level in SIGNET_REQUIRE is an error, and a requirement is never lowered")
    func refusesUnknownLevel() async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            #expect { try machine.store([], ["SIGNET_REQUIRE": "Hardware!"]) } throws: { ($0 as? StoreError)?.code == .invalid }
            machine.preferences.require(.hardware)
            machine.preferences.require(.keyFile)
            #expect(machine.preferences.level == .hardware)
        }
    }

    @Test("A requirement that is raised after a vault was opened fails each call, whichever opener the keychain has")
    func checksRaisedRequirement() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            for keychain in [VaultProvider(directory: directory), VaultProvider { () throws(StoreError) in vault }] {
                try await keychain.write { (records) throws(StoreError) in try records.put([7], Self.key) }
                #expect(try await keychain.protection()?.level == .keyFile)
                keychain.require(.separateKey)
                await #expect {
                    try await keychain.read { (records) throws(StoreError) in try records.record(Self.key) }
                } throws: {
                    ($0 as? StoreError)?.code == .protectionTooWeak
                }
                await #expect {
                    try await keychain.write { (records) throws(StoreError) in try records.remove(Self.key) }
                } throws: {
                    ($0 as? StoreError)?.code == .protectionTooWeak
                }
                await #expect { try await keychain.addRecoveryKey() } throws: {
                    ($0 as? StoreError)?.code == .protectionTooWeak
                }
            }
            #expect(try vault.get(Self.key) == [7])
        }
    }

    @Test("A locked, a damaged and a partly removed vault are errors, and are not replaced")
    func keepsFaultyVault() async throws {
        try await TemporaryDirectory.with { temporary in
            let machine = Machine(temporary)
            let store = try machine.store()
            try store.put([7], Self.key)
            let (records, key) = (machine.directory.recordsPath, machine.directory.keyPath)
            let files = FileManager.default

            try files.moveItem(atPath: key, toPath: temporary.file("key"))
            #expect { try machine.store().get(Self.key) } throws: { ($0 as? StoreError)?.code == .keyUnavailable }
            #expect { try machine.store().put([8], Self.key) } throws: { ($0 as? StoreError)?.code == .keyUnavailable }
            try files.moveItem(atPath: temporary.file("key"), toPath: key)

            try files.moveItem(atPath: records, toPath: temporary.file("records"))
            #expect { try machine.store().get(Self.key) } throws: { ($0 as? StoreError)?.code == .noVault }
            #expect { try machine.store().put([8], Self.key) } throws: { ($0 as? StoreError)?.code == .noVault }
            #expect(!files.fileExists(atPath: records))
            try files.moveItem(atPath: temporary.file("records"), toPath: records)
            #expect(try machine.store().get(Self.key) == [7])
        }
    }

    @Test("Twenty stores that write first at the same time end with one vault and all records")
    func createsOneVaultByTwentyStores() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("home/signet"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let store = try FirstUseStore(directory, environment: [:], protectors: [])
                        try await Blocking.run { () throws(StoreError) in
                            try store.put([UInt8(number)], RecordKey(.item, "\(number)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let vault = try directory.openVault()
            for number in 0..<20 { #expect(try vault.get(RecordKey(.item, "\(number)")) == [UInt8(number)]) }
        }
    }

    @Test("A recovery key opens the vault after the other key is lost")
    func addsRecoveryKey() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let keychain = VaultProvider(directory: directory)
            await #expect { try await keychain.addRecoveryKey() } throws: { ($0 as? StoreError)?.code == .noVault }
            #expect(try await keychain.protection() == nil)
            let vault = try directory.createVault(.keyFile)
            #expect(!vault.protection.hasRecovery && vault.protection.level == .keyFile)
            let key = try await keychain.addRecoveryKey()
            #expect(String(decoding: key.bytes, as: UTF8.self).wholeMatch(of: /([a-z2-7]{4}-){7}[a-z2-7]{4}/) != nil)
            #expect(try await keychain.protection()?.hasRecovery == true)
            #expect(try await keychain.addRecoveryKey() != key)
            try FileManager.default.removeItem(atPath: directory.keyPath)
            let opened = try directory.openVault(protectors: [PassphraseProtector { () throws(StoreError) in key }])
            #expect(opened.protection.protector == "passphrase" && opened.protection.hasRecovery)
        }
    }

    @Test(
        "The level of a vault is that of its weakest slot, not counting a passphrase beside another key",
        arguments: [
            (["tpm"], .hardware, false), (["tpm", "passphrase"], .hardware, true), (["tpm", "tpm"], .hardware, false),
            (["tpm", "keyfile"], .keyFile, true), (["secret-service", "tpm"], .separateKey, true),
            (["passphrase"], .separateKey, false), (["passphrase", "passphrase"], .separateKey, true),
            (["keyfile"], .keyFile, false), (["app's own"], .separateKey, false),
        ] as [([String], ProtectionLevel, Bool)])
    func ratesSlots(names: [String], level: ProtectionLevel, hasRecovery: Bool) throws {
        let slots = names.enumerated().map { VaultHeader.Slot(number: $0.offset + 1, protector: $0.element, wrapped: []) }
        let protection = VaultProtection(slots, openedBy: try #require(slots.first))
        #expect(protection.level == level && protection.hasRecovery == hasRecovery)
        #expect(protection.isHardware == (level == .hardware))
    }
}

extension ScryptCost {
    /// The lowest cost, for tests.
    fileprivate static var quick: ScryptCost { ScryptCost(logRounds: 10) ?? .default }
}
