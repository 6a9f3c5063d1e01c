import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts of a vault that a command has opened, with their codes.
struct VaultAuthenticator: Sendable {
    let session: Session

    /// Returns all accounts.
    func accounts() async throws -> [EnrolledAccount] { try await session.offline { try await $0.accounts() } }

    /// Returns the records that ``accounts()`` leaves out, because they cannot be read.
    func damagedRecords() async throws -> [DamagedRecord] { try await session.offline { try await $0.damagedRecords() } }

    /// Returns the code of a mechanism.
    ///
    /// A counter-based code is used up. The next period is possible for a time-based code only.
    func code(for mechanismUID: String, period: AccountCodes.Period) async throws -> OneTimeCode {
        try await session.offline { authenticator in
            guard period == .next else { return try await authenticator.code(for: mechanismUID) }
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

    /// Returns the current codes of all time-based mechanisms whose accounts are not locked, by the ID of the mechanism.
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
}
