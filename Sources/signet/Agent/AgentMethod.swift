import AgentWire
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The operations of the agent by their names in requests, and the form of their arguments and results.
///
/// Arguments are texts; results are JSON, except for ``code``, which the small program reads.
enum AgentMethod: String, CaseIterable {
    /// The code of an account by name. Arguments: the name. Result: the digits.
    case code
    /// The same as ``code`` for a client that waits for two seconds, which is too short for a question to the user. Arguments: the
    /// name, and the `AgentDeadline`.
    case codeAtOnce = "code-at-once"
    /// The code of a mechanism. Arguments: the ID of the mechanism, and `current` or `next`.
    case codeOfMechanism = "code-of-mechanism"
    case currentCodes = "current-codes"
    /// The same as ``currentCodes``, for a view that asks again when codes have ended. Its connection stays open, and the user is
    /// asked once for all requests of the connection.
    case codesOfView = "codes-of-view"
    /// The accounts. A note is not in the result, only that there is one.
    case accounts
    /// The accounts with the texts of their notes.
    case accountsWithNotes = "accounts-with-notes"
    case damagedRecords = "damaged-records"
    case notifications
    /// The values that a shell completes. Arguments: ``VaultCompletion/Kind``, and for accounts the kinds of mechanisms.
    case names
    /// Arguments: the ID of the message, and the number or an empty text.
    case approve
    /// Arguments: the ID of the message.
    case deny
}

/// An operation with its arguments, as the agent performs it.
struct AgentOperation: Sendable {
    private let method: AgentMethod
    private let arguments: [String]
    /// The mechanism for whose code the user was asked, when the client named its account; nil otherwise.
    private var allowedMechanismUID: String?

    /// The error of an operation that was not performed, because its ``deadline`` is over.
    struct Late: Error {}

    /// True when the connection of the client stays open after the reply.
    var isOfView: Bool { method == .codesOfView }

    /// True when the client does not wait until the user has answered a question.
    var isAtOnce: Bool { method == .codeAtOnce }

    /// The time until which an operation that ``isAtOnce`` may begin; nil for a request without one.
    var deadline: AgentDeadline? { AgentDeadline(argument(1)) }

    /// Reads a request; returns nil for an operation that the agent does not have, and for arguments that are not UTF-8.
    init?(_ request: AgentRequest) {
        guard let method = AgentMethod(rawValue: request.operation) else { return nil }
        let arguments = request.arguments.map { String(validating: $0, as: UTF8.self) }
        guard arguments.allSatisfy({ $0 != nil }) else { return nil }
        self.method = method
        self.arguments = arguments.compactMap { $0 }
    }

    /// The ID of the push message that the operation answers; nil for another operation.
    var answeredID: String? { method == .approve || method == .deny ? argument(0) : nil }

    /// True when `--confirm-with` asks the user before the operation.
    var isAskedFor: Bool { asking != nil }

    /// Returns the question of `--confirm-with` for the operation; nil for one that is not asked for.
    /// - Parameter session: The unlocked vault.
    /// - Returns: The question, which names the account of a code, and describes the login of a push message.
    /// - Throws: The errors of an operation whose account or message does not exist.
    func question(in session: Session) async throws -> AgentQuestion? {
        try await asking?(OpenedAuthenticator(session: session))
    }

    /// Makes the question for the operation; nil for one that is not asked for.
    private var asking: ((OpenedAuthenticator) async throws -> AgentQuestion)? {
        switch method {
        case .code, .codeAtOnce: return { try await AgentQuestion(codeOf: argument(0), in: $0) }
        case .codeOfMechanism: return { try await AgentQuestion(codeOfMechanism: argument(0), period, in: $0) }
        case .currentCodes: return { _ in AgentQuestion(use: "all codes of the vault") }
        case .codesOfView: return { _ in AgentQuestion(use: "all codes of the vault as long as it runs") }
        case .accountsWithNotes: return { _ in AgentQuestion(use: "the notes of all accounts") }
        case .approve: return { try await AgentQuestion("approve", argument(0), number: number, in: $0) }
        case .deny: return { try await AgentQuestion("deny", argument(0), in: $0) }
        case .accounts, .damagedRecords, .notifications, .names: return nil
        }
    }

    /// Returns the operation for what the user has allowed.
    /// - Parameter question: The question that the user was asked.
    /// - Returns: The operation, which makes the code of the mechanism that the question named.
    func allowed(by question: AgentQuestion) -> AgentOperation {
        var operation = self
        operation.allowedMechanismUID = question.mechanismUID
        return operation
    }

    /// Performs the operation.
    /// - Parameters:
    ///   - session: The unlocked vault.
    ///   - presence: Checks the user's presence for a biometric message.
    /// - Returns: The fields of the result.
    /// - Throws: The errors of the operation; ``Late`` when its deadline ended before a counter was used up.
    func perform(in session: Session, presence: ClientPresence) async throws -> [[UInt8]] {
        let deadline = isAtOnce ? deadline : nil
        let authenticator = OpenedAuthenticator(session: session) { if deadline?.isOver == true { throw Late() } }
        switch method {
        case .code, .codeAtOnce: return [Array(try await code(from: authenticator).digits.utf8)]
        case .codeOfMechanism:
            return [JSON.encode(AgentForm.json(try await authenticator.code(for: argument(0), period: period)))]
        case .currentCodes, .codesOfView:
            return [JSON.encode(.object(try await authenticator.currentCodes().mapValues(AgentForm.json)))]
        case .accounts, .accountsWithNotes:
            let hasNotes = method == .accountsWithNotes
            let accounts = try await authenticator.accounts().map { AgentForm.json($0, withNote: hasNotes) }
            return [JSON.encode(.array(accounts))]
        case .damagedRecords: return [JSON.encode(.array(try await authenticator.damagedRecords().map(AgentForm.json)))]
        case .notifications:
            return [JSON.encode(.array(try await authenticator.notifications().map { .object($0.storedMembers) }))]
        case .names:
            return [JSON.encode(.array(try await VaultCompletion.names(arguments, in: session).map { .string($0) }))]
        case .approve:
            do {
                let answered = try await authenticator.approve(argument(0), number: number, presence: presence)
                return [JSON.encode(.object(answered.storedMembers))]
            } catch let error as AuthenticatorError where error.code == .presenceRefused {
                throw presence.failure ?? Failure(error)
            }
        case .deny: return [JSON.encode(.object(try await authenticator.deny(argument(0)).storedMembers))]
        }
    }

    private func code(from authenticator: OpenedAuthenticator) async throws -> OneTimeCode {
        guard let allowedMechanismUID else {
            return try await AccountCodes(authenticator).code(argument(0), asks: false).code
        }
        return try await authenticator.code(for: allowedMechanismUID, period: .current)
    }

    /// The period of the code of a mechanism.
    private var period: AccountCodes.Period { argument(1) == "next" ? .next : .current }

    /// The number with which a message is approved; nil without one.
    private var number: Int? { Int(argument(1)) }

    private func argument(_ index: Int) -> String { index < arguments.count ? arguments[index] : "" }
}
