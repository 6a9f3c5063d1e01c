import AgentWire
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts and push messages of a vault that the agent holds.
struct AgentAuthenticator: VaultAuthenticator {
    let agent: AgentConnection

    func accounts() async throws -> [EnrolledAccount] { try agent.list(.accounts, AgentForm.account) }

    func damagedRecords() async throws -> [DamagedRecord] { try agent.list(.damagedRecords, AgentForm.damagedRecord) }

    func code(for mechanismUID: String, period: AccountCodes.Period) async throws -> OneTimeCode {
        try agent.value(.codeOfMechanism, [mechanismUID, period == .next ? "next" : "current"], AgentForm.code)
    }

    func currentCodes() async throws -> [String: OneTimeCode] {
        try agent.value(.currentCodes, []) { json in try (json.object ?? [:]).mapValues(AgentForm.code) }
    }

    func notifications() async throws -> [PushNotification] { try agent.list(.notifications, AgentForm.notification) }

    func approve(_ id: String, number: Int?, presence: any UserPresence) async throws -> PushNotification {
        if let message = try await notifications().first(where: { $0.id == id }), case .biometric = message.message.kind {
            do {
                try await presence.confirm(message)
            } catch {
                throw AuthenticatorError(.presenceRefused, "the user was not recognized")
            }
        }
        return try agent.value(.approve, [id, number.map(String.init) ?? ""], AgentForm.notification)
    }

    func deny(_ id: String) async throws -> PushNotification { try agent.value(.deny, [id], AgentForm.notification) }
}
