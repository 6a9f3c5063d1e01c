import Foundation
import SignetCore

/// The unanswered messages to each user, and the pauses that follow from them.
///
/// An attacker with a password, or only with a name, could otherwise send a user one push message or email after another until
/// the user approves one. Emails are also counted by their address, because an attacker could otherwise register accounts with the
/// address of another person. All servers of the same state share the counts.
struct MessagePacing {
    /// A way to send a user messages.
    ///
    /// The raw value is a part of the names of stored rows and must not change.
    enum Channel: String, Sendable {
        case push = "push-messages"
        case email = "emails"
    }

    /// The time after the last message for which unanswered ones are remembered, in seconds: a day.
    private static let memory = 86_400.0

    private var table: Table<String, LockoutStore.Failures>
    private let directory: Directory
    private let now: Date

    init(_ transaction: RowCache, _ directory: Directory) {
        table = Table(.lockout, transaction)
        self.directory = directory
        now = transaction.now
    }

    /// Returns true when no message may be sent to the user now.
    func isPaused(_ channel: Channel, _ user: UserKey) throws -> Bool {
        try presentNames(channel, user).contains { try table[$0]?.lockedUntil.map { now < $0 } ?? false }
    }

    /// Records a message.
    mutating func sent(_ channel: Channel, to user: UserKey, _ limits: MessageLimits) throws {
        guard limits != .none else { return }
        for name in try presentNames(channel, user) {
            let count = (try table[name]?.inRow ?? 0) + 1
            var pause: Int?
            if count >= limits.unanswered {
                // The exponent is limited, so that the product cannot overflow.
                pause = min(limits.maxPause, limits.pause << min(count - limits.unanswered, 20))
            }
            let end = pause.map { now.addingTimeInterval(Double($0)) }
            table.insert(
                LockoutStore.Failures(times: [], lockedUntil: end, inRow: count), for: name,
                until: now.addingTimeInterval(max(Self.memory, Double(pause ?? 0))))
        }
    }

    /// Forgets the messages after the user has answered one: approved a push message, or followed the link of an email.
    ///
    /// The address is the one that the answered email was sent to. The user may have another one now, whose count must stay.
    mutating func answered(_ channel: Channel, by user: UserKey, at address: String? = nil) throws {
        for name in Self.names(channel, user, address) { try table.remove(name) }
    }

    /// Returns the address that emails to a user are sent to; nil for a user without one.
    func address(of user: UserKey) throws -> String? { try directory[user]?.claims["email"]?.string }

    private func presentNames(_ channel: Channel, _ user: UserKey) throws -> [String] {
        Self.names(channel, user, channel == .email ? try address(of: user) : nil)
    }

    /// Returns the names of the rows that count messages to a user and to an address.
    ///
    /// They differ from those of ``LockoutStore``, which begin with a digit or with the name of a factor. Case is ignored in addresses.
    private static func names(_ channel: Channel, _ user: UserKey, _ address: String?) -> [String] {
        ["\(channel.rawValue) \(user.rowName)"] + (address.map { ["\(channel.rawValue) to \($0.lowercased())"] } ?? [])
    }
}
