import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The one-time codes of the accounts in a vault.
///
/// Commands that show codes read them only here.
struct AccountCodes: Sendable {
    /// The kinds of mechanisms that make codes.
    static let kinds: Set<Mechanism.KindName> = Set(Mechanism.KindName.allCases).subtracting([.push])

    let authenticator: any VaultAuthenticator
    private let clock = SystemWallClock()

    /// Creates a value for the accounts of a vault.
    init(_ authenticator: any VaultAuthenticator) { self.authenticator = authenticator }

    /// The current time.
    var now: Date { clock.now }

    /// A code with the account and the mechanism that it belongs to.
    struct Found {
        let selection: Selection
        let code: OneTimeCode
    }

    /// The period of a time-based code.
    enum Period: String {
        case current, next
    }

    /// Finds a mechanism by a name and returns its code.
    ///
    /// A counter-based code is used up when this returns.
    /// - Parameters:
    ///   - name: The name that the user gave.
    ///   - kinds: The kinds of mechanisms.
    ///   - period: The period of the code. A counter has no periods, so only `current` is possible for it.
    ///   - asks: True to let the user pick the account at the terminal when the name is not clear.
    /// - Returns: The code.
    /// - Throws: The errors of ``Selection/choose(_:kinds:with:asks:)`` and of `Authenticator.code(for:)`; ``Failure`` for the next
    ///   code of a counter.
    func code(
        _ name: String, _ kinds: Set<Mechanism.KindName> = AccountCodes.kinds, period: Period = .current, asks: Bool
    ) async throws -> Found {
        let selection = try await selection(name, kinds, asks: asks)
        if period == .next, case .counter = selection.mechanism.oath?.factor {
            throw Failure(
                .badInput, "next",
                "\(selection.title): the codes of a counter have no period; 'signet code' uses up one after the other")
        }
        return Found(
            selection: selection, code: try await authenticator.code(for: selection.mechanism.uid, period: period))
    }

    /// Finds a mechanism by a name, without its code.
    /// - Parameters:
    ///   - name: The name that the user gave.
    ///   - kinds: The kinds of mechanisms.
    ///   - asks: True to let the user pick the account at the terminal when the name is not clear.
    /// - Returns: The mechanism.
    /// - Throws: The errors of ``Selection/choose(_:kinds:with:asks:)``.
    func selection(_ name: String, _ kinds: Set<Mechanism.KindName>, asks: Bool) async throws -> Selection {
        try await Selection.choose(name, kinds: kinds, with: authenticator, asks: asks)
    }

    /// Returns the current code of a mechanism that was found before.
    /// - Throws: The errors of `Authenticator.code(for:)`.
    func code(of selection: Selection) async throws -> OneTimeCode {
        try await authenticator.code(for: selection.mechanism.uid, period: .current)
    }

    /// Returns the accounts that make codes, with their current codes.
    ///
    /// No counter is used.
    /// - Parameter query: A text that is similar to a name of each account; nil for all accounts.
    /// - Returns: The entries, the most similar first, and the records that cannot be read.
    /// - Throws: `StoreError`.
    func list(matching query: String?) async throws -> (entries: [CodeEntry], damaged: [DamagedRecord]) {
        let (accounts, damaged) = (try await authenticator.accounts(), try await authenticator.damagedRecords())
        let found = query.map { NameMatch.ranked(accounts, by: $0, \.names).map(\.candidate) } ?? accounts
        let codes = try await authenticator.currentCodes()
        let entries = found.flatMap { account in
            account.mechanisms.compactMap { CodeEntry(account: account, mechanism: $0, code: codes[$0.uid]) }
        }
        return (entries, damaged.filter { $0.kind == .account || $0.kind == .mechanism })
    }
}

/// A mechanism that makes codes, as `signet codes` lists it.
struct CodeEntry: Sendable, Hashable {
    /// The part of an entry that depends on the mechanism and the time.
    enum Content: Sendable, Hashable {
        /// The current time-based code.
        case code(OneTimeCode)
        /// The counter of the next code.
        case counter(UInt64)
        /// The machine of this name generates the codes of the counter.
        case elsewhere(owner: String)
        /// The account is locked, and so makes no codes.
        case locked
    }

    let id: AccountID
    let shownIssuer: String
    let shownAccountName: String
    /// The kind of the mechanism: `totp` or `hotp`.
    let type: String
    let content: Content

    /// Creates the entry of a mechanism with its current code, if it is time-based; nil when it makes no codes.
    init?(account: EnrolledAccount, mechanism: Mechanism, code: OneTimeCode?) {
        guard let settings = mechanism.oath else { return nil }
        let content: Content
        if account.lock != nil {
            content = .locked
        } else if let owner = mechanism.counterOwner {
            content = .elsewhere(owner: owner)
        } else if case .counter(let next) = settings.factor {
            content = .counter(next)
        } else {
            // An account that was enrolled or unlocked between two reads has no code yet.
            guard let code else { return nil }
            content = .code(code)
        }
        self.init(
            id: account.account.id, shownIssuer: account.shownIssuer, shownAccountName: account.shownAccountName,
            type: mechanism.kindName.rawValue, content: content)
    }

    /// Creates an entry from its parts.
    init(id: AccountID, shownIssuer: String, shownAccountName: String, type: String, content: Content) {
        self.id = id
        self.shownIssuer = shownIssuer
        self.shownAccountName = shownAccountName
        self.type = type
        self.content = content
    }

    /// Returns true when the code of the entry is valid at `date`, and for an entry without a code.
    func isCurrent(at date: Date) -> Bool {
        if case .code(let code) = content { code.isValid(at: date) } else { true }
    }

    /// The entry as JSON, with the names of `signet code --json`.
    func json(at date: Date) -> JSONValue {
        var members: [String: JSONValue] = [
            "issuer": .string(id.issuer), "account": .string(id.accountName), "type": .string(type),
        ]
        switch content {
        case .code(let code):
            members["code"] = .string(code.digits)
            members.merge(code.validity(at: date)) { first, _ in first }
        case .counter(let next): members["counter"] = .integer(Int64(clamping: next))
        case .elsewhere(let owner): members["counterOwner"] = .string(owner)
        case .locked: members["locked"] = .bool(true)
        }
        return .object(members)
    }
}

extension OneTimeCode {
    /// The validity at `date` as members of JSON: `validUntil` and `secondsLeft`, and `validFrom` when the code is not valid yet;
    /// or `counter`.
    func validity(at date: Date) -> [String: JSONValue] {
        switch basis {
        case .counter(let counter): return ["counter": .integer(Int64(clamping: counter))]
        case .time(let start, let end):
            var members: [String: JSONValue] = ["validUntil": .string(end.text)]
            members["secondsLeft"] = secondsLeft(at: date).map { .integer(Int64($0)) }
            if start > date { members["validFrom"] = .string(start.text) }
            return members
        }
    }
}
