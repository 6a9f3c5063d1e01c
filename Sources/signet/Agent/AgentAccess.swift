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
    ///   - options: The options for the vault. With a descriptor for the passphrase the agent is not asked.
    ///   - trust: The options for servers' certificates. With a file of authorities the agent is not asked.
    static func authenticator(_ options: VaultOptions?, trust: TrustOptions? = nil) throws -> any VaultAuthenticator {
        guard options?.passphraseDescriptor == nil, try trust?.authorityFile() == nil,
            let agent = AgentConnection(ProcessInfo.processInfo.environment), let state = try state(of: agent)
        else { return OpenedAuthenticator(session: try Session.open(options, trust: trust)) }
        var current = state
        // A vault that needs no question is unlocked again, unless the user or the session has locked it.
        if state == .locked(.idle), try self.state(of: agent, .unlock) == .unlocked { current = .unlocked }
        if current == .unlocked { return AgentAuthenticator(agent: agent) }
        let session = try Session.open(options, trust: trust)
        if case .locked = current, let passphrase = session.protectors.typedPassphrase {
            // A failure changes nothing for the command, which has opened the vault itself.
            _ = try? agent.reply(to: AgentControl.Name.unlock.rawValue, secret: passphrase)
        }
        return OpenedAuthenticator(session: session)
    }

    private enum State: Hashable { case unlocked, locked(AgentVault.LockReason), notUsable }

    /// Returns the state of the agent, after asking it to unlock the vault if `request` says so; nil when none runs or answers.
    private static func state(of agent: AgentConnection, _ request: AgentControl.Name = .status) throws -> State? {
        let reply: AgentReply?
        do {
            reply = try agent.reply(to: request.rawValue, within: AgentClient.statusTimeout)
        } catch let failure as Failure {
            // An agent that is stopped or has just ended is no reason to refuse the command, which asked for nothing yet.
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
