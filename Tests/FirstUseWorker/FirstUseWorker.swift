import FRAuthenticator
import Foundation
import PingOath
import PingPush
import SignetCore
import SignetStorage

/// `FirstUseWorker COMMAND ...`: one use of the SDK's default storage, in a process with the home directory of its environment.
///
/// Prints one line: `ok VALUE`, or `error CODE REASON`.
@main
enum FirstUseWorker {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let name = arguments.first, let command = Command(rawValue: name) else { exit(64) }
        var line: String
        do {
            line = "ok \(try await command.run(Array(arguments.dropFirst())))"
        } catch let error as StoreError {
            line = "error \(error.code.rawValue) \(error.reason)"
        } catch {
            line = "error \(error)"
        }
        line.append("\n")
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}

private enum Command: String {
    /// `save ACCOUNT VALUE`: saves an item.
    case save
    /// `get ACCOUNT`: reads it.
    case get
    /// `delete ACCOUNT`: removes it.
    case delete
    /// `require LEVEL ACCOUNT VALUE`: requires a level, and saves an item.
    case require
    /// `passphrase PASSPHRASE ACCOUNT VALUE`: saves an item with a passphrase of the app.
    case passphrase
    /// `protection`: the protection of the vault.
    case protection
    /// `recovery`: adds a recovery key.
    case recovery
    /// `accounts`: the numbers of accounts that the three kinds of clients find.
    case accounts
    /// `oath`, `push`, `authenticator`: stores something with one of the clients.
    case oath, push, authenticator

    private static let uri = "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

    func run(_ arguments: [String]) async throws -> String {
        let vault = VaultProvider.default
        switch self {
        case .save: return try await Self.save(arguments)
        case .get: return try await KeychainStorage<String>(account: arguments[0]).get() ?? "nothing"
        case .delete:
            try await KeychainStorage<String>(account: arguments[0]).delete()
            return "deleted"
        case .require:
            guard let level = ProtectionLevel(rawValue: arguments[0]) else { exit(64) }
            vault.require(level)
            return try await Self.save(Array(arguments.dropFirst()))
        case .passphrase:
            let passphrase = Secret(Array(arguments[0].utf8))
            vault.askForPassphrase { () throws(StoreError) in passphrase }
            return try await Self.save(Array(arguments.dropFirst()))
        case .protection:
            guard let protection = try await vault.protection() else { return "nothing" }
            return "\(protection.protector) \(protection.level.rawValue) \(protection.isHardware) \(protection.hasRecovery)"
        case .recovery: return try await vault.addRecoveryKey().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        case .accounts: return try await Self.accounts()
        case .oath:
            let client = try await OathClient.createClient { _ in }
            return try await client.addCredentialFromUri(Self.uri).issuer
        case .push:
            let client = try await PushClient.createClient { _ in }
            try await client.setDeviceToken("token-1")
            return "stored"
        case .authenticator:
            await FRAClient.start()
            guard let client = FRAClient.shared else { throw FRAClient.lastStorageError ?? CocoaError(.fileReadUnknown) }
            _ = try await client.createMechanismFromUri(Self.uri)
            return "\(client.getAllAccounts().count)"
        }
    }

    private static func save(_ arguments: [String]) async throws -> String {
        try await KeychainStorage<String>(account: arguments[0]).save(item: arguments[1])
        return "saved"
    }

    private static func accounts() async throws -> String {
        let oath = try await OathClient.createClient { _ in }.getCredentials().count
        let push = try await PushClient.createClient { _ in }.getCredentials().count
        await FRAClient.start()
        guard let client = FRAClient.shared else { throw FRAClient.lastStorageError ?? CocoaError(.fileReadUnknown) }
        return "\(oath) \(push) \(client.getAllAccounts().count)"
    }
}
