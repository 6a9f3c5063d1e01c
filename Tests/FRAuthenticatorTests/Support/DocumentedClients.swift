import FRAuthenticator
import Foundation
import GRDB

// Storage clients of an app, written only from the documented protocol: over a SQLite database, and over a folder of JSON
// files. Neither implements later additions.

/// A storage client with one row for each object: its kind, identifier, owner's identifier and JSON.
final class SQLiteStorageClient: StorageClient {
    private let database: DatabaseQueue

    init(path: String) throws {
        database = try DatabaseQueue(path: path)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS items (
                        kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL, uuid TEXT NOT NULL, json TEXT NOT NULL,
                        PRIMARY KEY (kind, id))
                    """)
        }
    }

    private func set(_ kind: String, _ id: String, parent: String = "", uuid: String = "", _ json: String?) -> Bool {
        guard let json else { return false }
        let outcome: Void? = try? database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO items (kind, id, parent, uuid, json) VALUES (?, ?, ?, ?, ?)",
                arguments: [kind, id, parent, uuid, json])
        }
        return outcome != nil
    }

    private func remove(_ kind: String, _ id: String) -> Bool {
        let outcome: Void? = try? database.write { database in
            try database.execute(sql: "DELETE FROM items WHERE kind = ? AND id = ?", arguments: [kind, id])
        }
        return outcome != nil
    }

    private func texts(_ kind: String, where column: String = "kind", is value: String? = nil) -> [String] {
        let texts = try? database.read { database in
            try String.fetchAll(
                database, sql: "SELECT json FROM items WHERE kind = ? AND \(column) = ?", arguments: [kind, value ?? kind])
        }
        return texts ?? []
    }

    func setAccount(account: Account) -> Bool { set("account", account.identifier, account.toJson()) }

    func removeAccount(account: Account) -> Bool { remove("account", account.identifier) }

    func getAccount(accountIdentifier: String) -> Account? {
        texts("account", where: "id", is: accountIdentifier).first.flatMap { try? Account.fromJson($0) }
    }

    func getAllAccounts() -> [Account] { texts("account").compactMap { try? Account.fromJson($0) } }

    func setMechanism(mechanism: Mechanism) -> Bool {
        set(
            "mechanism", mechanism.identifier, parent: mechanism.accountIdentifier, uuid: mechanism.mechanismUUID,
            mechanism.toJson())
    }

    func removeMechanism(mechanism: Mechanism) -> Bool { remove("mechanism", mechanism.identifier) }

    func getMechanismsForAccount(account: Account) -> [Mechanism] {
        texts("mechanism", where: "parent", is: account.identifier).compactMap { try? Mechanisms.fromJson($0) }
    }

    func getMechanismForUUID(uuid: String) -> Mechanism? {
        texts("mechanism", where: "uuid", is: uuid).first.flatMap { try? Mechanisms.fromJson($0) }
    }

    func setNotification(notification: PushNotification) -> Bool {
        set("notification", notification.identifier, parent: notification.mechanismUUID, notification.toJson())
    }

    func removeNotification(notification: PushNotification) -> Bool { remove("notification", notification.identifier) }

    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        texts("notification", where: "parent", is: mechanism.mechanismUUID).compactMap { try? PushNotification.fromJson($0) }
    }

    func isEmpty() -> Bool { texts("account").isEmpty && texts("mechanism").isEmpty && texts("notification").isEmpty }
}

/// One file for each object, written with a `JSONEncoder`.
final class JSONFileStorageClient: StorageClient {
    private let folder: URL

    init(path: String) throws {
        folder = URL(filePath: path)
        for kind in ["accounts", "totp", "hotp", "push", "notifications"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: kind), withIntermediateDirectories: true)
        }
    }

    private func file(_ kind: String, _ id: String) -> URL {
        folder.appending(path: kind).appending(path: Data(id.utf8).base64EncodedString().replacing("/", with: "_"))
    }

    private func write(_ kind: String, _ id: String, _ value: some Encodable) -> Bool {
        guard let data = try? JSONEncoder().encode(value) else { return false }
        let outcome: Void? = try? data.write(to: file(kind, id), options: .atomic)
        return outcome != nil
    }

    private func remove(_ kind: String, _ id: String) -> Bool {
        let file = file(kind, id)
        guard FileManager.default.fileExists(atPath: file.path) else { return true }
        let outcome: Void? = try? FileManager.default.removeItem(at: file)
        return outcome != nil
    }

    private func all<Value: Decodable>(_ kind: String, _ type: Value.Type) -> [Value] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder.appending(path: kind), includingPropertiesForKeys: nil)
        return (files ?? []).compactMap { file in
            (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(type, from: $0) }
        }
    }

    private var mechanisms: [Mechanism] {
        let totp: [Mechanism] = all("totp", TOTPMechanism.self)
        let hotp: [Mechanism] = all("hotp", HOTPMechanism.self)
        let push: [Mechanism] = all("push", PushMechanism.self)
        return totp + hotp + push
    }

    func setAccount(account: Account) -> Bool { write("accounts", account.identifier, account) }

    func removeAccount(account: Account) -> Bool { remove("accounts", account.identifier) }

    func getAccount(accountIdentifier: String) -> Account? { getAllAccounts().first { $0.identifier == accountIdentifier } }

    func getAllAccounts() -> [Account] { all("accounts", Account.self) }

    func setMechanism(mechanism: Mechanism) -> Bool { write(mechanism.type, mechanism.identifier, mechanism) }

    func removeMechanism(mechanism: Mechanism) -> Bool { remove(mechanism.type, mechanism.identifier) }

    func getMechanismsForAccount(account: Account) -> [Mechanism] {
        mechanisms.filter { $0.accountIdentifier == account.identifier }
    }

    func getMechanismForUUID(uuid: String) -> Mechanism? { mechanisms.first { $0.mechanismUUID == uuid } }

    func setNotification(notification: PushNotification) -> Bool {
        write("notifications", notification.identifier, notification)
    }

    func removeNotification(notification: PushNotification) -> Bool { remove("notifications", notification.identifier) }

    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        all("notifications", PushNotification.self).filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }

    func isEmpty() -> Bool {
        getAllAccounts().isEmpty && mechanisms.isEmpty && all("notifications", PushNotification.self).isEmpty
    }
}
