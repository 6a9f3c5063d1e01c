import SignetPushGateway

/// A kind of row.
///
/// The raw value is stored in the database and must not change.
enum RowKind: String, Sendable, CaseIterable {
    case accessToken = "access-token"
    case backchannelRequest = "backchannel-request"
    case changedUser = "changed-person"
    case code
    case consent
    case console
    case deviceCode = "device-code"
    case dispatch
    case emails = "letters"
    case gatewayEndpoint = "front-endpoint"
    case gatewayInbox = "front-mailbox"
    case gatewayMessage = "front-message"
    case grant
    case guesses
    case journey
    case lockout
    case loginFlow = "walk"
    case logoutDelivery = "logout-delivery"
    case inbox = "mailbox"
    case nonce
    case oathDevice = "oath-device"
    case otherDevices = "other-devices"
    case push
    case pushDevice = "push-device"
    case pushOwner = "push-owner"
    case pushedRequest = "pushed-request"
    case recoveryCodes = "recovery-codes"
    case refreshToken = "refresh-token"
    case registration
    /// The server's own rows: the check of its key, the clock's setting and the signing keys.
    case server
    case session
    case suspendedJourney = "suspended-journey"
    case usedTokenID = "used-token-id"
    case user = "person"
    case userCode = "user-code"

    /// The type of the values; nil for ``server``, whose rows have different types.
    ///
    /// The rows of every released version remain readable (``RowCoder``).
    var valueType: (any RowValue.Type)? {
        switch self {
        case .accessToken: AccessGrant.self
        case .backchannelRequest: BackchannelRequest.self
        case .changedUser, .user: UserRecord.self
        case .code: AuthorizationCode.self
        case .consent: Set<String>.self
        case .console: ConsoleAccess.ConsoleSessions.self
        case .deviceCode: DeviceAuthorization.self
        case .dispatch: PushDispatch.self
        case .emails: SentEmails.Emails.self
        case .gatewayEndpoint: PushGatewayEndpoint.self
        case .gatewayInbox: PushGatewayStore.Inbox.self
        case .gatewayMessage: InboxMessage.self
        case .grant: Grant.self
        case .guesses: TokenBucket.self
        case .journey, .suspendedJourney: JourneyState.self
        case .lockout: LockoutStore.Failures.self
        case .loginFlow: LoginFlow.self
        case .logoutDelivery: LogoutDelivery.self
        case .inbox: PushMessageStore.Inbox.self
        case .nonce: Bool.self
        case .oathDevice: OATHDevice.self
        case .otherDevices: [OtherDevice].self
        case .push: PushMessageRecord.self
        case .pushDevice: PushDevice.self
        case .pushOwner: UserKey.self
        case .pushedRequest: PushedRequest.self
        case .recoveryCodes: [DeviceKind: Set<TokenHash>].self
        case .refreshToken: RefreshGrant.self
        case .registration: PendingRegistration.self
        case .server: nil
        case .session: SSOSession.self
        case .usedTokenID: Bool.self
        case .userCode: TokenHash.self
        }
    }

    /// The maximum number of rows when the state is in memory.
    ///
    /// It limits the memory that unauthenticated clients can use.
    var capacity: Int {
        switch self {
        case .accessToken, .refreshToken: 200_000
        case .gatewayEndpoint, .gatewayInbox: PushGatewayStore.maxEndpoints
        case .grant, .nonce, .session, .usedTokenID: 100_000
        case .dispatch, .gatewayMessage, .journey, .loginFlow, .logoutDelivery, .inbox, .push, .registration, .suspendedJourney:
            50_000
        case .guesses, .lockout: 20_000
        case .backchannelRequest, .code, .deviceCode, .emails, .pushedRequest, .userCode: 10_000
        case .changedUser, .consent, .console, .oathDevice, .otherDevices, .pushDevice, .pushOwner, .recoveryCodes, .server,
            .user:
            .max
        }
    }

    /// True when most rows are removed, or expire, soon after they were written.
    var isShortLived: Bool {
        switch self {
        case .backchannelRequest, .code, .deviceCode, .dispatch, .gatewayMessage, .guesses, .inbox, .journey, .loginFlow,
            .logoutDelivery, .nonce, .push, .pushedRequest, .registration, .suspendedJourney, .usedTokenID, .userCode:
            true
        case .accessToken, .changedUser, .consent, .console, .emails, .gatewayEndpoint, .gatewayInbox, .grant, .lockout,
            .oathDevice, .otherDevices, .pushDevice, .pushOwner, .recoveryCodes, .refreshToken, .server, .session, .user:
            false
        }
    }

    /// The maximum number of rows when the state is a file; nil for no maximum.
    ///
    /// It limits the kinds that unauthenticated clients can fill. Sessions, tokens, lockouts and devices are never displaced there.
    var fileCapacity: Int? {
        switch self {
        case .deviceCode, .emails, .journey, .loginFlow, .pushedRequest, .suspendedJourney, .userCode: capacity
        default: nil
        }
    }
}

extension RowKey {
    /// True for the rows that the beginning of a login writes: the journey, the login flow and the count of flows.
    var isOfBeginningLogin: Bool {
        kind == RowKind.journey.rawValue || kind == RowKind.loginFlow.rawValue || LoginFlowLimiter.isCount(self)
    }
}
