#if canImport(CGDBus) && canImport(Glibc)
import SignetAuthenticator
package import SignetCore

/// The process whose user polkit asks (polkit Reference Manual, "Subject").
package enum PolkitSubject: Sendable, Hashable {
    /// This process, by its connection to the bus: polkit reads its user and session from the system.
    case connection
    /// Another process of the user.
    ///
    /// - Parameters:
    ///   - id: The ID of the process.
    ///   - startTime: The time at which it started, in clock ticks since the start of the system (field 22 of `/proc/PID/stat`).
    ///   - user: The ID of its user.
    case process(id: UInt32, startTime: UInt64, user: Int32)

    /// The structure `Subject` of polkit's interface.
    fileprivate func value(_ connection: DBusConnection) -> DBusValue {
        switch self {
        case .connection:
            .structure([.string("system-bus-name"), .options(["name": .string(connection.uniqueName)])])
        case .process(let id, let startTime, let user):
            .structure([
                .string("unix-process"),
                .options(["pid": .uint32(id), "start-time": .uint64(startTime), "uid": .int32(user)]),
            ])
        }
    }
}

/// The user's presence, checked by polkit: its agent in the desktop asks for the user's password, or for what the system's PAM
/// takes in its place, such as a fingerprint.
///
/// The action is ``action``, which a file in `share/polkit-1/actions` defines. A check counts only when polkit asked the user for
/// it: a rule that allows the action without a question, and the permission of root to do everything, prove no presence.
package struct PolkitPresence: UserPresence {
    /// The action for which polkit asks.
    package static let action = "org.signet-identity.approve"

    /// A check that did not recognize the user.
    package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The kind of the error.
        package struct Code: ErrorCode {
            /// polkit would allow the action without asking the user.
            package static let notAsked = Code(rawValue: "notAsked")
            /// polkit refuses the action without asking the user, for example outside of a local session.
            package static let notAllowed = Code(rawValue: "notAllowed")
            /// The user closed the question.
            package static let dismissed = Code(rawValue: "dismissed")
            /// The user was not recognized, or no agent could ask.
            package static let notRecognized = Code(rawValue: "notRecognized")
            /// polkit is missing, does not know the action, or did not answer in time.
            package static let unavailable = Code(rawValue: "unavailable")

            /// All codes of this version.
            package static let allCases: [Code] = [.notAsked, .notAllowed, .dismissed, .notRecognized, .unavailable]

            /// The name of the code, for logs and scripts.
            package let rawValue: String

            /// Creates a code from its name.
            package init(rawValue: String) { self.rawValue = rawValue }
        }

        /// The kind of the error.
        package let code: Code
        /// A human-readable description of the error.
        package let reason: String

        /// The reason.
        package var description: String { reason }

        init(_ code: Code, _ reason: String) {
            self.code = code
            self.reason = reason
        }
    }

    private let connection: DBusConnection
    private let subject: PolkitSubject
    private let timeout: Duration
    private let lastCheck = Counter()

    static let busName = "org.freedesktop.PolicyKit1"
    static let path = "/org/freedesktop/PolicyKit1/Authority"
    static let interface = "org.freedesktop.PolicyKit1.Authority"

    /// Creates a check.
    /// - Parameters:
    ///   - connection: The system bus.
    ///   - subject: The process that acts for the user.
    ///   - timeout: The time that the user has to answer.
    package init(_ connection: DBusConnection, subject: PolkitSubject = .connection, timeout: Duration = .seconds(60)) {
        self.connection = connection
        self.subject = subject
        self.timeout = timeout
    }

    /// Asks the user to prove their presence.
    /// - Parameter notification: The notification that the user approves. polkit shows a text of its own for the action: it takes
    ///   details from the user root only.
    /// - Throws: ``Refusal``.
    package func confirm(_ notification: PushNotification) async throws { try await confirm() }

    /// Returns true when polkit would ask the user, and neither allows nor refuses the action without a question.
    package func canAsk() async -> Bool {
        guard let silent = try? await check(asking: false, within: DBusConnection.defaultTimeout) else { return false }
        return !silent.isAuthorized && silent.needsQuestion
    }

    /// Asks the user to prove their presence, for an action other than the answer to a push message.
    /// - Throws: ``Refusal``.
    package func confirm() async throws {
        let silent: Outcome
        do throws(DBusError) {
            silent = try await check(asking: false, within: DBusConnection.defaultTimeout)
        } catch {
            throw Refusal(.unavailable, "polkit cannot check the user's presence: \(error)")
        }
        guard !silent.isAuthorized else {
            throw Refusal(
                .notAsked, "polkit allows \(Self.action) without asking, so it cannot check the user's presence; change its rules"
            )
        }
        guard silent.needsQuestion else {
            throw Refusal(.notAllowed, "polkit refuses \(Self.action) here; it is allowed in a local session only")
        }
        let asked: Outcome
        do throws(DBusError) {
            asked = try await check(asking: true, within: timeout)
        } catch {
            throw Refusal(.unavailable, "polkit did not check the user's presence: \(error)")
        }
        guard asked.isAuthorized else {
            throw asked.isDismissed
                ? Refusal(.dismissed, "the question for the user's presence was closed")
                : Refusal(.notRecognized, "the user was not recognized, or no polkit agent runs in this session")
        }
    }

    /// The result of `CheckAuthorization`: `(bba{ss})`.
    private struct Outcome {
        let isAuthorized: Bool
        let needsQuestion: Bool
        let isDismissed: Bool

        init?(_ reply: DBusMessage) {
            guard let fields = reply.body.first?.fields, fields.count == 3, let isAuthorized = fields[0].boolean,
                let needsQuestion = fields[1].boolean, case .array(of: "{ss}", let details) = fields[2]
            else { return nil }
            self.isAuthorized = isAuthorized
            self.needsQuestion = needsQuestion
            isDismissed = details.contains { detail in
                if case .entry(.string("polkit.dismissed"), .string(let value)) = detail { !value.isEmpty } else { false }
            }
        }
    }

    private func check(asking: Bool, within timeout: Duration) async throws(DBusError) -> Outcome {
        let id = "signet-\(lastCheck.add())"
        let arguments: [DBusValue] = [
            subject.value(connection), .string(Self.action), .texts([:]), .uint32(asking ? 1 : 0), .string(id),
        ]
        let reply: DBusMessage
        do throws(DBusError) {
            reply = try await connection.call(
                .call(Self.busName, Self.path, Self.interface, "CheckAuthorization", arguments), timeout: timeout)
        } catch {
            if asking, [.timeout, .cancelled].contains(error.code) { cancel(id) }
            throw error
        }
        guard let outcome = Outcome(reply) else {
            throw DBusError(.invalidReply, "polkit gave an answer of another form")
        }
        return outcome
    }

    /// Closes the question of a check after which the caller does not use its result.
    private func cancel(_ id: String) {
        var call = DBusMessage.call(
            Self.busName, Self.path, Self.interface, "CancelCheckAuthorization", [.string(id)])
        call.expectsNoReply = true
        try? connection.send(call)
    }
}
#endif
