import Foundation
import SignetCore

/// The rules by which messages are answered, as a JSON file has them.
struct ApprovalPolicy: Decodable, Sendable {
    /// The answer to a message.
    enum Decision: String, Sendable {
        case approve
        case deny
        case ignore
    }

    /// The answer to a message that no rule matches: never an approval.
    enum Fallback: String, Decodable, Sendable {
        case deny
        case ignore
    }

    /// A rule that approves messages of one account.
    struct Rule: Decodable, Sendable {
        /// The issuer of the account.
        let issuer: String
        /// The name of the account.
        let account: String
        /// The text of the message, which names the service; nil for any text.
        ///
        /// The server signs it with the message, unlike what it tells about the browser.
        let message: String?
        /// The first minute of the day at which the rule applies, in the time zone of this machine; nil for a rule without hours.
        let from: TimeOfDay?
        /// The first minute at which it does not apply any more.
        ///
        /// A time before `from` is one on the next day.
        let until: TimeOfDay?
    }

    /// The rules.
    ///
    /// A message that one of them matches is approved.
    let rules: [Rule]
    /// The answer to other messages.
    let otherwise: Fallback

    /// Returns the answer to a message.
    ///
    /// A message that asks for a number or for the user's presence is never approved: this program does not see the login page, and
    /// is not the user.
    /// - Parameters:
    ///   - message: The verified content of the message.
    ///   - account: The account that received it.
    ///   - date: The time of the answer.
    ///   - calendar: The calendar with the time zone of the rules.
    /// - Returns: The answer.
    func decision(
        on message: PushMessage, of account: AccountID, at date: Date, calendar: Calendar = .current
    ) -> Decision {
        guard case .tap = message.kind, rules.contains(where: { $0.matches(message, account, date, calendar) }) else {
            return otherwise == .deny ? .deny : .ignore
        }
        return .approve
    }
}

extension ApprovalPolicy.Rule {
    /// Returns true when the rule approves a message at a time.
    func matches(_ message: PushMessage, _ account: AccountID, _ date: Date, _ calendar: Calendar) -> Bool {
        guard account == AccountID(issuer: issuer, accountName: self.account) else { return false }
        if let text = self.message, message.text != text { return false }
        guard let from, let until else { return from == nil && until == nil }
        let now = calendar.component(.hour, from: date) * 60 + calendar.component(.minute, from: date)
        return from.minutes <= until.minutes
            ? (from.minutes..<until.minutes).contains(now) : now >= from.minutes || now < until.minutes
    }
}

/// A time of the day, written as `08:30`; `24:00` is the end of the day.
struct TimeOfDay: Decodable, Sendable {
    /// The minutes since midnight.
    let minutes: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode(String.self).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), (0...24).contains(hour),
            (0...59).contains(minute), hour * 60 + minute <= 24 * 60
        else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "a time is written as 08:30") }
        minutes = hour * 60 + minute
    }
}
