import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts and push messages of the vault, as commands use them: of a vault that the command has opened, or of the agent.
///
/// The mechanisms of an account have their secrets only in an opened vault. A command that needs a secret opens the vault.
protocol VaultAuthenticator: Sendable {
    /// Returns the same accounts for a view, which asks for the current codes again and again. The user consents to it once.
    func forView() -> any VaultAuthenticator

    /// True when ``approve(_:number:presence:)`` checks the user's presence itself and does not use its parameter.
    var checksPresence: Bool { get }

    /// Returns all accounts.
    ///
    /// A note has its text only in an opened vault; from the agent it is empty.
    func accounts() async throws -> [EnrolledAccount]

    /// Returns all accounts, with the texts of their notes.
    ///
    /// An agent that asks for each use asks the user first, when an account has a note.
    func accountsWithNotes() async throws -> [EnrolledAccount]

    /// Returns the accounts with a name, or a mechanism's ID, that differs from a text at most by case, without reading the others.
    /// - Parameter text: The text that the user typed.
    /// - Returns: The accounts; nil when only ``accounts()`` can tell.
    /// - Throws: The errors of ``accounts()``.
    func accounts(called text: String) async throws -> [EnrolledAccount]?

    /// Returns the records that ``accounts()`` and ``notifications()`` leave out, because they cannot be read.
    func damagedRecords() async throws -> [DamagedRecord]

    /// Returns the code of a mechanism.
    ///
    /// A counter-based code is used up. The next period is possible for a time-based code only.
    func code(for mechanismUID: String, period: AccountCodes.Period) async throws -> OneTimeCode

    /// Returns the current codes of all time-based mechanisms whose accounts are not locked, by the ID of the mechanism.
    func currentCodes() async throws -> [String: OneTimeCode]

    /// Returns all push messages.
    func notifications() async throws -> [PushNotification]

    /// Answers a push message with yes.
    /// - Parameters:
    ///   - id: The ID of the message.
    ///   - number: The number that the login page shows, for a message that asks for it.
    ///   - presence: Confirms a message that asks for biometric approval, unless ``checksPresence`` is true.
    /// - Returns: The answered message.
    /// - Throws: The errors of `Authenticator.approve(_:number:presence:)`.
    func approve(_ id: String, number: Int?, presence: any UserPresence) async throws -> PushNotification

    /// Answers a push message with no, and returns it.
    func deny(_ id: String) async throws -> PushNotification
}

extension VaultAuthenticator {
    /// Returns nil, for accounts without an index of names.
    func accounts(called text: String) async throws -> [EnrolledAccount]? { nil }
}

/// The accounts of a vault that this process has opened.
struct OpenedAuthenticator: VaultAuthenticator {
    let session: Session
    /// Called in the transaction that uses up a counter, right before the new counter is saved.
    ///
    /// With an error the counter stays as it was.
    var permitCounter: @Sendable () throws -> Void = {}

    func forView() -> any VaultAuthenticator { self }

    var checksPresence: Bool { false }

    func accounts() async throws -> [EnrolledAccount] { try await session.offline { try await $0.accounts() } }

    func accountsWithNotes() async throws -> [EnrolledAccount] { try await accounts() }

    func accounts(called text: String) async throws -> [EnrolledAccount]? {
        try await session.offline { try await $0.accounts(called: text) }
    }

    func damagedRecords() async throws -> [DamagedRecord] { try await session.offline { try await $0.damagedRecords() } }

    func code(for mechanismUID: String, period: AccountCodes.Period) async throws -> OneTimeCode {
        try await session.offline { authenticator in
            guard period == .next else { return try await authenticator.code(for: mechanismUID, permit: permitCounter) }
            let mechanisms = try await authenticator.accounts().flatMap(\.mechanisms)
            guard let settings = mechanisms.first(where: { $0.uid == mechanismUID })?.oath, case .time = settings.factor else {
                throw Failure(
                    .badInput, "next", "the codes of a counter have no period; 'signet code' uses up one after the other")
            }
            // This refuses a locked account.
            let current = try await authenticator.code(for: mechanismUID)
            guard case .time(_, let end) = current.basis else { return current }
            return settings.code(at: end)
        }
    }

    func currentCodes() async throws -> [String: OneTimeCode] {
        let now = session.now
        var codes: [String: OneTimeCode] = [:]
        for account in try await accounts() where account.lock == nil {
            for mechanism in account.mechanisms {
                guard let settings = mechanism.oath, case .time = settings.factor else { continue }
                codes[mechanism.uid] = settings.code(at: now)
            }
        }
        return codes
    }

    func notifications() async throws -> [PushNotification] { try await session.offline { try await $0.notifications() } }

    func approve(_ id: String, number: Int?, presence: any UserPresence) async throws -> PushNotification {
        try await session.online { try await $0.approve(id, number: number, presence: presence) }
    }

    func deny(_ id: String) async throws -> PushNotification { try await session.online { try await $0.deny(id) } }
}
