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
        let matches = name.map { best(candidates, called: $0, \.names) } ?? candidates
        let purpose = kinds == [.push] ? "takes push messages" : "makes codes"
        if let name, matches.isEmpty {
            let able = accounts.filter { account in account.mechanisms.contains { kinds.contains($0.kindName) } }
            throw missing("no account called '\(name)' \(purpose)", name, similarIn: able)
        }
        return try matches.only(
            orMissing: "no account here \(purpose)",
            orSeveral: "several mechanisms match; give issuer:account, and the kind with --type"
        ) { "\($0.account.fullName) (\($0.mechanism.kindName.rawValue))" }
    }

    /// Finds the mechanism of one of `kinds` by a name in the store of an authenticator.
    ///
    /// Accounts and mechanisms that cannot be read matter only when nothing matches: the mechanism may be one of them.
    /// - Throws: ``Failure`` when no mechanism or several mechanisms match. Without a match its exit code is 74 when there are
    ///   accounts or mechanisms that cannot be read. `StoreError`.
    static func find(
        _ name: String?, kinds: Set<Mechanism.KindName>, with authenticator: Authenticator
    ) async throws -> Selection {
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

    /// Finds an account by a name: the account's name, its issuer, or `issuer:account`, as enrolled or as displayed.
    ///
    /// Case matters only if names differ by case alone.
    /// - Throws: ``Failure`` when no account or several accounts match.
    static func account(_ name: String, in accounts: [EnrolledAccount]) throws -> EnrolledAccount {
        let matches = best(accounts, called: name, \.names)
        let text = "there is no account called '\(name)'"
        guard !matches.isEmpty else { throw missing(text, name, similarIn: accounts) }
        return try matches.only(
            orMissing: text, orSeveral: "several accounts match; give issuer:account", name: \.fullName)
    }

    /// Returns the error for a name that no account has, which suggests at most three accounts with a similar name.
    ///
    /// An account's name is similar when it differs from the given one in one or two characters, or contains it.
    private static func missing(_ message: String, _ name: String, similarIn accounts: [EnrolledAccount]) -> Failure {
        let part = name.lowercased()
        let near = accounts.filter { $0.names.nearest(to: name) != nil }
        let containing = accounts.filter { account in
            part.count > 2 && !near.contains(account) && account.names.contains { $0.lowercased().contains(part) }
        }
        let names = (near + containing).prefix(3).map { "'\($0.account.id.issuer):\($0.account.id.accountName)'" }
        let advice = names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
        return Failure(.notFound, "notFound", message).advising(advice)
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
    private static func best<Candidate>(
        _ candidates: [Candidate], called name: String, _ names: (Candidate) -> [String]
    ) -> [Candidate] {
        let exact = candidates.filter { names($0).contains(name) }
        guard exact.isEmpty else { return exact }
        let wanted = name.lowercased()
        return candidates.filter { names($0).contains { $0.lowercased() == wanted } }
    }
}

extension Collection {
    /// Returns the only element.
    /// - Throws: ``Failure`` with the text for no element, or with the text for several elements and their names.
    func only(
        orMissing missing: @autoclosure () -> String, orSeveral several: String, name: (Element) -> String
    ) throws -> Element {
        guard let first else { throw Failure(.notFound, "notFound", missing()) }
        guard count == 1 else {
            throw Failure(.badInput, "ambiguous", "\(several): \(map(name).joined(separator: ", "))")
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
    fileprivate var names: [String] {
        let id = account.id
        return [id.accountName, id.issuer, "\(id.issuer):\(id.accountName)", "\(id.issuer): \(id.accountName)"]
            + [account.displayIssuer, account.displayAccountName].compactMap { $0 }
            + [shownName, "\(shownIssuer):\(shownAccountName)"]
    }

    /// The issuer as it was enrolled and, if that differs, as it is displayed.
    fileprivate var issuers: Set<String> { [account.id.issuer, shownIssuer] }

    private var shownIssuer: String { account.displayIssuer ?? account.id.issuer }
    private var shownAccountName: String { account.displayAccountName ?? account.id.accountName }

    /// The name in lists.
    var shownName: String { "\(shownIssuer): \(shownAccountName)" }

    /// The unique name of the account, followed by its displayed name if that differs.
    fileprivate var fullName: String {
        let id = account.id
        let isRenamed = account.displayIssuer != nil || account.displayAccountName != nil
        return "\(id.issuer):\(id.accountName)" + (isRenamed ? ", shown as '\(shownName)'" : "")
    }
}
