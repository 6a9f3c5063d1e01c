import SignetAuthenticator
import SignetCore

/// Finding what a person means by a name.
struct Selection {
    let account: EnrolledAccount
    let mechanism: Mechanism

    /// The one mechanism of a wanted kind that `name` means: its account's name, its issuer, `issuer:account` as it was enrolled or as
    /// it is shown, or its id.
    /// Case counts only where names differ by nothing else. Without a name there must be only one.
    static func find(
        _ name: String?, kinds: Set<Mechanism.KindName>, in accounts: [EnrolledAccount]
    ) throws -> Selection {
        let candidates = accounts.flatMap { account in
            account.mechanisms.filter { kinds.contains($0.kindName) }.map { Selection(account: account, mechanism: $0) }
        }
        let matches = name.map { best(candidates, called: $0, \.names) } ?? candidates
        guard let match = matches.first else {
            let purpose = kinds == [.push] ? "takes push messages" : "makes codes"
            throw Failure(
                .notFound, "notFound", name.map { "no account called '\($0)' \(purpose)" } ?? "no account here \(purpose)")
        }
        guard matches.count == 1 else {
            let names = matches.map { "\($0.account.fullName) (\($0.mechanism.kindName.rawValue))" }.joined(separator: ", ")
            throw Failure(.badInput, "ambiguous", "that can mean several; say issuer:account, and --type for a kind: \(names)")
        }
        return match
    }

    /// The one account that `name` means: its name, its issuer, or `issuer:account`, as it was enrolled or as it is shown. Case counts
    /// only where names differ by nothing else.
    static func account(_ name: String, in accounts: [EnrolledAccount]) throws -> EnrolledAccount {
        let matches = best(accounts, called: name, \.names)
        guard let match = matches.first else { throw Failure(.notFound, "notFound", "there is no account called '\(name)'") }
        guard matches.count == 1 else {
            let names = matches.map(\.fullName).joined(separator: ", ")
            throw Failure(.badInput, "ambiguous", "that can mean several; say issuer:account: \(names)")
        }
        return match
    }

    private var names: [String] { account.names + [mechanism.uid] }

    /// Those that bear a name as it was written; if there are none, those that bear it in another case.
    private static func best<Candidate>(
        _ candidates: [Candidate], called name: String, _ names: (Candidate) -> [String]
    ) -> [Candidate] {
        let exact = candidates.filter { names($0).contains(name) }
        guard exact.isEmpty else { return exact }
        let wanted = name.lowercased()
        return candidates.filter { names($0).contains { $0.lowercased() == wanted } }
    }
}

extension EnrolledAccount {
    /// The names that a person may mean it by.
    fileprivate var names: [String] {
        let id = account.id
        return [id.accountName, id.issuer, "\(id.issuer):\(id.accountName)", "\(id.issuer): \(id.accountName)"]
            + [account.displayIssuer, account.displayAccountName].compactMap { $0 }
            + [shownName, "\(shownIssuer):\(shownAccountName)"]
    }

    private var shownIssuer: String { account.displayIssuer ?? account.id.issuer }
    private var shownAccountName: String { account.displayAccountName ?? account.id.accountName }

    /// What it is called in lists.
    var shownName: String { "\(shownIssuer): \(shownAccountName)" }

    /// A name that no other account has, and what it is shown as where that is another.
    fileprivate var fullName: String {
        let id = account.id
        let isRenamed = account.displayIssuer != nil || account.displayAccountName != nil
        return "\(id.issuer):\(id.accountName)" + (isRenamed ? ", shown as '\(shownName)'" : "")
    }
}
