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
    private let now: Date

    init(_ transaction: RowCache) {
        table = Table(.lockout, transaction)
        now = transaction.now
    }

    /// Returns true when no push message may be sent to the user now.
    func isPaused(_ channel: Channel, _ user: UserKey) throws -> Bool { try isPaused(Self.names(channel, user, nil)) }

    /// Returns true when no email may be sent to the recipient now.
    func isPaused(_ recipient: EmailRecipient) throws -> Bool { try isPaused(Self.names(recipient)) }

    private func isPaused(_ names: [String]) throws -> Bool {
        try names.contains { try table[$0]?.lockedUntil.map { now < $0 } ?? false }
    }

    /// Records a push message.
    mutating func sent(_ channel: Channel, to user: UserKey, _ limits: MessageLimits) throws {
        try sent(Self.names(channel, user, nil), limits)
    }

    /// Records an email.
    mutating func sent(to recipient: EmailRecipient, _ limits: MessageLimits) throws {
        try sent(Self.names(recipient), limits)
    }

    private mutating func sent(_ names: [String], _ limits: MessageLimits) throws {
        guard limits != .none else { return }
        for name in names {
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

    /// Forgets the push messages after the user has approved one.
    mutating func answered(_ channel: Channel, by user: UserKey) throws {
        for name in Self.names(channel, user, nil) { try table.remove(name) }
    }

    /// Forgets the emails after the link or the code of one was used.
    ///
    /// The address is the one that the answered email was sent to. The user may have another one now, whose count must stay. A user
    /// that didn't exist when the email was sent has no count.
    mutating func answeredEmail(by user: UserKey?, at address: String?) throws {
        for name in Self.names(.email, user, address) { try table.remove(name) }
    }

    /// Returns the names of the rows that count the emails to a recipient.
    ///
    /// For a user that doesn't exist, only the address counts: the name is only a text that was typed.
    private static func names(_ recipient: EmailRecipient) -> [String] {
        names(.email, recipient.exists ? recipient.user : nil, recipient.address)
    }

    /// Returns the names of the rows that count messages to a user and to an address.
    ///
    /// They differ from those of ``LockoutStore``, which begin with a digit or with the name of a factor. Case is ignored in addresses.
    private static func names(_ channel: Channel, _ user: UserKey?, _ address: String?) -> [String] {
        (user.map { ["\(channel.rawValue) \($0.rowName)"] } ?? [])
            + (address.map { ["\(channel.rawValue) to \($0.lowercased())"] } ?? [])
    }
}
