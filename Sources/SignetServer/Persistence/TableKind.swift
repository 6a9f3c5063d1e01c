/// A kind of row. Its name is stored in the database and must not change.
struct TableKind: Sendable, Hashable {
    let name: String
    /// The type of the values. The rows of every released version remain readable (``RowCoder``).
    let value: any RowValue.Type
    /// The maximum number of rows when the state is in memory. It limits the memory that unauthenticated clients can use.
    let capacity: Int

    init(_ name: String, _ value: any RowValue.Type, capacity: Int = .max) {
        self.name = name
        self.value = value
        self.capacity = capacity
    }

    static func == (one: TableKind, other: TableKind) -> Bool { one.name == other.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension TableKind {
    static let accessToken = TableKind("access-token", AccessGrant.self, capacity: 200_000)
    static let changedPerson = TableKind("changed-person", UserRecord.self)
    static let code = TableKind("code", AuthorizationCode.self, capacity: 10_000)
    static let consent = TableKind("consent", Set<String>.self)
    static let console = TableKind("console", ConsoleAccess.ConsoleSessions.self)
    static let deviceCode = TableKind("device-code", DeviceAuthorization.self, capacity: 10_000)
    static let dispatch = TableKind("dispatch", PushDispatch.self, capacity: 50_000)
    static let gatewayEndpoint = TableKind("front-endpoint", PushGatewayEndpoint.self, capacity: PushGatewayStore.mostEndpoints)
    static let gatewayInbox = TableKind("front-mailbox", PushGatewayStore.Inbox.self, capacity: PushGatewayStore.mostEndpoints)
    static let gatewayMessage = TableKind("front-message", InboxMessage.self, capacity: 50_000)
    static let grant = TableKind("grant", Grant.self, capacity: 100_000)
    static let guesses = TableKind("guesses", TokenBucket.self, capacity: 20_000)
    static let journey = TableKind("journey", JourneyState.self, capacity: 50_000)
    static let emails = TableKind("letters", SentEmails.Emails.self, capacity: 10_000)
    static let lockout = TableKind("lockout", LockoutStore.Failures.self, capacity: 20_000)
    static let inbox = TableKind("mailbox", PushMessageStore.Inbox.self, capacity: 50_000)
    static let nonce = TableKind("nonce", Bool.self, capacity: 100_000)
    static let oathDevice = TableKind("oath-device", OATHDevice.self)
    static let otherDevices = TableKind("other-devices", [OtherDevice].self)
    static let person = TableKind("person", UserRecord.self)
    static let push = TableKind("push", PendingPush.self, capacity: 50_000)
    static let pushDevice = TableKind("push-device", PushDevice.self)
    static let pushOwner = TableKind("push-owner", UserKey.self)
    static let recoveryCodes = TableKind("recovery-codes", [DeviceKind: Set<TokenHash>].self)
    static let refreshToken = TableKind("refresh-token", RefreshGrant.self, capacity: 200_000)
    static let registration = TableKind("registration", PendingRegistration.self, capacity: 50_000)
    static let session = TableKind("session", SSOSession.self, capacity: 100_000)
    static let suspendedJourney = TableKind("suspended-journey", JourneyState.self, capacity: 50_000)
    static let userCode = TableKind("user-code", TokenHash.self, capacity: 10_000)
    static let flow = TableKind("walk", LoginFlow.self, capacity: 50_000)

    static let all: [TableKind] = [
        .accessToken, .changedPerson, .code, .consent, .console, .deviceCode, .dispatch, .gatewayEndpoint, .gatewayInbox,
        .gatewayMessage, .grant, .guesses, .journey, .emails, .lockout, .inbox, .nonce, .oathDevice, .otherDevices, .person,
        .push, .pushDevice, .pushOwner, .recoveryCodes, .refreshToken, .registration, .session, .suspendedJourney, .userCode,
        .flow,
    ]
}
