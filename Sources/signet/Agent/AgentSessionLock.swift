import Foundation
import SignetCore
import SignetDesktop

/// Locks the vault of the agent when the session is locked or ends, and before the machine sleeps (logind).
struct AgentSessionLock: Sendable {
    let vault: AgentVault
    let environment: [String: String]

    /// The time after which a system bus that was not there is looked for again.
    private static let pause = Duration.seconds(60)

    /// The longest time that sleep waits for operations that hold the keys.
    ///
    /// logind waits for five seconds.
    private static let sleepDelay = Duration.seconds(4)

    /// Follows the session until the task is canceled.
    func run() async {
        var isReported = false
        while !Task.isCancelled {
            do throws(DBusError) {
                let bus = try await DBusConnection.open(try DBusAddress.system(in: environment))
                let session = try await LoginSession.start(
                    bus, sessionID: environment["XDG_SESSION_ID"], processID: UInt32(getpid()), userID: getuid())
                for await event in session.events { await take(event, session) }
                await session.stop()
            } catch {
                if !isReported {
                    Console.error("signet: warning: the vault is not locked with the session or before sleep: \(error.reason)")
                }
                isReported = true
            }
            try? await Task.sleep(for: Self.pause)
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
