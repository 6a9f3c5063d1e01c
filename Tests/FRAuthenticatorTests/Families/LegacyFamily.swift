import Foundation
import Logging
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting

@testable import FRAuthenticator

/// The family of `FRAClient`.
///
/// A call that returns false or nil fails here with the error that the client recorded.
struct LegacyFamily: Family {
    private let client: FRAClient
    private let failures = Tally()
    /// The identifiers of the received notifications, by the engine's ids, which the cases compare.
    private let identifiers = Identifiers()

    init(_ kind: StoreKind, _ transport: any HTTPTransport, _ clock: any WallClock) {
        var settings = ClientFixture.settings(transport, ManualClock(Sample.start))
        settings.clock = clock
        let failures = failures
        settings.logger = Logger(label: "test", factory: { _ in CountingLog(lines: failures) })
        settings.presence = Recognized()
        client = FRAClient(LegacyEngine(settings, kind))
    }

    /// Returns `count`: the family keeps every message.
    func kept(of count: Int) -> Int { count }

    func listed() async throws -> Listing {
        var listing = Listing()
        for account in client.getAllAccounts() {
            listing.accounts.append(
                [account.identifier, account.displayIssuer ?? "", account.lockingPolicy ?? "free"].joined(separator: "|"))
            for mechanism in account.mechanisms {
                listing.mechanisms.append("\(mechanism.mechanismUUID) \(mechanism.type)")
                listing.notifications += ((mechanism as? PushMechanism)?.notifications ?? []).map {
                    "\($0.core.id) \($0.isPending ? "pending" : $0.isApproved ? "approved" : "denied")"
                }
            }
        }
        listing.notifications.sort()
        return listing
    }

    func enroll(_ uri: String) async throws {
        try await APIError.translating { _ = try await client.createMechanismFromUri(uri) }
    }

    /// Returns the result of a call, or throws the recorded error if there is no result.
    private func given<Value>(_ call: () throws -> Value?) throws -> Value {
        let before = failures.value
        if let value = try call() { return value }
        guard failures.value > before, let error = client.lastStorageError else { throw APIError.unknown }
        throw error
    }

    private func done(_ call: () throws -> Bool) throws { _ = try given { try call() ? true : nil } }

    private func account(_ id: AccountID) throws -> Account {
        try given { client.getAccount(identifier: id.legacyIdentifier) }
    }

    private func notification(_ id: String) throws -> PushNotification {
        let identifier = identifiers.all.withLock { $0[id] }
        return try given {
            guard let identifier else { return client.getAllNotifications().first { $0.core.id == id } }
            return client.getNotification(identifier: identifier)
        }
    }

    private func mechanism(_ kind: SignetCore.Mechanism.KindName, of id: AccountID) throws -> Mechanism {
        let account = try account(id)
        return try given { account.mechanisms.first { $0.type == kind.rawValue } }
    }

    func code(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws -> String {
        try await APIError.translating {
            let mechanism = try mechanism(kind, of: account)
            return try given { mechanism as? OathMechanism }.generateCode().code
        }
    }

    func receive(_ delivery: PushDelivery) async throws -> String {
        try await APIError.translating {
            let notification = try client.handleMessage(delivery.messageId, delivery.message)
            identifiers.all.withLock { $0[notification.core.id] = notification.identifier }
            return notification.core.id
        }
    }

    func approve(_ id: String, number: Int?) async throws {
        try await APIError.translating {
            let notification = try notification(id)
            switch notification.pushType {
            case .default: try await notification.accept()
            case .challenge: try await notification.accept(challengeResponse: number.map(String.init) ?? "")
            case .biometric: try await notification.accept(title: "Login", allowDeviceCredentials: true)
            }
        }
    }

    func deny(_ id: String) async throws {
        try await APIError.translating { try await notification(id).deny() }
    }

    func rename(_ id: AccountID, to issuer: String) async throws {
        try await APIError.translating {
            let account = try account(id)
            account.displayIssuer = issuer
            try done { try client.updateAccount(account: account) }
        }
    }

    func lock(_ id: AccountID, policy: String) async throws {
        try await APIError.translating {
            let account = try account(id)
            try done { try client.lockAccount(account: account, policy: NamedPolicy(name: policy)) }
        }
    }

    func unlock(_ id: AccountID) async throws {
        try await APIError.translating {
            let account = try account(id)
            try done { try client.unlockAccount(account: account) }
        }
    }

    func remove(_ id: AccountID) async throws {
        try await APIError.translating {
            let account = try account(id)
            try done { client.removeAccount(account: account) }
        }
    }

    func remove(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws {
        try await APIError.translating {
            let mechanism = try mechanism(kind, of: account)
            try done { client.removeMechanism(mechanism: mechanism) }
        }
    }

    func remove(notification id: String) async throws {
        try await APIError.translating {
            let notification = try notification(id)
            try done { client.removeNotification(notification: notification) }
        }
    }

    func take(token: String) async throws {
        try await APIError.translating {
            if try client.engine.token() == nil { return try client.registerForRemoteNotifications(token) }
            try await client.updateDeviceToken(token)
        }
    }

    func token() async throws -> String? { try await APIError.translating { try client.engine.token()?.token } }
}

private final class Identifiers: Sendable {
    let all = Mutex<[String: String]>([:])
}

/// Counts the lines that are logged.
private struct CountingLog: LogHandler {
    let lines: Tally
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.info

    init(lines: Tally) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add() }
}
