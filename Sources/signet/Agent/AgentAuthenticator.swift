import AgentWire
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts and push messages of a vault that the agent holds.
struct AgentAuthenticator: VaultAuthenticator {
    private let agent: AgentConnection
    /// The connection for the codes of a view; nil for a command that asks once.
    private var view: AgentConnection?

    /// Creates the accounts of a running agent.
    init(agent: AgentConnection) { self.agent = agent }

    func forView() -> any VaultAuthenticator {
        var authenticator = self
        authenticator.view = agent.forView()
        return authenticator
    }

    var checksPresence: Bool { true }

    func accounts() async throws -> [EnrolledAccount] { try await ask { try $0.list(.accounts, AgentForm.account) } }

    func accountsWithNotes() async throws -> [EnrolledAccount] {
        // Without a note there is nothing to ask the user about.
        let accounts = try await accounts()
        guard accounts.contains(where: { $0.account.note != nil }) else { return accounts }
        return try await ask { try $0.list(.accountsWithNotes, AgentForm.account) }
    }

    func damagedRecords() async throws -> [DamagedRecord] {
        try await ask { try $0.list(.damagedRecords, AgentForm.damagedRecord) }
    }

    func code(for mechanismUID: String, period: AccountCodes.Period) async throws -> OneTimeCode {
        let arguments = [mechanismUID, period == .next ? "next" : "current"]
        return try await ask { try $0.value(.codeOfMechanism, arguments, AgentForm.code) }
    }

    func currentCodes() async throws -> [String: OneTimeCode] {
        let method: AgentMethod = view == nil ? .currentCodes : .codesOfView
        return try await ask(over: view) { agent in
            try agent.value(method, []) { json in try (json.object ?? [:]).mapValues(AgentForm.code) }
        }
    }

    func notifications() async throws -> [PushNotification] {
        try await ask { try $0.list(.notifications, AgentForm.notification) }
    }

    /// Approves a message; for a biometric one the agent asks polkit, and `presence` is not used.
    func approve(_ id: String, number: Int?, presence: any UserPresence) async throws -> PushNotification {
        let arguments = [id, number.map(String.init) ?? ""]
        return try await ask { try $0.value(.approve, arguments, AgentForm.notification) }
    }

    func deny(_ id: String) async throws -> PushNotification {
        try await ask { try $0.value(.deny, [id], AgentForm.notification) }
    }

    /// Asks the agent in a thread of its own, because the reply may have to wait for the user.
    private func ask<Value: Sendable>(
        over connection: AgentConnection? = nil, _ body: @escaping @Sendable (AgentConnection) throws -> Value
    ) async throws -> Value {
        let agent = connection ?? self.agent
        let result: Result<Value, any Error> = try await Blocking.run { () throws(StoreError) in Result { try body(agent) } }
        return try result.get()
    }
}
