import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// `StoreWorker COMMAND ...`: one operation on a store, in a process that a test can kill, or start twice.
///
/// Each command is a case of ``Command``: to have another one killed at every system call, add it there, and to `KilledWork` of the
/// tests. The process is killed between ``Marks/begin`` and ``Marks/end``. Exits with 0, or with 1 and the error's code on
/// standard output.
@main
enum StoreWorker {
    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.popFirst(), let command = Command(rawValue: name) else { exit(64) }
        do {
            try command.run(Array(arguments))
        } catch {
            let code = (error as? StoreError)?.code.rawValue ?? "\(error)"
            FileHandle.standardOutput.write(Data("\(code)\n".utf8))
            exit(1)
        }
    }
}

private enum Command: String {
    /// `save FILE BYTE COUNT`: puts a record of this many equal bytes into an SQLite store.
    case save
    /// `save-vault DIRECTORY BYTE COUNT`: puts the same record into a vault.
    case saveVault = "save-vault"
    /// `defer-vault DIRECTORY BYTE COUNT`: puts another record into a vault, and then the same one in a deferred write.
    case deferVault = "defer-vault"
    /// `create FILE`: makes an SQLite store.
    case create
    /// `create-vault DIRECTORY`: makes a vault.
    case createVault = "create-vault"
    /// `rotate-vault DIRECTORY`: makes a new key and seals everything with it.
    case rotateVault = "rotate-vault"
    /// `increment-vault DIRECTORY TIMES`: runs this many transactions that each read a number and write the next.
    case incrementVault = "increment-vault"
    /// `codes-vault DIRECTORY TIMES`: uses up this many counters of the vault's HOTP mechanism, each printed once durable.
    case codesVault = "codes-vault"

    func run(_ arguments: [String]) throws {
        guard let path = arguments.first else { exit(64) }
        switch self {
        case .save:
            try Marks.around { try Work.save(SQLiteStore(path: path, timeout: 60), arguments) }
        case .saveVault:
            try Marks.around { try Work.save(VaultDirectory(path: path).openVault(timeout: 60), arguments) }
        case .deferVault:
            try Marks.around {
                let vault = try VaultDirectory(path: path).openVault(timeout: 60)
                // The first write of a process to a vault is never deferred.
                try vault.write { (records: any RecordWriter) throws(StoreError) in
                    try records.put([1], RecordKey(.item, "first"))
                }
                try Work.save(vault, arguments, .deferred)
            }
        case .create:
            try Marks.around { _ = try SQLiteStore(path: path, creating: true) }
        case .createVault:
            try Marks.around { _ = try VaultDirectory(path: path).createVault(.keyFile) }
        case .rotateVault:
            try Marks.around {
                let directory = VaultDirectory(path: path)
                try directory.openVault(timeout: 60).rotateKey { _ in KeyFile(path: directory.keyPath) }
            }
        case .incrementVault:
            let vault = try VaultDirectory(path: path).openVault(timeout: 60)
            guard let times = arguments.last.flatMap(Int.init) else { exit(64) }
            for _ in 0..<times { try Work.increment(vault) }
        case .codesVault:
            let vault = try VaultDirectory(path: path).openVault(timeout: 60)
            guard let times = arguments.last.flatMap(Int.init) else { exit(64) }
            for _ in 0..<times { try Work.useCounter(AccountRecords(vault)) }
        }
    }
}

private enum Work {
    static func save(_ store: any RecordStore, _ arguments: [String], _ durability: Durability = .atReturn) throws {
        guard arguments.count == 3, let byte = UInt8(arguments[1]), let count = Int(arguments[2]) else { exit(64) }
        try store.write(durability) { (records: any RecordWriter) throws(StoreError) in
            try records.put([UInt8](repeating: byte, count: count), RecordKey(.item, "saved"))
        }
    }

    /// Uses up a counter as `Authenticator.code` does, and prints it.
    static func useCounter(_ accounts: AccountRecords) throws {
        let settings = try accounts.perform(
            AccountOperation { records in
                let uid = try records.mechanisms().first { $0.kindName == .hotp }?.uid
                return try AccountOperation.reserveCounter(uid ?? "").body(records).settings
            })
        guard case .counter(let counter) = settings.factor else { exit(70) }
        FileHandle.standardOutput.write(Data("\(counter)\n".utf8))
    }

    static func increment(_ store: any RecordStore) throws {
        let key = RecordKey(.item, "counter")
        try store.write { (records: any RecordWriter) throws(StoreError) in
            let text = String(decoding: try records.record(key) ?? [], as: UTF8.self)
            try records.put(Array(String((Int(text) ?? 0) + 1).utf8), key)
        }
    }
}

/// System calls that appear in a trace and do nothing else.
private enum Marks {
    static let begin = "/signet-work-begins"
    static let end = "/signet-work-ends"

    static func around(_ body: () throws -> Void) throws {
        access(begin, F_OK)
        // The store is closed inside the marks, so that closing is killed too.
        try body()
        access(end, F_OK)
    }
}
