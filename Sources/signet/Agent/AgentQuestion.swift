import Foundation
import SignetAuthenticator
import SignetCore
import SignetDesktop

/// The question with which the agent asks the user for a use of something private.
struct AgentQuestion {
    /// The question in one line, and the lines of the login that is to be answered.
    let text: TerminalText
    /// The mechanism whose code the question names, for a client that named the account; nil for another use.
    ///
    /// The consent is for this mechanism, also when its account gets another name while the user is asked.
    var mechanismUID: String?

    /// Asks for all codes or notes.
    /// - Parameter use: The words for what is used, without a value of the client.
    init(use: TerminalText) { text = "Allow a command to use \(use)?" }

    /// Asks for the code of the account with a name.
    /// - Parameters:
    ///   - name: The name that the client gave.
    ///   - authenticator: The accounts.
    /// - Throws: The errors of ``AccountCodes/selection(_:_:asks:)``. With these errors the user is not asked.
    init(codeOf name: String, in authenticator: OpenedAuthenticator) async throws {
        let selection = try await AccountCodes(authenticator).selection(name, AccountCodes.kinds, asks: false)
        self.init(use: "the code of '\(selection.account.shownName)'")
        mechanismUID = selection.mechanism.uid
    }

    /// Asks for the code of a mechanism.
    /// - Parameters:
    ///   - uid: The ID of the mechanism.
    ///   - period: The period of the code.
    ///   - authenticator: The accounts.
    /// - Throws: `AuthenticatorError` when no account has the mechanism; `StoreError`.
    init(codeOfMechanism uid: String, _ period: AccountCodes.Period, in authenticator: OpenedAuthenticator) async throws {
        guard let account = try await Self.account(ofMechanism: uid, in: authenticator) else {
            throw AuthenticatorError(.unknownMechanism, "no mechanism has the id \(uid)")
        }
        self.init(use: period == .next ? "the next code of '\(account.shownName)'" : "the code of '\(account.shownName)'")
    }

    /// Asks for the answer to a push message, with the lines that a notification of the desktop has.
    /// - Parameters:
    ///   - answer: The answer: `approve` or `deny`.
    ///   - id: The ID of the message.
    ///   - number: The number with which the command approves; nil without one.
    ///   - authenticator: The accounts and messages.
    /// - Throws: The errors of `Authenticator.notification(_:)`.
    init(_ answer: TerminalText, _ id: String, number: Int? = nil, in authenticator: OpenedAuthenticator) async throws {
        let notification = try await authenticator.session.offline { try await $0.notification(id) }
        let account = try await Self.account(ofMechanism: notification.message.mechanismUID, in: authenticator)
        let notice = PushNotice(for: notification, issuer: account?.shownIssuer, accountName: account?.shownAccountName)
        let choice: TerminalText = number.map { " with the number \($0)" } ?? ""
        let question: TerminalText = "Allow a command to \(answer) this login\(choice)?"
        text = ([question, TerminalText(notice.summary)] + notice.body.map { TerminalText($0) }).joined(separator: "\n")
    }

    private static func account(
        ofMechanism uid: String, in authenticator: OpenedAuthenticator
    ) async throws -> EnrolledAccount? {
        func found(in accounts: [EnrolledAccount]) -> EnrolledAccount? {
            accounts.first { account in account.mechanisms.contains { $0.uid == uid } }
        }
        if let candidates = try await authenticator.accounts(called: uid), let account = found(in: candidates) { return account }
        return found(in: try await authenticator.accounts())
    }
}
