import FRCore
import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

@testable import FRAuthenticator

/// The operations of an app's user in one API family, so that one set of cases tests both families.
///
/// Every failure is an ``APIError``.
protocol Family: Sendable {
    /// Returns the number of messages that the family keeps for a mechanism that received `count`.
    func kept(of count: Int) -> Int
    /// Returns the objects that the family lists.
    func listed() async throws -> Listing
    func enroll(_ uri: String) async throws
    func code(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws -> String
    /// Receives a message, and returns the id of its notification.
    func receive(_ delivery: PushDelivery) async throws -> String
    func approve(_ id: String, number: Int?) async throws
    func deny(_ id: String) async throws
    func rename(_ account: AccountID, to issuer: String) async throws
    func lock(_ account: AccountID, policy: String) async throws
    func unlock(_ account: AccountID) async throws
    func remove(_ account: AccountID) async throws
    /// Removes a mechanism; its account stays.
    func remove(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws
    func remove(notification id: String) async throws
    /// Stores the device token, and sends it to servers unless it is the first one.
    func take(token: String) async throws
    /// Returns the stored device token.
    func token() async throws -> String?
}

/// The objects that a family lists: accounts with display names and lock reasons, mechanisms and notifications.
struct Listing: Equatable {
    var accounts: [String] = []
    var mechanisms: [String] = []
    var notifications: [String] = []
}

/// The reason for a failure, in terms common to both families.
enum APIError: Error, Hashable {
    case duplicate, policyViolation, locked, alreadyLocked, notLocked, invalidPolicy, notPending, lacking, forged, unknown
    case noToken, store, network
    case other(String)

    /// Runs `body`, and translates its error to the common one.
    static func translating<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch {
            throw APIError(error)
        }
    }

    private init(_ error: any Error) {
        self =
            switch error {
            case let refusal as APIError: refusal
            case let error as AuthenticatorError: APIError(modern: error)
            case is StoreError, is FRAError: .store
            case is TransportError, is NetworkError: .network
            case let error as PushMessageError where error.code == .signature: .forged
            case CryptoError.invalidJWT: .forged
            case let error as MechanismError: APIError(legacy: error)
            case let error as AccountError: APIError(legacy: error)
            case let error as PushNotificationError: APIError(legacy: error)
            default: .other("\(error)")
            }
    }

    private init(modern error: AuthenticatorError) {
        self =
            switch error.code {
            case .duplicateMechanism: .duplicate
            case .policyViolation: .policyViolation
            case .accountLocked: .locked
            case .alreadyLocked: .alreadyLocked
            case .notLocked: .notLocked
            case .invalidPolicy: .invalidPolicy
            case .alreadyAnswered, .expired: .notPending
            case .wrongNumber, .presenceRefused, .invalidName: .lacking
            case .unknownAccount, .unknownMechanism, .unknownNotification: .unknown
            case .registeredNotStored: .store
            case .refusedByServer, .serverMisbehaved, .notSupported: .network
            default: .other(error.description)
            }
    }

    private init(legacy error: MechanismError) {
        self =
            switch error {
            case .alreadyExists: .duplicate
            case .failedToUpdateInformation: .store
            case .invalidInformation: .lacking
            default: .other(error.description)
            }
    }

    private init(legacy error: AccountError) {
        self =
            switch error {
            case .failToRegisterPolicyViolation: .policyViolation
            case .accountLocked: .locked
            case .failToLockAccountAlreadyLocked: .alreadyLocked
            case .failToUnlockAccountNotLocked: .notLocked
            case .failToLockInvalidPolicy, .failToLockMissingPolicyName: .invalidPolicy
            }
    }

    private init(legacy error: PushNotificationError) {
        self =
            switch error {
            case .missingDeviceToken: .noToken
            case .notificationInvalidStatus: .notPending
            case .storageError: .unknown
            case .updateFailed: .network
            }
    }
}

/// A user presence check that recognizes every user, for either family.
struct Recognized: UserPresence, FRAUserPresence {
    func confirm(_ notification: SignetCore.PushNotification) async throws {}
    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {}
}

/// The family of `Authenticator`.
struct ModernFamily: Family {
    private static let maxNotifications = 3
    private let authenticator: Authenticator

    init(_ kind: StoreKind, _ transport: any HTTPTransport, _ clock: any WallClock) {
        authenticator = Authenticator(
            store: ClientStore(kind), transport: transport, device: PushDevice(token: "unused", name: "Mira's laptop"),
            clock: clock,
            retention: .newest(Self.maxNotifications))
    }

    func kept(of count: Int) -> Int { min(count, Self.maxNotifications) }

    func listed() async throws -> Listing {
        try await APIError.translating {
            var listing = Listing()
            for enrolled in try await authenticator.accounts() {
                let account = enrolled.account
                listing.accounts.append(
                    [account.id.legacyIdentifier, account.displayIssuer ?? account.id.issuer, enrolled.lock?.policy ?? "free"]
                        .joined(separator: "|"))
                listing.mechanisms += enrolled.mechanisms.map { "\($0.uid) \($0.kindName.rawValue)" }
            }
            listing.notifications = try await authenticator.notifications().map {
                "\($0.id) \($0.decision?.rawValue ?? "pending")"
            }.sorted()
            return listing
        }
    }

    func enroll(_ uri: String) async throws {
        try await APIError.translating {
            if try EnrollmentURI.parse(uri).push != nil,
                try await authenticator.deviceToken() == nil
            {
                throw APIError.noToken
            }
            _ = try await authenticator.enroll(uri: uri)
        }
    }

    func code(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws -> String {
        try await APIError.translating { try await authenticator.code(for: mechanism(kind, of: account).uid).digits }
    }

    private func mechanism(
        _ kind: SignetCore.Mechanism.KindName, of account: AccountID
    ) async throws -> SignetCore.Mechanism {
        guard let found = try await authenticator.account(account)?.mechanisms.first(where: { $0.kindName == kind }) else {
            throw APIError.unknown
        }
        return found
    }

    func receive(_ delivery: PushDelivery) async throws -> String {
        try await APIError.translating { try await authenticator.receive(delivery).id }
    }

    func approve(_ id: String, number: Int?) async throws {
        try await APIError.translating { _ = try await authenticator.approve(id, number: number, presence: Recognized()) }
    }

    func deny(_ id: String) async throws {
        try await APIError.translating { _ = try await authenticator.deny(id) }
    }

    func rename(_ account: AccountID, to issuer: String) async throws {
        try await APIError.translating {
            _ = try await authenticator.rename(account, displayIssuer: issuer, displayAccountName: nil)
        }
    }

    func lock(_ account: AccountID, policy: String) async throws {
        try await APIError.translating { _ = try await authenticator.lock(account, policy: policy) }
    }

    func unlock(_ account: AccountID) async throws {
        try await APIError.translating { _ = try await authenticator.unlock(account) }
    }

    func remove(_ account: AccountID) async throws {
        try await APIError.translating { try wasThere(await authenticator.removeAccount(account)) }
    }

    func remove(_ kind: SignetCore.Mechanism.KindName, of account: AccountID) async throws {
        try await APIError.translating {
            try wasThere(await authenticator.removeMechanism(mechanism(kind, of: account).uid, keepingAccount: true))
        }
    }

    private func wasThere(_ wasThere: Bool) throws { if !wasThere { throw APIError.unknown } }

    func remove(notification id: String) async throws {
        try await APIError.translating { try wasThere(await authenticator.removeNotification(id)) }
    }

    func take(token: String) async throws {
        try await APIError.translating {
            for update in try await authenticator.updateDeviceToken(token) {
                switch update.outcome {
                case .done, .unchanged: continue
                case .notSupported, .refused, .retryable: throw APIError.network
                }
            }
        }
    }

    func token() async throws -> String? {
        try await APIError.translating { try await authenticator.deviceToken()?.token }
    }
}
