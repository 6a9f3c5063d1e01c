import Foundation
import SignetAuthenticator
import SignetCore
import SignetDesktop

/// The user's presence for a biometric push message that a command approves through the agent: polkit asks for it.
///
/// A client can claim anything, so the agent asks polkit itself, about the process of the client. Without polkit it approves no
/// such message.
final class ClientPresence: UserPresence {
    private let environment: [String: String]
    private let client: AgentPeer?
    private let refusal = Mutex<Failure?>(nil)

    /// Creates a check.
    /// - Parameters:
    ///   - environment: The variables of the agent, which name the system bus.
    ///   - client: The process of the client; nil when it has ended.
    init(environment: [String: String], client: AgentPeer?) {
        self.environment = environment
        self.client = client
    }

    /// The failure of the check; nil before it has failed.
    var failure: Failure? { refusal.withLock { $0 } }

    /// Asks polkit, which asks the user.
    /// - Parameter notification: The message that the user approves.
    /// - Throws: ``Failure``, which ``failure`` then has too.
    func confirm(_ notification: PushNotification) async throws {
        do {
            try await check(notification)
        } catch {
            let failure = Self.failure(error)
            refusal.withLock { $0 = failure }
            throw failure
        }
    }

    private func check(_ notification: PushNotification) async throws {
        guard let client else {
            throw Failure(.notAllowed, "agent.presence", "the command that asked has ended")
        }
        let bus = try await DBusConnection.open(try DBusAddress.system(in: environment))
        defer { bus.close() }
        let subject = PolkitSubject.process(
            id: UInt32(client.process), startTime: client.startTime, user: Int32(bitPattern: getuid()))
        try await PolkitPresence(bus, subject: subject).confirm(notification)
    }

    /// Returns the failure with the way to approve the message all the same, unless the user has refused.
    private static func failure(_ error: any Error) -> Failure {
        let reason: String
        switch error {
        case let error as PolkitPresence.Refusal where error.code == .dismissed:
            return Failure(.notAllowed, "agent.presence", error.reason)
        case let error as PolkitPresence.Refusal: reason = error.reason
        case let error as DBusError: reason = "polkit cannot check the user's presence: \(error.reason)"
        default: reason = Failure(error).message
        }
        return Failure(
            .notAllowed, "agent.presence",
            "\(reason); the agent approves a biometric login only with polkit: without the agent this command asks at the terminal "
                + "(SIGNET_AGENT=off)")
    }
}
