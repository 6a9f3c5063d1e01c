import Foundation
import SignetCore
import SignetDesktop

/// Locks the vault of the agent when the session is locked or ends, and before the machine sleeps (logind).
struct AgentSessionLock: Sendable {
    let vault: AgentVault
    let environment: [String: String]

    /// The longest time that sleep waits for operations that hold the keys.
    ///
    /// logind waits for five seconds.
    private static let sleepDelay = Duration.seconds(4)

    /// Follows the session until the task is canceled.
    ///
    /// A system bus that ends, or is not there, is looked for again. Standard error has one line for each loss.
    func run() async {
        var (failure, pause) = (RepeatedFailure(), ReconnectPause())
        while !Task.isCancelled {
            var start: ContinuousClock.Instant?
            do throws(DBusError) {
                let bus = try await DBusConnection.open(try DBusAddress.system(in: environment))
                let session = try await LoginSession.start(
                    bus, sessionID: environment["XDG_SESSION_ID"], processID: UInt32(getpid()), userID: getuid())
                if failure.ends() { Console.error("signet: the vault is locked with the session and before sleep again") }
                start = .now
                for await event in session.events { await take(event, session) }
                await session.stop()
                guard !Task.isCancelled else { return }
                throw DBusError(.closed, "the system bus has ended")
            } catch {
                // The agent itself canceled the connection, because it ends.
                guard !Task.isCancelled else { return }
                failure.report("signet: warning: the vault is not locked with the session or before sleep: \(error.reason)")
            }
            try? await Task.sleep(for: pause.next(after: start.map { ContinuousClock.now - $0 }))
        }
    }

    private func take(_ event: SessionLockEvent, _ session: LoginSession) async {
        switch event {
        case .lock, .shutdown: vault.lock(.session)
        case .sleep:
            await vault.lock(.session, waiting: Self.sleepDelay)
            await session.readyToSleep()
        // The session may still be locked.
        case .wake: break
        // A vault with a passphrase stays locked until a command asks for the passphrase.
        case .unlock:
            if vault.lockReason == .session { _ = await vault.unlockUnattended() }
        }
    }
}
