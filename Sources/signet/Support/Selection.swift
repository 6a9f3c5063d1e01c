import SignetAuthenticator
import SignetCore

/// Finding what a person means by a name.
struct Selection {
    let account: EnrolledAccount
    let mechanism: Mechanism

    /// The one mechanism of a wanted kind that `name` means: its account's name, its issuer, `issuer:account`, or its id,
    /// without regard to case. Without a name there must be only one.
    static func find(
        _ name: String?, kinds: Set<Mechanism.KindName>, in accounts: [EnrolledAccount]
    ) throws -> Selection {
        let candidates = accounts.flatMap { account in
            account.mechanisms.filter { kinds.contains($0.kindName) }.map { Selection(account: account, mechanism: $0) }
        }
        let wanted = name?.lowercased()
        let matches = wanted.map { wanted in candidates.filter { $0.isCalled(wanted) } } ?? candidates
        guard let match = matches.first else {
            let purpose = kinds == [.push] ? "takes push messages" : "makes codes"
            throw Failure(
                .notFound, "notFound", name.map { "no account called '\($0)' \(purpose)" } ?? "no account here \(purpose)")
        }
        guard matches.count == 1 else {
            let names = matches.map { "\($0.fullName) (\($0.mechanism.kindName.rawValue))" }.joined(separator: ", ")
            throw Failure(.badInput, "ambiguous", "that can mean several; say issuer:account, and --type for a kind: \(names)")
        }
        return match
    }

    /// The one account that `name` means: its name, its issuer, or `issuer:account`, without regard to case.
    static func account(_ name: String, in accounts: [EnrolledAccount]) throws -> EnrolledAccount {
        let wanted = name.lowercased()
        let matches = accounts.filter { account in
            let (id, shown) = (account.account.id, account.account)
            return [
                id.accountName, id.issuer, "\(id.issuer):\(id.accountName)", shown.displayIssuer, shown.displayAccountName,
            ].contains { $0?.lowercased() == wanted }
        }
        guard let match = matches.first else { throw Failure(.notFound, "notFound", "there is no account called '\(name)'") }
        guard matches.count == 1 else {
            let names = matches.map { "\($0.account.id.issuer):\($0.account.id.accountName)" }.joined(separator: ", ")
            throw Failure(.badInput, "ambiguous", "that can mean several; say issuer:account: \(names)")
        }
        return match
    }

    var fullName: String { "\(account.account.id.issuer):\(account.account.id.accountName)" }

    private func isCalled(_ name: String) -> Bool {
        let id = account.account.id
        return [
            id.accountName, id.issuer, fullName, mechanism.uid, account.account.displayIssuer, account.account.displayAccountName,
        ]
        .contains { $0?.lowercased() == name }
    }
}
