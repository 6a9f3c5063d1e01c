import AgentWire
import Foundation
import SignetCore
import SignetStorage

/// The way of a command to the accounts: through the agent, if one runs and holds the vault unlocked; otherwise by opening the vault.
enum AgentAccess {
    /// Returns the accounts for a command.
    ///
    /// A passphrase that the user types is handed to the agent, if one runs, so that it is asked for once.
    /// - Parameters:
    ///   - options: The options for the vault. With a descriptor for the passphrase the agent is not asked, and neither when the
    ///     environment requires a level of protection, which the command checks when it opens the vault.
    ///   - trust: The options for servers' certificates. With a file of authorities the agent is not asked.
    ///   - asksAgent: False for a command that does what the agent does not do.
    ///   - lookup: True for a command that finds one account by its name (``Session/open(_:trust:acceptingRollback:anyLevel:lookup:)``).
    /// - Returns: The accounts.
    /// - Throws: `StoreError` when the vault cannot be opened; ``Failure``.
    static func authenticator(
        _ options: VaultOptions?, trust: TrustOptions? = nil, asksAgent: Bool = true, lookup: Bool = false
    ) throws -> any VaultAuthenticator {
        let environment = ProcessInfo.processInfo.environment
        guard asksAgent, options?.passphraseDescriptor == nil, try trust?.authorityFile() == nil,
            environment[ProtectionLevel.environmentVariable] == nil, let agent = AgentConnection(environment),
            let state = try state(of: agent)
        else { return OpenedAuthenticator(session: try Session.open(options, trust: trust, lookup: lookup)) }
        var current = state
        // A vault that needs no question is unlocked again, unless the user or the session has locked it.
        if state == .locked(.idle), try self.state(of: agent, .unlock) == .unlocked { current = .unlocked }
        if current == .unlocked { return AgentAuthenticator(agent: agent) }
        let session = try Session.open(options, trust: trust, lookup: lookup)
        if case .locked = current, let passphrase = session.protectors.typedPassphrase {
            // A failure changes nothing for the command, which has opened the vault itself.
            _ = try? agent.reply(to: AgentControl.Name.unlock.rawValue, secret: passphrase)
        }
        return OpenedAuthenticator(session: session)
    }

    private enum State: Hashable {
        case unlocked
        case locked(AgentVault.LockReason)
        case notUsable
    }

    /// Asks the agent for its state.
    /// - Parameters:
    ///   - agent: The agent.
    ///   - request: The request, which can also be to unlock a vault that needs no question.
    /// - Returns: The state after the request; nil when no agent runs or answers.
    /// - Throws: ``Failure`` that is not one of the agent.
    private static func state(of agent: AgentConnection, _ request: AgentControl.Name = .status) throws -> State? {
        let reply: AgentReply?
        do {
            reply = try agent.reply(to: request.rawValue, within: AgentClient.statusTimeout)
        } catch let failure as Failure {
            // An agent that is stopped or has just ended must not fail the command, which asked for nothing yet.
            guard failure.code.hasPrefix("agent.") else { throw failure }
            return nil
        }
        switch reply {
        case nil: return nil
        case .result(let fields):
            let state = fields.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            let reason = AgentVault.LockReason(rawValue: String(state.trimmingPrefix("locked-")))
            return state == "unlocked" ? .unlocked : .locked(reason ?? .user)
        case .declined(.otherVersion):
            Console.error("signet: the agent is another version of signet and is not used; restart it: signet agent")
            return .notUsable
        case .declined, .failure: return .notUsable
        }
    }
}
