import Foundation
import SignetAuthenticator
import SignetCore
import SignetDesktop

/// The notifications that the agent shows on the desktop.
///
/// Without a session bus, as on a server, it prints one line for each message on standard error, which systemd keeps in its log.
actor AgentNotices {
    private let environment: [String: String]
    private var notifications: DesktopNotifications?
    private var shown: [String: Shown] = [:]
    /// The failure to reach the session bus.
    private var busFailure = RepeatedFailure()

    /// A message that is shown.
    private struct Shown {
        let notification: PushNotification
        let account: EnrolledAccount
        /// True after the user dismissed the notification: the message still waits, and a command can answer it.
        var isDismissed = false
    }

    /// Creates the notifications of the desktop whose session bus the environment names.
    ///
    /// Nothing is connected yet.
    init(_ environment: [String: String]) { self.environment = environment }

    /// The IDs of the messages that are shown.
    var shownIDs: Set<String> { Set(shown.keys) }

    /// Shows a message, unless it is shown already.
    func show(_ notification: PushNotification, of account: EnrolledAccount) async {
        guard shown[notification.id] == nil else { return }
        let entry = Shown(notification: notification, account: account)
        shown[notification.id] = entry
        await present(entry)
    }

    private func present(_ entry: Shown) async {
        let (notification, account) = (entry.notification, entry.account)
        let connected = await connected()
        // The message may have been answered meanwhile, and the vault locked.
        guard shown[notification.id] != nil, !Task.isCancelled else { return }
        guard let notifications = connected else { return printLine(notification, of: account) }
        let notice = PushNotice(
            for: notification, issuer: account.account.displayIssuer ?? account.account.id.issuer,
            accountName: account.account.displayAccountName ?? account.account.id.accountName)
        do throws(DBusError) {
            try await notifications.show(notice, for: notification.id)
            guard shown[notification.id] != nil else { return await notifications.close(notification.id) }
            // It appears when a program that shows notifications starts.
            if await notifications.server == nil { printLine(notification, of: account) }
        } catch {
            guard !Task.isCancelled else { return }
            Console.error("signet: a notification cannot be shown: \(error.reason)")
            printLine(notification, of: account)
        }
    }

    /// Closes the notification of a message.
    func close(_ id: String) async {
        shown[id] = nil
        await notifications?.close(id)
    }

    /// Closes all notifications, and the connection to the session bus.
    func closeAll() async {
        let closing = notifications
        (notifications, shown) = (nil, [:])
        await closing?.stop()
    }

    /// Sends the answers that the user chooses on the desktop, until the task is canceled.
    /// - Parameter send: Sends an answer to the message with an ID.
    func answer(_ send: @Sendable (String, PushNotice.Answer) async throws -> Void) async {
        while !Task.isCancelled {
            if let events = await connected()?.events {
                for await event in events { await take(event, send) }
                // A canceled task has ended the stream, and its caller closes the notifications.
                guard !Task.isCancelled else { return }
                // The session bus has ended.
                notifications = nil
                for entry in shown.values where !entry.isDismissed { await present(entry) }
            }
            try? await Task.sleep(for: .seconds(5))
        }
    }

    private func take(
        _ event: DesktopNotifications.Event, _ send: @Sendable (String, PushNotice.Answer) async throws -> Void
    ) async {
        switch event {
        case .closed(let id, .dismissed): shown[id]?.isDismissed = true
        case .closed(let id, _): shown[id] = nil
        case .answered(let id, let answer):
            do {
                try await send(id, answer)
                shown[id] = nil
            } catch {
                // The message still waits, so its notification is shown again.
                Console.error("signet: the answer to \(id.prefix(8)) was not accepted: \(Failure(error).message)")
                if let entry = shown[id] { await present(entry) }
            }
        }
    }

    /// Returns the check of the user's presence for a biometric message, by polkit; nil without a system bus.
    func presence() async -> (any UserPresence)? {
        guard let address = try? DBusAddress.system(in: environment), let bus = try? await DBusConnection.open(address) else {
            return nil
        }
        return PolkitPresence(bus)
    }

    private func connected() async -> DesktopNotifications? {
        if let notifications { return notifications }
        guard let started = await started() else { return nil }
        // Another call may have connected meanwhile.
        if let notifications {
            await started.stop()
            return notifications
        }
        notifications = started
        return started
    }

    /// Connects to the session bus.
    /// - Returns: The notifications; nil without a bus, for a reason that standard error has once for each loss.
    private func started() async -> DesktopNotifications? {
        do throws(DBusError) {
            let bus = try await DBusConnection.open(try DBusAddress.session(in: environment))
            let started = try await DesktopNotifications.start(bus)
            if busFailure.ends() { Console.error("signet: push messages are shown as notifications again") }
            return started
        } catch {
            // The agent itself canceled the connection: the vault is locked, or the agent ends.
            guard !Task.isCancelled else { return nil }
            busFailure.report("signet: push messages are printed here, not shown as notifications: \(error.reason)")
            return nil
        }
    }

    private func printLine(_ notification: PushNotification, of account: EnrolledAccount) {
        Console.error(NotificationDescription(notification, of: [account], at: SystemWallClock().now).line(json: false))
    }
}
