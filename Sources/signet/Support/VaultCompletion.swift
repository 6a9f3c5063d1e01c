import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetServer
import SignetStorage

/// The values that a shell completes with what is in the vault.
///
/// A completion reads the vault only if it opens without asking: with the TPM, an unlocked keyring, a systemd credential or a key
/// file. For a vault that needs a passphrase nothing is completed. A completion prints no error and writes no record. With a TPM or
/// the keyring, opening the vault can complete the change of its epoch that an interrupted writer has begun.
enum VaultCompletion {
    /// Returns the names and issuers that select one of the accounts that have a mechanism of one of the kinds.
    /// - Parameter kinds: The kinds; nil for all accounts, also those without a mechanism that can be read.
    /// - Returns: The names and issuers, sorted.
    static func accounts(_ kinds: Set<Mechanism.KindName>?) -> [String] {
        guard let session = Session.openUnattended() else { return [] }
        let records = AccountRecords(session.vault)
        let found = try? records.read { (records: any AccountReader) throws(StoreError) in
            try records.accountsWithMechanisms().map { EnrolledAccount(account: $0.account, mechanisms: $0.mechanisms) }
        }
        let all = found ?? []
        guard let kinds else { return Selection.completions(of: all) }
        return Selection.completions(of: all.filter { account in account.mechanisms.contains { kinds.contains($0.kindName) } })
    }

    /// Returns the IDs of the push messages that wait for an answer.
    static func messages() -> [String] {
        guard let session = Session.openUnattended() else { return [] }
        let records = AccountRecords(session.vault)
        let found = try? records.read { (records: any AccountReader) throws(StoreError) in try records.notifications() }
        return (found ?? []).filter { $0.state(at: session.now) == .pending }.map(\.id).filter(\.isPlainWord)
    }

    /// Returns the names of the logins.
    static func profiles() -> [String] {
        guard let session = Session.openUnattended(), let store = try? ProfileStore.read(from: session.vault) else { return [] }
        return store.profiles.map(\.name).filter(\.isPlainWord)
    }
}

extension CompletionKind {
    /// Completes the names and issuers of the accounts that have a mechanism of one of the kinds; without kinds, of all accounts.
    static func accounts(_ kinds: Set<Mechanism.KindName>? = nil) -> CompletionKind {
        values { VaultCompletion.accounts(kinds) }
    }

    /// Completes the IDs of the push messages that wait for an answer.
    static var messages: CompletionKind { values { VaultCompletion.messages() } }

    /// Completes the names of the logins.
    static var profiles: CompletionKind { values { VaultCompletion.profiles() } }

    /// Completes the names of the journeys of `signet serve` without a configuration file.
    static var starterJourneys: CompletionKind { values { ServerConfiguration.starter.journeys.names } }

    /// Completes the values that a function returns when the user asks for them.
    private static func values(_ values: @escaping @Sendable () -> [String]) -> CompletionKind {
        // The type selects the synchronous one of two overloaded functions.
        let complete: @Sendable ([String], Int, String) -> [String] = { _, _, _ in values() }
        return .custom(complete)
    }
}
