import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting

@testable import FRAuthenticator

/// The storage of a case.
///
/// Opening it twice gives access to the same content.
struct CaseStorage: Sendable {
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

    /// The part of the storage that can fail.
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

    /// Opens the storage as the next start of the app would.
    func opened() throws -> StoreKind {
        switch part {
        case .store(_, let records): .records(records)
        case .client(let path, let fault) where kind == .jsonClient:
            .client(ClientBox(FaultyClient(try JSONFileStorageClient(path: path), fault)))
        case .client(let path, let fault):
            .client(ClientBox(FaultyClient(try SQLiteStorageClient(path: path), fault)))
        }
    }

    /// Makes one call fail: the nth from now, of any operation; or, if `late`, the nth that ends a change, which takes effect
    /// nevertheless.
    func fail(at number: Int, late: Bool) -> Countdown {
        let countdown = Countdown(number)
        switch part {
        case .store(let store, _):
            store.reset()
            // Failing reads act alike in a vault and in memory, so only memory injects them; the end of a change is SQLite's own.
            let changing: [StoreCall.Operation] = [.begin, .put, .remove, .commit]
            for operation in late ? [.commit] : kind == .vault ? changing : StoreCall.Operation.allCases {
                store.inject(StoreFault(.full, at: operation, .when { _ in countdown.isNext() }, isDurable: late))
            }
        case .client(_, let fault): fault.inject(countdown, late: late)
        }
        return countdown
    }

    func reset() {
        switch part {
        case .store(let store, _): store.reset()
        case .client(_, let fault): fault.reset()
        }
    }

    /// Returns the stored content, read directly from the storage.
    func state() throws -> State {
        try ClientStore(try opened()).read { (records: any AccountReader) throws(StoreError) in
            State(
                accounts: try records.accounts(), mechanisms: try records.mechanisms(),
                notifications: try records.notifications(), token: try records.deviceToken(),
                damaged: try records.damagedRecords().count)
        }
    }

    /// The whole stored content.
    struct State: Equatable, Sendable {
        var accounts: [SignetCore.Account]
        var mechanisms: [SignetCore.Mechanism]
        var notifications: [SignetCore.PushNotification]
        var token: StoredDeviceToken?
        var damaged: Int

        /// Returns the part of the content that belongs to one account.
        func of(_ id: AccountID) -> State {
            let mechanisms = mechanisms.filter { $0.account == id }
            let uids = Set(mechanisms.map(\.uid))
            return State(
                accounts: accounts.filter { $0.id == id }, mechanisms: mechanisms,
                notifications: notifications.filter { uids.contains($0.message.mechanismUID) }, token: nil, damaged: damaged)
        }

        /// Returns the content without one account.
        func without(_ id: AccountID) -> State {
            let own = Set(of(id).notifications.map(\.id))
            return State(
                accounts: accounts.filter { $0.id != id }, mechanisms: mechanisms.filter { $0.account != id },
                notifications: notifications.filter { !own.contains($0.id) }, token: nil, damaged: damaged)
        }

        /// The kinds of the mechanisms, the oldest first.
        var kinds: [SignetCore.Mechanism.KindName] { mechanisms.map(\.kindName) }
        /// The decisions on the notifications, the newest first.
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

/// A counter of storage calls up to the one that fails.
final class Countdown: Sendable {
    private let number: Int
    private let state = Mutex((count: 0, wasHit: false))

    init(_ number: Int) {
        self.number = number
    }

    /// True once the failing call has occurred.
    var wasHit: Bool { state.withLock { $0.wasHit } }

    /// Counts a call, and returns true if it is the failing one.
    func isNext() -> Bool {
        state.withLock { state in
            state.count += 1
            guard state.count == number else { return false }
            state.wasHit = true
            return true
        }
    }
}

/// The faults of a ``FaultyClient`` and its device token, shared by all clients opened over one storage.
final class ClientFault: Sendable {
    private let state = Mutex((countdown: Countdown?.none, isLate: false, token: String?.none))

    var token: String? {
        get { state.withLock { $0.token } }
        set { state.withLock { $0.token = newValue } }
    }

    func inject(_ countdown: Countdown, late: Bool) { state.withLock { ($0.countdown, $0.isLate) = (countdown, late) } }
    func reset() { state.withLock { $0.countdown = nil } }

    /// Makes a change, unless this call is the failing one.
    func change(_ body: () -> Bool) -> Bool {
        let (countdown, isLate) = state.withLock { ($0.countdown, $0.isLate) }
        guard let countdown, countdown.isNext() else { return body() }
        if isLate { _ = body() }
        return false
    }
}

/// A storage client whose changes can fail, and which also keeps the device token.
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
