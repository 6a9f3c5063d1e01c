import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetAuthenticator

/// Accounts of a vault whose records are not all verified: only those that the index of names proves are read.
@Suite("Accounts that are found without verifying the vault")
struct NameLookupTests {
    /// Runs `body` with the directory of a vault that has so many records that their verification is postponed.
    private func withVault(_ body: (VaultDirectory, Crowd) async throws -> Void) async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            let inner = try SQLiteStore(path: directory.recordsPath)
            try await body(directory, try Crowd(inner, vault, KeyFile(path: directory.keyPath), count: 400))
        }
    }

    @Test("A time-based code needs no verification, and a counter-based code verifies the vault")
    func verifiesForCounter() async throws {
        try await withVault { directory, crowd in
            let counter = try await crowd.authenticator.enroll(uri: Sample.hotp)
            let vault = try directory.openVaultForLookup()
            let authenticator = AuthenticatorFixture(store: AccountRecords(vault)).authenticator
            let uid = Crowd.uid(Crowd.id(7))
            let found = try await authenticator.accounts(called: "USER7@example.test")
            #expect(found?.map(\.account.id) == [Crowd.id(7)])
            #expect(found?.first?.mechanisms.map(\.uid) == [uid])
            let code = try await authenticator.code(for: uid)
            #expect(try await crowd.authenticator.code(for: uid) == code)
            #expect(vault.isVerificationDue)
            #expect(try await authenticator.accounts(called: "mira")?.first?.mechanisms == counter.mechanisms)
            #expect(!vault.isVerificationDue)
            _ = try await authenticator.code(for: counter.mechanisms[0].uid)
            #expect(try await authenticator.accounts().count == 401)
        }
    }

    /// A change without the key, after which the account must not be read.
    enum Attack: CaseIterable {
        case accountPutBack, mechanismPutBack, accountRemoved, mechanismRemoved, indexPutBack, indexRemoved

        /// True when the account is not found, and only the list of all accounts tells.
        var isLeftToList: Bool { self == .indexPutBack || self == .indexRemoved }

        func apply(to crowd: Crowd, _ id: AccountID) async throws {
            let index = try crowd.storedIndex()
            let kind: RecordKind = self == .mechanismPutBack || self == .mechanismRemoved ? .mechanism : .account
            let before = try crowd.stored(kind)
            if kind == .mechanism {
                try crowd.save(Crowd.mechanism(id, uid: Crowd.uid(id), secret: 9))
            } else {
                try await crowd.rename(id, issuer: "Quay")
            }
            let changes = try crowd.stored(kind).filter { before[$0.key] != $0.value }
            let changed = try #require(changes.first?.key)
            switch self {
            case .accountPutBack, .mechanismPutBack: try crowd.put(before[changed], changed)
            case .accountRemoved, .mechanismRemoved: try crowd.put(nil, changed)
            case .indexPutBack: try crowd.put(index.bytes, index.name)
            case .indexRemoved: try crowd.put(nil, index.name)
            }
        }
    }

    @Test("A record of the account or an index that was put back or removed is noticed", arguments: Attack.allCases)
    func noticesAttack(attack: Attack) async throws {
        try await withVault { directory, crowd in
            let id = Crowd.id(7)
            try await attack.apply(to: crowd, id)
            let vault = try directory.openVaultForLookup()
            let authenticator = AuthenticatorFixture(store: AccountRecords(vault)).authenticator
            let isRolledBack: (any Error) -> Bool = { ($0 as? StoreError)?.code == .rolledBack }
            if attack.isLeftToList {
                #expect(try await authenticator.accounts(called: id.accountName) == nil)
            } else {
                #expect(try await authenticator.accounts(called: "user8@example.test")?.count == 1)
                await #expect { try await authenticator.accounts(called: id.accountName) } throws: { isRolledBack($0) }
            }
            #expect(vault.isVerificationDue)
            await #expect { try await authenticator.accounts() } throws: { isRolledBack($0) }
            await #expect { try await authenticator.code(for: Crowd.uid(id)) } throws: { isRolledBack($0) }
            await #expect { try await authenticator.lock(Crowd.id(8), policy: "x") } throws: { isRolledBack($0) }
        }
    }

    @Test("A record of another account that was put back does not delay the code, and is noticed by the list")
    func readsBesideOtherDamage() async throws {
        try await withVault { directory, crowd in
            try await Attack.accountPutBack.apply(to: crowd, Crowd.id(7))
            let authenticator = AuthenticatorFixture(store: AccountRecords(try directory.openVaultForLookup())).authenticator
            #expect(try await authenticator.accounts(called: "user8@example.test")?.count == 1)
            _ = try await authenticator.code(for: Crowd.uid(Crowd.id(8)))
            await #expect { try await authenticator.accounts() } throws: { ($0 as? StoreError)?.code == .rolledBack }
        }
    }
}
