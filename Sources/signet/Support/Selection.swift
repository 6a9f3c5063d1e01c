import AgentWire
import SignetAuthenticator
import SignetCore
import SignetStorage

/// An account and a mechanism, found by the name that the user gave.
struct Selection {
    let account: EnrolledAccount
    let mechanism: Mechanism

    /// Finds the mechanism of one of `kinds` by a name: the account's name, its issuer, `issuer:account` as enrolled or as
    /// displayed, or the mechanism's ID.
    ///
    /// Case matters only if names differ by case alone. Without a name, only one mechanism may exist.
    /// - Throws: ``Failure`` when no mechanism or several mechanisms match.
    static func find(
        _ name: String?, kinds: Set<Mechanism.KindName>, in accounts: [EnrolledAccount]
    ) throws -> Selection {
        let candidates = accounts.flatMap { account in
            account.mechanisms.filter { kinds.contains($0.kindName) }.map { Selection(account: account, mechanism: $0) }
        }
        let matches = name.map { same(candidates, called: $0, \.names) } ?? candidates
        let purpose = kinds == [.push] ? "takes push messages" : "makes codes"
        if let name, matches.isEmpty {
            let able = accounts.filter { account in account.mechanisms.contains { kinds.contains($0.kindName) } }
            throw missing("no account called '\(name)' \(purpose)", name, similarIn: able)
        }
        return try matches.only(
            orMissing: "no account here \(purpose)",
            orSeveral: "several mechanisms match; give issuer:account, and the kind with --type",
            name: \.title)
    }

    /// Finds the mechanism of one of `kinds` by a name in the store of an authenticator.
    ///
    /// Accounts and mechanisms that cannot be read matter only when nothing matches: the mechanism may be one of them.
    /// - Throws: ``Failure`` when no mechanism or several mechanisms match. Without a match its exit code is 74 when there are
    ///   accounts or mechanisms that cannot be read. `StoreError`.
    static func find(
        _ name: String?, kinds: Set<Mechanism.KindName>, with authenticator: any VaultAuthenticator
    ) async throws -> Selection {
        if let name, let found = try await findCalled(name, kinds: kinds, with: authenticator) { return found }
        do {
            return try find(name, kinds: kinds, in: try await authenticator.accounts())
        } catch let failure as Failure {
            guard failure.exit == .notFound else { throw failure }
            let damaged = try await authenticator.damagedRecords()
            let damagedCount = damaged.filter { $0.kind == .account || $0.kind == .mechanism }.count
            guard damagedCount > 0 else { throw failure }
            let damage = "\(damagedCount.of("record")) cannot be read, and the account may be there: see 'signet accounts'"
            throw Failure(.store, "damagedRecords", "\(failure.reason); \(damage)")
        }
    }

    /// Finds the mechanism of one of `kinds` by a name among the accounts that the index of names finds.
    ///
    /// The result is that of a search in all accounts: the index finds each account with a matching name.
    /// - Throws: ``Failure`` when several mechanisms match. `StoreError`.
    /// - Returns: The mechanism; nil when only all accounts tell, also for the error for a name that no account has.
    private static func findCalled(
        _ name: String, kinds: Set<Mechanism.KindName>, with authenticator: any VaultAuthenticator
    ) async throws -> Selection? {
        guard let accounts = try await authenticator.accounts(called: name) else { return nil }
        do {
            return try find(name, kinds: kinds, in: accounts)
        } catch let failure as Failure {
            guard failure.exit == .notFound else { throw failure }
            return nil
        }
    }

    /// Finds the mechanism of one of `kinds` by a name as ``find(_:kinds:with:)`` does, and lets the user pick one at the terminal
    /// when the name is ambiguous or only similar to names.
    ///
    /// Without a user to ask, a script never gets the code of another account because of a mistyped name.
    /// - Parameters:
    ///   - name: The name that the user gave.
    ///   - kinds: The kinds of mechanisms.
    ///   - authenticator: The authenticator with the accounts.
    ///   - asks: True to ask the user at the terminal, which must be there.
    /// - Returns: The only mechanism with this name, or the one that the user picked.
    /// - Throws: The errors of ``find(_:kinds:with:)``; `CancellationError` when the user ends the input.
    static func choose(
        _ name: String, kinds: Set<Mechanism.KindName>, with authenticator: any VaultAuthenticator, asks: Bool
    ) async throws -> Selection {
        do {
            return try await find(name, kinds: kinds, with: authenticator)
        } catch let failure as Failure {
            guard asks, AccountChoice.resolves(failure.code) else { throw failure }
            let candidates = candidates(for: name, kinds: kinds, in: try await authenticator.accounts())
            guard !candidates.isEmpty else { throw failure }
            let entries = candidates.map { PickList.Entry(title: $0.title, names: $0.account.names) }
            let position = try await PickList(entries).pick()
            return candidates[position]
        }
    }

    /// Returns the mechanisms that a name may stand for: those with this name, or else those with a similar name, the most similar
    /// first.
    static func candidates(
        for name: String, kinds: Set<Mechanism.KindName>, in accounts: [EnrolledAccount]
    ) -> [Selection] {
        let all = accounts.flatMap { account in
            account.mechanisms.filter { kinds.contains($0.kindName) }.map { Selection(account: account, mechanism: $0) }
        }
        let same = same(all, called: name, \.names)
        guard same.isEmpty else { return same }
        // The id of a mechanism is left out: it contains most letters, and so is similar to most names.
        return NameMatch.ranked(all, by: name, \.account.names).map(\.candidate)
    }

    /// The name in a list of mechanisms.
    var title: String { "\(account.fullName) (\(mechanism.kindName.rawValue))" }

    /// Finds an account by a name: the account's name, its issuer, or `issuer:account`, as enrolled or as displayed.
    ///
    /// Case matters only if names differ by case alone.
    /// - Throws: ``Failure`` when no account or several accounts match.
    static func account(_ name: String, in accounts: [EnrolledAccount]) throws -> EnrolledAccount {
        let matches = same(accounts, called: name, \.names)
        let text = "there is no account called '\(name)'"
        guard !matches.isEmpty else { throw missing(text, name, similarIn: accounts) }
        return try matches.only(
            orMissing: text, orSeveral: "several accounts match; give issuer:account", name: \.fullName)
    }

    /// Finds an account by a name as ``account(_:in:)`` does, and lets the user pick one at the terminal when the name is ambiguous
    /// or only similar to names.
    /// - Parameters:
    ///   - name: The name that the user gave.
    ///   - accounts: All accounts.
    ///   - asks: True to ask the user at the terminal, which must be there.
    /// - Returns: The only account with this name, or the one that the user picked.
    /// - Throws: ``Failure`` when no account or several accounts match; `CancellationError` when the user ends the input.
    static func chooseAccount(_ name: String, in accounts: [EnrolledAccount], asks: Bool) async throws -> EnrolledAccount {
        do {
            return try account(name, in: accounts)
        } catch let failure as Failure {
            let same = same(accounts, called: name, \.names)
            let candidates = same.isEmpty ? NameMatch.ranked(accounts, by: name, \.names).map(\.candidate) : same
            guard asks, !candidates.isEmpty else { throw failure }
            let position = try await PickList(candidates.map { PickList.Entry(title: $0.fullName, names: $0.names) }).pick()
            return candidates[position]
        }
    }

    /// Returns the error for a name that no account has, which suggests at most three accounts with a similar name.
    ///
    /// An account's name is similar when it differs from the given one in one or two characters, or when ``NameMatch`` finds the
    /// given one in it. One or two characters are in most names in some place, so they have to begin a word.
    private static func missing(_ message: String, _ name: String, similarIn accounts: [EnrolledAccount]) -> Failure {
        let near = accounts.filter { $0.names.nearest(to: name) != nil }
        let limit: NameMatch = name.count > 2 ? .subsequence : .wordStart
        let similar = NameMatch.ranked(accounts, by: name, \.names).filter { $0.match <= limit }.map(\.candidate)
        let found = near + similar.filter { !near.contains($0) }
        let names = found.prefix(3).map { "'\($0.account.id.issuer):\($0.account.id.accountName)'" }
        let advice = names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
        return Failure(.notFound, AccountChoice.notFound, message).advising(advice)
    }

    /// Returns the names that a shell completes: one for each account, and each issuer, if the name selects one account and a shell
    /// can complete it as one word.
    ///
    /// An account without such a name is left out. The shells expand what they complete, and zsh takes the text after a colon for a
    /// description, so a name with a character that could have a meaning to a shell is not used.
    /// - Parameter accounts: The accounts among which a name selects.
    /// - Returns: The names, sorted, each one once.
    static func completions(of accounts: [EnrolledAccount]) -> [String] {
        // A name that an account has, as it is written, selects all accounts with exactly this name.
        var owners: [String: Int] = [:]
        for account in accounts {
            for name in Set(account.names) { owners[name, default: 0] += 1 }
        }
        func isUsable(_ name: String) -> Bool { name.isPlainWord && owners[name] == 1 }
        var completions: Set<String> = []
        for account in accounts {
            if let name = account.names.first(where: isUsable) { completions.insert(name) }
            completions.formUnion(account.issuers.filter(isUsable))
        }
        return completions.sorted()
    }

    private var names: [String] { account.names + [mechanism.uid] }

    /// Returns the candidates with exactly this name; without any, those whose name differs only by case.
    private static func same<Candidate>(
        _ candidates: [Candidate], called name: String, _ names: (Candidate) -> [String]
    ) -> [Candidate] {
        let exact = candidates.filter { names($0).contains(name) }
        guard exact.isEmpty else { return exact }
        let typed = TypedName(name)
        return candidates.filter { typed.isOne(of: names($0)) }
    }
}

extension Collection {
    /// Returns the only element.
    /// - Throws: ``Failure`` with the text for no element, or with the text for several elements and their names.
    func only(
        orMissing missing: @autoclosure () -> String, orSeveral several: String, name: (Element) -> String
    ) throws -> Element {
        guard let first else { throw Failure(.notFound, AccountChoice.notFound, missing()) }
        guard count == 1 else {
            throw Failure(.badInput, AccountChoice.ambiguous, "\(several): \(map(name).joined(separator: ", "))")
        }
        return first
    }
}

extension String {
    /// True for letters, digits, the characters `@._+-` and spaces, with neither a hyphen at the start nor a space at an end.
    var isPlainWord: Bool {
        guard let first, let last, first != "-", first != " ", last != " " else { return false }
        return unicodeScalars.allSatisfy(\.isPlain)
    }
}

extension Unicode.Scalar {
    fileprivate var isPlain: Bool {
        switch self {
        case "0"..."9", "@", ".", "_", "+", "-", " ": true
        default: properties.isAlphabetic
        }
    }
}

extension EnrolledAccount {
    /// The names by which the user may refer to the account.
    var names: [String] { AccountNames(account).all }

    /// The issuer as it was enrolled and, if that differs, as it is displayed.
    fileprivate var issuers: Set<String> { [account.id.issuer, shownIssuer] }

    /// The issuer in lists.
    var shownIssuer: String { AccountNames(account).shownIssuer }
    /// The account's own name in lists.
    var shownAccountName: String { AccountNames(account).shownAccountName }

    /// The name in lists.
    var shownName: String { AccountNames(account).shownName }

    /// The unique name of the account, followed by its displayed name if that differs.
    fileprivate var fullName: String {
        let id = account.id
        let isRenamed = account.displayIssuer != nil || account.displayAccountName != nil
        return "\(id.issuer):\(id.accountName)" + (isRenamed ? ", shown as '\(shownName)'" : "")
    }
}
