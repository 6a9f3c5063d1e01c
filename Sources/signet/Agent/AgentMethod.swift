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
    case accounts
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

    /// The words for the operation in the question of `--confirm-with`; nil for one that is not asked for.
    var use: TerminalText? {
        switch method {
        case .code, .codeAtOnce: "the code of '\(argument(0))'"
        case .codeOfMechanism: "a code of the vault"
        case .currentCodes: "all codes of the vault"
        case .codesOfView: "all codes of the vault as long as it runs"
        case .approve: "a push message, with yes"
        case .deny: "a push message, with no"
        case .accounts, .damagedRecords, .notifications, .names: nil
        }
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
        case .code, .codeAtOnce:
            let found = try await AccountCodes(authenticator).code(argument(0), asks: false)
            return [Array(found.code.digits.utf8)]
        case .codeOfMechanism:
            let period: AccountCodes.Period = argument(1) == "next" ? .next : .current
            return [JSON.encode(AgentForm.json(try await authenticator.code(for: argument(0), period: period)))]
        case .currentCodes, .codesOfView:
            return [JSON.encode(.object(try await authenticator.currentCodes().mapValues(AgentForm.json)))]
        case .accounts: return [JSON.encode(.array(try await authenticator.accounts().map(AgentForm.json)))]
        case .damagedRecords: return [JSON.encode(.array(try await authenticator.damagedRecords().map(AgentForm.json)))]
        case .notifications:
            return [JSON.encode(.array(try await authenticator.notifications().map { .object($0.storedMembers) }))]
        case .names:
            return [JSON.encode(.array(try await VaultCompletion.names(arguments, in: session).map { .string($0) }))]
        case .approve:
            do {
                let answered = try await authenticator.approve(argument(0), number: Int(argument(1)), presence: presence)
                return [JSON.encode(.object(answered.storedMembers))]
            } catch let error as AuthenticatorError where error.code == .presenceRefused {
                throw presence.failure ?? Failure(error)
            }
        case .deny: return [JSON.encode(.object(try await authenticator.deny(argument(0)).storedMembers))]
        }
    }

    private func argument(_ index: Int) -> String { index < arguments.count ? arguments[index] : "" }
}
