import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetTransfer

/// Values of the tests of synchronization.
enum SyncSample {
    static let laptop = "aaaaaaaaaaaaaaaa"
    static let desktop = "bbbbbbbbbbbbbbbb"
    static let server = "cccccccccccccccc"
    static let machines = [laptop, desktop, server]

    static func version(_ counter: Int, _ machine: String = laptop) -> SyncVersion {
        SyncVersion(counter: counter, machine: machine)
    }

    static func register(_ value: String, _ version: SyncVersion, base: SyncVersion? = nil) -> SyncRegister {
        SyncRegister(version: version, base: base, value: SyncValue(.string(value)))
    }

    static func id(_ name: String) -> AccountID { AccountID(issuer: "Harbor", accountName: name) }

    /// Returns the fields of an account with time-based codes.
    static func fields(
        _ name: String, shownAs shown: String? = nil, note: String? = nil, secret: String = TransferFixture.secret,
        added: Date = Sample.start
    ) throws -> SyncFields {
        var account = Account(id: id(name), displayAccountName: shown, timeAdded: added)
        account.note = note.map { Secret(text: $0) }
        let mechanism = Mechanism(
            uid: "uid", account: account.id, kind: try TransferFixture.totp(secret), timeAdded: added)
        return SyncFields(account, [mechanism])
    }

    /// Returns the fields of an account with counter-based codes.
    static func counterFields(_ name: String, next: UInt64, owner: String? = nil) throws -> SyncFields {
        let account = Account(id: id(name), timeAdded: Sample.start)
        var mechanism = Mechanism(
            uid: "uid", account: account.id, kind: try TransferFixture.hotp(counter: next), timeAdded: Sample.start)
        mechanism.counterOwner = owner
        return SyncFields(account, [mechanism])
    }
}

/// One of several machines with a store in memory and a folder that all of them see.
struct SyncedMachine {
    let name: String
    let store = MemoryStore()
    let folder: SyncFolder
    let clock = ManualClock(Sample.start)

    static let cost = ScryptCost(logRounds: 10)
    static let passphrase = Secret("correct horse battery staple".utf8)

    var sync: VaultSync { VaultSync(store) }
    var authenticator: Authenticator { AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator }

    /// The key of the tests, which has the cheapest cost.
    static func key(salt: UInt8 = 1) throws -> SyncKey {
        try SyncKey(passphrase, salt: [UInt8](repeating: salt, count: 16), cost: #require(cost))
    }

    /// Creates a machine that takes part in the synchronization, or that does not yet.
    init(_ name: String, _ directory: TemporaryDirectory, joins: Bool = true) throws {
        self.name = name
        folder = SyncFolder(path: directory.path)
        if joins { try join() }
    }

    func join() throws { try sync.begin(folder, keys: [Self.key()], name: name) }

    @discardableResult
    func run(taking: VaultSync.Taking? = nil) throws -> SyncReport { try sync.run(now: clock.now, taking: taking) }

    func state() throws -> SyncState {
        let settings = try sync.settings()
        return try #require(settings).state
    }

    /// The path of the machine's file.
    func file() throws -> String { folder.location(of: SyncFolder.fileName(of: try state().machine)) }

    func add(_ uri: String) async throws { _ = try await authenticator.enroll(uri: uri) }

    /// The fields of all accounts.
    func accounts() async throws -> [AccountID: SyncFields] {
        var accounts: [AccountID: SyncFields] = [:]
        for enrolled in try await authenticator.accounts() {
            accounts[enrolled.account.id] = SyncFields(enrolled.account, enrolled.mechanisms)
        }
        return accounts
    }

    func mechanism(_ id: AccountID, _ kind: Mechanism.KindName) async throws -> Mechanism {
        let account = try await authenticator.account(id)
        let found = account?.mechanisms.first { $0.kindName == kind }
        return try #require(found)
    }
}
