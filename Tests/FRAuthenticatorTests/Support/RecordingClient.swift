import FRAuthenticator
import SignetCore

/// The content and the recorded calls of a ``RecordingClient``, which a test reads while the client belongs to an `FRAClient`.
final class ClientRecording: Sendable {
    struct Content: Sendable {
        var accounts: [String: String] = [:]
        var mechanisms: [String: String] = [:]
        var notifications: [String: String] = [:]
        var token: String?
    }

    /// The changes that fail.
    enum Fault: Sendable {
        /// The nth change from now, counted from one; if `denies`, the change is made but reported as failed.
        case change(Int, denies: Bool = false)
        /// The nth change from now, and every one after it.
        case changesFrom(Int)
    }

    private struct State {
        var content = Content()
        var calls: [String] = []
        var fault: Fault?
        var changes = 0
    }

    private let state = Mutex(State())

    var content: Content { state.withLock { $0.content } }
    var calls: [String] { state.withLock { $0.calls } }
    /// The number of changes since the last ``begin(_:)``.
    var changes: Int { state.withLock { $0.changes } }

    /// Returns another recording with the same content.
    func copy() -> ClientRecording {
        let (copy, content) = (ClientRecording(), content)
        copy.state.withLock { $0.content = content }
        return copy
    }

    /// Forgets the calls, and applies `fault` from now on.
    func begin(_ fault: Fault? = nil) {
        state.withLock { state in
            state.calls = []
            state.changes = 0
            state.fault = fault
        }
    }

    func record(_ call: String) { state.withLock { $0.calls.append(call) } }

    /// Makes a change unless it fails; a fault that denies makes the change and returns false.
    func change(_ call: String, _ body: (inout Content) -> Void) -> Bool {
        state.withLock { state in
            state.calls.append(call)
            state.changes += 1
            switch state.fault {
            case .change(let number, let denies) where number == state.changes:
                if denies { body(&state.content) }
                return false
            case .changesFrom(let number) where state.changes >= number:
                return false
            default:
                body(&state.content)
                return true
            }
        }
    }
}

/// A storage client with all methods of the ForgeRock SDK's protocol, which keeps JSON in memory.
final class RecordingClient: StorageClient {
    private let recording: ClientRecording

    init(_ recording: ClientRecording) {
        self.recording = recording
    }

    private var mechanisms: [Mechanism] {
        recording.content.mechanisms.sorted { $0.key < $1.key }.compactMap { try? Mechanisms.fromJson($0.value) }
    }

    private var notifications: [PushNotification] {
        recording.content.notifications.values.compactMap { try? PushNotification.fromJson($0) }
    }

    func setAccount(account: Account) -> Bool {
        recording.change("setAccount") { $0.accounts[account.identifier] = account.toJson() }
    }

    func removeAccount(account: Account) -> Bool {
        recording.change("removeAccount") { $0.accounts[account.identifier] = nil }
    }

    func getAccount(accountIdentifier: String) -> Account? {
        recording.record("getAccount")
        return recording.content.accounts[accountIdentifier].flatMap { try? Account.fromJson($0) }
    }

    func getAllAccounts() -> [Account] {
        recording.record("getAllAccounts")
        return recording.content.accounts.values.compactMap { try? Account.fromJson($0) }
    }

    func setMechanism(mechanism: Mechanism) -> Bool {
        recording.change("setMechanism") { $0.mechanisms[mechanism.identifier] = mechanism.toJson() }
    }

    func removeMechanism(mechanism: Mechanism) -> Bool {
        recording.change("removeMechanism") { $0.mechanisms[mechanism.identifier] = nil }
    }

    func getMechanismsForAccount(account: Account) -> [Mechanism] {
        recording.record("getMechanismsForAccount")
        return mechanisms.filter { $0.accountIdentifier == account.identifier }
    }

    func getMechanismForUUID(uuid: String) -> Mechanism? {
        recording.record("getMechanismForUUID")
        return mechanisms.first { $0.mechanismUUID == uuid }
    }

    func setNotification(notification: PushNotification) -> Bool {
        recording.change("setNotification") { $0.notifications[notification.identifier] = notification.toJson() }
    }

    func removeNotification(notification: PushNotification) -> Bool {
        recording.change("removeNotification") { $0.notifications[notification.identifier] = nil }
    }

    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        recording.record("getAllNotificationsForMechanism")
        return notifications.filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }

    func isEmpty() -> Bool {
        recording.record("isEmpty")
        let content = recording.content
        return content.accounts.isEmpty && content.mechanisms.isEmpty && content.notifications.isEmpty
    }

    func getNotification(notificationIdentifier: String) -> PushNotification? {
        recording.record("getNotification")
        return notifications.first { $0.identifier == notificationIdentifier }
    }

    func getNotificationByMessageId(messageId: String) -> PushNotification? {
        recording.record("getNotificationByMessageId")
        return notifications.first { $0.messageId == messageId }
    }

    func getAllNotifications() -> [PushNotification] {
        recording.record("getAllNotifications")
        return notifications
    }

    func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool {
        recording.change("setPushDeviceToken") { $0.token = pushDeviceToken.toJson() }
    }

    func getPushDeviceToken() -> PushDeviceToken? {
        recording.record("getPushDeviceToken")
        return recording.content.token.flatMap { try? PushDeviceToken.fromJson($0) }
    }

    func removePushDeviceToken() -> Bool {
        recording.change("removePushDeviceToken") { $0.token = nil }
    }
}
