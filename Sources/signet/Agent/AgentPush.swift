import Foundation
import SignetAuthenticator
import SignetCore
import SignetDesktop

/// The push messages of all accounts, while the agent holds the vault unlocked.
///
/// It listens to the push streams, shows each message as a notification of the desktop, and sends the answer that the user chooses
/// there. When the vault is locked, the notifications and the streams are closed; the servers keep the messages.
struct AgentPush: Sendable {
    let vault: AgentVault
    let notices: AgentNotices

    /// The interval at which the accounts and the messages that are shown are read again, because other processes change them.
    private static let round = Duration.seconds(5)

    /// Listens whenever the vault is unlocked, until the task is canceled.
    func run() async {
        var work: Task<Void, Never>?
        for await isUnlocked in vault.states() {
            work?.cancel()
            // At once, because an answer that is being sent, or a stream that is being closed, can take seconds.
            if work != nil { await notices.closeAll() }
            await work?.value
            work = nil
            guard isUnlocked, let session = vault.session else { continue }
            work = Task { await listen(with: session) }
        }
        work?.cancel()
        await work?.value
    }

    private func listen(with session: Session) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await notices.answer { id, answer in try await send(answer, to: id, with: session) } }
            group.addTask { await follow(session) }
            // Both end with the task.
            await group.waitForAll()
        }
        // Those of messages that arrived during the end.
        await notices.closeAll()
    }

    // MARK: Listening

    /// Keeps one listener for each push mechanism.
    private func follow(_ session: Session) async {
        var (accountsFailure, messagesFailure) = (RepeatedFailure(), RepeatedFailure())
        var listeners: [String: Task<Void, Never>] = [:]
        while !Task.isCancelled {
            vault.lockUnlessCurrent()
            if let found = await accounts(of: session, &accountsFailure) {
                let mechanisms = found.flatMap { account in
                    account.mechanisms.compactMap { $0.push == nil ? nil : ($0.uid, account) }
                }
                let wanted = Dictionary(mechanisms) { first, _ in first }
                for (uid, listener) in listeners where wanted[uid] == nil {
                    listener.cancel()
                    listeners[uid] = nil
                }
                for (uid, account) in wanted where listeners[uid] == nil {
                    listeners[uid] = Task { await receive(account, uid, session) }
                }
                await closeAnswered(session, &messagesFailure)
            }
            try? await Task.sleep(for: Self.round)
        }
        for listener in listeners.values { listener.cancel() }
        for listener in listeners.values { await listener.value }
    }

    /// Returns the accounts; nil when the vault is locked, and when they cannot be read.
    private func accounts(of session: Session, _ failure: inout RepeatedFailure) async -> [EnrolledAccount]? {
        guard vault.isUnlocked else { return nil }
        do {
            let accounts = try await OpenedAuthenticator(session: session).accounts()
            failure.ends()
            return accounts
        } catch {
            // The vault was locked meanwhile.
            guard !Task.isCancelled else { return nil }
            failure.report(
                "signet: warning: the agent cannot read the accounts, and listens for no new one: \(Failure(error).message)")
            return nil
        }
    }

    private func receive(_ account: EnrolledAccount, _ mechanismUID: String, _ session: Session) async {
        do {
            try await session.online { authenticator in
                let listener = PushStreamListener(authenticator, mechanismUID: mechanismUID)
                try await listener.run(ended: { id in await notices.close(id) }) { event in
                    await report(event, of: account, at: session.now)
                }
            }
        } catch is CancellationError {
            return
        } catch {
            Console.error("signet: \(account.shownName): \(Failure(error).message); signet listens for this account no more")
        }
    }

    private func report(_ event: PushStreamListener.Event, of account: EnrolledAccount, at now: Date) async {
        switch event {
        case .connected: break
        case .received(let notification):
            // After the vault was locked, nothing is shown.
            guard notification.state(at: now) == .pending, !Task.isCancelled else { return }
            await notices.show(notification, of: account)
        case .refused(let error): Console.error("signet: \(account.shownName): refused a message: \(Failure(error).message)")
        case .disconnected(let error, let pause):
            Console.error("signet: \(account.shownName): \(Failure(error).message); next try in \(pause)")
        }
    }

    // MARK: Answers

    private func send(_ answer: PushNotice.Answer, to id: String, with session: Session) async throws {
        let presence = await notices.presence()
        try await session.online { authenticator in
            switch answer {
            case .approve: _ = try await authenticator.approve(id, presence: presence)
            case .number(let number): _ = try await authenticator.approve(id, number: number, presence: presence)
            case .deny: _ = try await authenticator.deny(id)
            }
        }
    }

    /// Closes the notifications of messages that have been answered by a process without the agent, or that have expired.
    ///
    /// Those that another device has answered are closed as soon as the server says so, and those that a command has answered
    /// through the agent at once.
    private func closeAnswered(_ session: Session, _ failure: inout RepeatedFailure) async {
        let shown = await notices.shownIDs
        guard !shown.isEmpty else { return }
        do {
            let found = try await OpenedAuthenticator(session: session).notifications()
            failure.ends()
            let pending = Set(found.filter { $0.state(at: session.now) == .pending }.map(\.id))
            for id in shown where !pending.contains(id) { await notices.close(id) }
        } catch {
            guard !Task.isCancelled else { return }
            failure.report(
                "signet: warning: the agent cannot read the messages, and closes no notification of an answered one: "
                    + "\(Failure(error).message)")
        }
    }
}
