import AgentWire
import ArgumentParser
import Foundation
import SignetAuthenticator
import SignetCore
import SignetServer
import SignetStorage

/// The values that a shell completes with what is in the vault.
///
/// A completion asks the running agent and opens no vault. Without an agent, and with one that is locked, is another version or does
/// not answer in a second, nothing is completed. A completion prints no error.
enum VaultCompletion {
    /// The kinds of values.
    enum Kind: String {
        case accounts, messages, logins
    }

    /// The time to wait for the agent, in seconds.
    private static let timeout = 1

    /// Asks the agent for values.
    /// - Parameters:
    ///   - kind: The kind of the values.
    ///   - mechanisms: The kinds of mechanisms that accounts must have one of; empty for all accounts.
    /// - Returns: The values; empty when no agent answers.
    static func values(_ kind: Kind, _ mechanisms: Set<Mechanism.KindName> = []) -> [String] {
        let arguments = [kind.rawValue] + mechanisms.map(\.rawValue).sorted()
        guard let agent = AgentConnection(ProcessInfo.processInfo.environment),
            let reply = try? agent.reply(to: AgentMethod.names.rawValue, arguments.map { Array($0.utf8) }, within: timeout),
            case .result(let fields) = reply, let names = (try? JSON.value(of: fields.first ?? []))?.array
        else { return [] }
        return names.compactMap(\.string).filter(\.isPlainWord)
    }

    /// Returns the values for a request to the agent.
    /// - Parameters:
    ///   - arguments: The ``Kind``, and for accounts the kinds of mechanisms that they must have one of; none for all accounts.
    ///   - session: The vault of the agent.
    /// - Returns: The values that a shell can complete as one word; none for an unknown kind.
    /// - Throws: `StoreError`.
    static func names(_ arguments: [String], in session: Session) async throws -> [String] {
        switch arguments.first.flatMap(Kind.init) {
        case .accounts:
            let accounts = try await session.offline { try await $0.accounts() }
            let kinds = Set(arguments.dropFirst())
            let able = accounts.filter { account in
                kinds.isEmpty || account.mechanisms.contains { kinds.contains($0.kindName.rawValue) }
            }
            return Selection.completions(of: able)
        case .messages:
            let messages = try await session.offline { try await $0.notifications() }
            return messages.filter { $0.state(at: session.now) == .pending }.map(\.id).filter(\.isPlainWord)
        case .logins: return try ProfileStore.read(from: session.vault).profiles.map(\.name).filter(\.isPlainWord)
        case nil: return []
        }
    }
}

extension CompletionKind {
    /// Completes the names and issuers of the accounts that have a mechanism of one of the kinds; without kinds, of all accounts.
    static func accounts(_ kinds: Set<Mechanism.KindName> = []) -> CompletionKind {
        values { VaultCompletion.values(.accounts, kinds) }
    }

    /// Completes the IDs of the push messages that wait for an answer.
    static var messages: CompletionKind { values { VaultCompletion.values(.messages) } }

    /// Completes the names of the logins.
    static var profiles: CompletionKind { values { VaultCompletion.values(.logins) } }

    /// Completes the names of the journeys of `signet serve` without a configuration file.
    static var starterJourneys: CompletionKind { values { ServerConfiguration.starter.journeys.names } }

    /// Completes the values that a function returns when the user asks for them.
    private static func values(_ values: @escaping @Sendable () -> [String]) -> CompletionKind {
        // The type selects the synchronous one of two overloaded functions.
        let complete: @Sendable ([String], Int, String) -> [String] = { _, _, _ in values() }
        return .custom(complete)
    }
}
