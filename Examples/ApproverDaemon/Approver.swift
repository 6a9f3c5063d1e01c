import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// Receives the push messages of one mechanism, and answers them by the policy.
struct Approver: Sendable {
    let vault: Vault
    let account: AccountID
    let mechanismUID: String
    let policy: ApprovalPolicy

    /// Runs until the task is canceled.
    /// - Throws: The errors of `PushStreamListener.run(_:)`.
    func run() async throws {
        try await Self.withAuthenticator(for: vault) { authenticator in
            try await PushStreamListener(authenticator, mechanismUID: mechanismUID).run { event in
                switch event {
                case .connected: log("listening for \(account.issuer): \(account.accountName)")
                case .received(let notification): await answer(notification, with: authenticator)
                case .refused(let error): log("a message was refused: \(error)")
                case .disconnected(let error, let pause): log("\(error); next try in \(pause)")
                }
            }
        }
    }

    /// Runs `body` with an authenticator that has connections of its own.
    ///
    /// A push stream occupies a connection for as long as it lasts, and a transport opens only a few to one server. With one
    /// transport for all accounts, the streams of many accounts would leave no connection for the answers.
    static func withAuthenticator<R>(
        for vault: Vault, _ body: (Authenticator) async throws -> R
    ) async throws -> R {
        let transport = AsyncHTTPTransport()
        // The name and the token of a device are for enrollments only, which this program does not do.
        let authenticator = Authenticator(
            store: AccountRecords(vault), transport: transport, device: PushDevice(token: "approver", name: "approver"))
        do {
            let result = try await body(authenticator)
            await transport.close()
            return result
        } catch {
            await transport.close()
            throw error
        }
    }

    /// Answers a message, unless it was answered before or has expired.
    ///
    /// A message whose answer fails stays as it is: the login waits until it expires.
    private func answer(_ notification: PushNotification, with authenticator: Authenticator) async {
        let now = Date()
        guard notification.state(at: now) == .pending else { return }
        let decision = policy.decision(on: notification.message, of: account, at: now)
        do {
            switch decision {
            case .approve: _ = try await authenticator.approve(notification.id)
            case .deny: _ = try await authenticator.deny(notification.id)
            case .ignore: break
            }
            log("\(decision.rawValue): \(account.issuer): \(account.accountName): \(notification.message.text ?? "no text")")
        } catch {
            log("the answer '\(decision.rawValue)' was not delivered: \(error)")
        }
    }
}
