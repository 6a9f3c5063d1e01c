import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import Synchronization

@testable import FRAuthenticator

/// Where accounts are kept in a case. What was opened twice is the same place.
struct Place: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Records in memory.
        case memory
        /// A vault over SQLite.
        case vault
        /// An app's storage client, that keeps JSON files.
        case jsonClient
        /// An app's storage client, that keeps rows in SQLite.
        case sqliteClient

        var isClient: Bool { [.jsonClient, .sqliteClient].contains(self) }
    }

    /// The part of a place that can fail.
    private enum Part: Sendable {
        case store(FaultyStore, AccountRecords)
        case client(path: String, ClientFault)
    }

    let kind: Kind
    private let part: Part

    init(_ kind: Kind, in directory: TemporaryDirectory) throws {
        self.kind = kind
        switch kind {
        case .memory:
            let store = FaultyStore(MemoryStore())
            part = .store(store, AccountRecords(unsealed: store))
        case .vault:
            let store = FaultyStore(try SQLiteStore(path: directory.file("vault.sqlite"), creating: true))
            let key = try KeyFile.create(path: directory.file("vault.key"))
            part = .store(store, AccountRecords(try Vault.create(in: store, protector: key)))
        case .jsonClient, .sqliteClient:
            part = .client(path: directory.file("app"), ClientFault())
        }
    }

    /// The place, opened as by the next start of the app.
    func opened() throws -> StoreKind {
        switch part {
        case .store(_, let records): .records(records)
        case .client(let path, let fault) where kind == .jsonClient:
            .client(ClientBox(FaultyClient(try JSONFileStorageClient(path: path), fault)))
        case .client(let path, let fault):
            .client(ClientBox(FaultyClient(try SQLiteStorageClient(path: path), fault)))
        }
    }

    /// Has one call fail: the nth from now, of whatever operation; or `late`, the nth that ends a change, which is made all the
    /// same.
    func fail(at number: Int, late: Bool) -> Countdown {
        let countdown = Countdown(number)
        switch part {
        case .store(let store, _):
            store.heal()
            // What reading does in a vault it does in memory too; what ends a change is SQLite's own.
            let changing: [StoreCall.Operation] = [.begin, .put, .remove, .commit]
            for operation in late ? [.commit] : kind == .vault ? changing : StoreCall.Operation.allCases {
                store.inject(StoreFault(.full, at: operation, .when { _ in countdown.isNext() }, isDurable: late))
            }
        case .client(_, let fault): fault.inject(countdown, late: late)
        }
        return countdown
    }

    func heal() {
        switch part {
        case .store(let store, _): store.heal()
        case .client(_, let fault): fault.heal()
        }
    }

    /// What is stored, asked of the place itself.
    func state() throws -> State {
        try ClientStore(try opened()).read { (records: any AccountReader) throws(StoreError) in
            State(
                accounts: try records.accounts(), mechanisms: try records.mechanisms(),
                notifications: try records.notifications(), token: try records.deviceToken(),
                damaged: try records.damagedRecords().count)
        }
    }

    /// Everything that is stored.
    struct State: Equatable, Sendable {
        var accounts: [SignetCore.Account]
        var mechanisms: [SignetCore.Mechanism]
        var notifications: [SignetCore.PushNotification]
        var token: StoredDeviceToken?
        var damaged: Int

        /// What is stored of one account.
        func of(_ id: AccountID) -> State {
            let mechanisms = mechanisms.filter { $0.account == id }
            let uids = Set(mechanisms.map(\.uid))
            return State(
                accounts: accounts.filter { $0.id == id }, mechanisms: mechanisms,
                notifications: notifications.filter { uids.contains($0.message.mechanismUID) }, token: nil, damaged: damaged)
        }

        /// What is stored besides one account.
        func without(_ id: AccountID) -> State {
            let own = Set(of(id).notifications.map(\.id))
            return State(
                accounts: accounts.filter { $0.id != id }, mechanisms: mechanisms.filter { $0.account != id },
                notifications: notifications.filter { !own.contains($0.id) }, token: nil, damaged: damaged)
        }

        /// The kinds of the mechanisms, the oldest first.
        var kinds: [SignetCore.Mechanism.KindName] { mechanisms.map(\.kindName) }
        /// What became of the messages, the newest first.
        var decisions: [SignetCore.PushNotification.Decision?] { notifications.map(\.decision) }
        /// The counter of the only counter-based mechanism.
        var counter: UInt64? {
            for mechanism in mechanisms {
                if case .counter(let next)? = mechanism.oath?.factor { return next }
            }
            return nil
        }
    }
}

/// Counts the calls of a place until one is to fail.
final class Countdown: Sendable {
    private let number: Int
    private let state = Mutex((count: 0, wasHit: false))

    init(_ number: Int) {
        self.number = number
    }

    /// Whether the call that is to fail has come.
    var wasHit: Bool { state.withLock { $0.wasHit } }

    /// Counts a call, and says whether it is the one.
    func isNext() -> Bool {
        state.withLock { state in
            state.count += 1
            guard state.count == number else { return false }
            state.wasHit = true
            return true
        }
    }
}

/// When a ``FaultyClient`` fails, and the token that it keeps: shared by all that are opened in one place.
final class ClientFault: Sendable {
    private let state = Mutex((countdown: Countdown?.none, isLate: false, token: String?.none))

    var token: String? {
        get { state.withLock { $0.token } }
        set { state.withLock { $0.token = newValue } }
    }

    func inject(_ countdown: Countdown, late: Bool) { state.withLock { ($0.countdown, $0.isLate) = (countdown, late) } }
    func heal() { state.withLock { $0.countdown = nil } }

    /// Makes a change, unless it is to fail.
    func change(_ body: () -> Bool) -> Bool {
        let (countdown, isLate) = state.withLock { ($0.countdown, $0.isLate) }
        guard let countdown, countdown.isNext() else { return body() }
        if isLate { _ = body() }
        return false
    }
}

/// A storage client each of whose changes can fail, and which keeps the device's token, too.
final class FaultyClient: StorageClient {
    private let inner: any StorageClient
    private let fault: ClientFault

    init(_ inner: any StorageClient, _ fault: ClientFault) {
        (self.inner, self.fault) = (inner, fault)
    }

    func setAccount(account: Account) -> Bool { fault.change { inner.setAccount(account: account) } }
    func removeAccount(account: Account) -> Bool { fault.change { inner.removeAccount(account: account) } }
    func getAccount(accountIdentifier: String) -> Account? { inner.getAccount(accountIdentifier: accountIdentifier) }
    func getAllAccounts() -> [Account] { inner.getAllAccounts() }
    func setMechanism(mechanism: Mechanism) -> Bool { fault.change { inner.setMechanism(mechanism: mechanism) } }
    func removeMechanism(mechanism: Mechanism) -> Bool { fault.change { inner.removeMechanism(mechanism: mechanism) } }
    func getMechanismsForAccount(account: Account) -> [Mechanism] { inner.getMechanismsForAccount(account: account) }
    func getMechanismForUUID(uuid: String) -> Mechanism? { inner.getMechanismForUUID(uuid: uuid) }
    func setNotification(notification: PushNotification) -> Bool {
        fault.change { inner.setNotification(notification: notification) }
    }
    func removeNotification(notification: PushNotification) -> Bool {
        fault.change { inner.removeNotification(notification: notification) }
    }
    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        inner.getAllNotificationsForMechanism(mechanism: mechanism)
    }
    func isEmpty() -> Bool { inner.isEmpty() && fault.token == nil }

    func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool {
        fault.change {
            fault.token = pushDeviceToken.toJson()
            return true
        }
    }
    func getPushDeviceToken() -> PushDeviceToken? { fault.token.flatMap { try? PushDeviceToken.fromJson($0) } }
    func removePushDeviceToken() -> Bool {
        fault.change {
            fault.token = nil
            return true
        }
    }
}
