import Foundation
import SignetCore

/// An email that was sent, as it is stored for the tester.
struct SentEmail: Codable, Sendable, Hashable {
    /// The state of the delivery over SMTP.
    enum Delivery: Codable, Sendable, Hashable {
        case queued
        case delivered
        /// The email was not delivered, for this reason.
        case failed(String)
    }

    let id: String
    let sentAt: Date
    /// The user; for a user that doesn't exist, the name that was typed, which may be empty.
    let user: UserKey
    /// The address; nil for a user without one.
    let to: String?
    let subject: String
    let text: String
    let html: String
    let link: String?
    let code: String?
    /// Nil when the server delivers no emails.
    var delivery: Delivery?

    init(_ content: EmailContent, to recipient: EmailRecipient, at date: Date) {
        id = RandomID.uuid()
        sentAt = date
        (user, to) = (recipient.user, recipient.address)
        (subject, text, html) = (content.subject, content.text, content.html)
        (link, code) = (content.link, content.code)
    }
}

/// The key of the emails to one recipient: an existing user, or an address.
struct EmailKey: RowName, Sendable, Hashable {
    let rowName: String

    init(_ user: UserKey) { rowName = user.rowName }

    /// Creates the key of an address in a realm, without regard to case.
    ///
    /// It differs from the name of every user, which begins with a digit.
    init(_ address: String, in realm: RealmPath) { rowName = "to \(UserKey(realm: realm, name: address.lowercased()).rowName)" }

    init(_ recipient: EmailRecipient) {
        if !recipient.exists, let address = recipient.address {
            self.init(address, in: recipient.user.realm)
        } else {
            self.init(recipient.user)
        }
    }
}

/// The store of the emails that were sent.
///
/// They are looked up here when a journey is tested, also when they are delivered over SMTP.
struct SentEmails {
    /// The maximum number of emails that are kept for one recipient.
    static let size = 16

    /// The time in seconds for which emails are kept: 30 days.
    static let lifetime = 30 * 86_400.0

    struct Emails: Codable, Sendable {
        /// The user; for an address, the user of the last email.
        let user: UserKey
        var links: [String]
        /// The address of users that don't exist; nil for the emails of an existing user.
        var address: String?
        /// The emails; nil in rows that an earlier version wrote, which have links only.
        var messages: [SentEmail]?

        fileprivate var key: EmailKey { address.map { EmailKey($0, in: user.realm) } ?? EmailKey(user) }

        /// The emails, oldest first.
        fileprivate var entries: [Entry] {
            let messages = messages ?? []
            let known = Set(messages.compactMap(\.link))
            return links.filter { !known.contains($0) }.map { Entry(user: user, exists: address == nil, link: $0, message: nil) }
                + messages.map { Entry(user: $0.user, exists: address == nil, link: $0.link, message: $0) }
        }

        /// Removes all emails but the newest.
        ///
        /// A link is removed with its message. A link that stayed without it would be taken for an email of an earlier version.
        fileprivate mutating func keepNewest(_ limit: Int) {
            let kept = entries.suffix(limit)
            links = kept.compactMap(\.link)
            messages = kept.compactMap(\.message)
        }

        /// Removes the emails that match a condition, and returns their number.
        fileprivate mutating func remove(where isMeant: (Entry) -> Bool) -> Int {
            let removed = entries.filter(isMeant)
            let (links, ids) = (Set(removed.compactMap(\.link)), Set(removed.map(\.id)))
            self.links.removeAll { links.contains($0) }
            messages?.removeAll { ids.contains($0.id) }
            return removed.count
        }
    }

    /// An email in a list.
    struct Entry: Sendable, Hashable {
        let user: UserKey
        /// True for an email to a user that existed when it was sent.
        let exists: Bool
        let link: String?
        /// The email; nil when an earlier version stored its link only.
        let message: SentEmail?

        /// The id; for an email of an earlier version, a digest of its link.
        var id: String { message?.id ?? TokenHash(link ?? "").text }
    }

    private var emails: Table<EmailKey, Emails>
    private let now: Date

    init(_ transaction: RowCache) {
        emails = Table(.emails, transaction)
        now = transaction.now
    }

    /// Returns a user's links, newest last.
    func links(of user: UserKey) throws -> [String] { try emails[EmailKey(user)]?.links ?? [] }

    /// Returns the emails to a user, or to an address, oldest first.
    func entries(of key: EmailKey) throws -> [Entry] { try emails[key]?.entries ?? [] }

    /// Returns the emails of the recipients whose last emails are the newest, at most `limit` recipients.
    ///
    /// They are ordered from oldest to newest. Those of an earlier version, without a time, come first.
    func newest(_ limit: Int) throws -> [Entry] {
        let all = try emails.newest(limit).reversed().flatMap { $0.value.entries }
        // The order of equal times is kept, which `sorted` does not promise.
        return all.enumerated().sorted {
            ($0.element.message?.sentAt ?? .distantPast, $0.offset) < ($1.element.message?.sentAt ?? .distantPast, $1.offset)
        }.map(\.element)
    }

    /// Removes the emails of a user.
    mutating func discard(for user: UserKey) { emails.discard(EmailKey(user)) }

    /// Removes the emails that match a condition, among those of the newest `limit` recipients.
    ///
    /// Returns their number.
    mutating func remove(among limit: Int, where isMeant: (Entry) -> Bool) throws -> Int {
        var count = 0
        for (_, found) in try emails.newest(limit) {
            var row = found
            let removed = row.remove(where: isMeant)
            count += removed
            guard removed > 0 else { continue }
            if row.entries.isEmpty { emails.discard(row.key) } else { insert(row) }
        }
        return count
    }

    mutating func keep(_ message: SentEmail, for recipient: EmailRecipient) throws {
        let key = EmailKey(recipient)
        let isOfAddress = !recipient.exists && recipient.address != nil
        let known = try emails[key]
        var row = Emails(user: recipient.user, links: known?.links ?? [], messages: known?.messages)
        row.address = isOfAddress ? recipient.address?.lowercased() : nil
        if let link = message.link { row.links.append(link) }
        row.messages = (row.messages ?? []) + [message]
        row.keepNewest(Self.size)
        insert(row)
    }

    /// Stores the result of a delivery, if the email is still kept.
    mutating func complete(_ id: String, of key: EmailKey, _ delivery: SentEmail.Delivery) throws {
        guard var row = try emails[key], let index = row.messages?.firstIndex(where: { $0.id == id }) else { return }
        row.messages?[index].delivery = delivery
        insert(row)
    }

    /// Stores the failure of emails that are still queued.
    /// - Parameters:
    ///   - limit: The maximum number of recipients, those with the newest emails.
    ///   - reason: The reason.
    ///   - isMeant: Returns true for the id of an email that is meant.
    /// - Throws: The error of the store.
    mutating func failQueued(among limit: Int, _ reason: String, where isMeant: (String) -> Bool) throws {
        for (_, found) in try emails.newest(limit) {
            var row = found
            for (index, message) in (found.messages ?? []).enumerated() where message.delivery == .queued && isMeant(message.id) {
                row.messages?[index].delivery = .failed(reason)
            }
            if row.messages != found.messages { insert(row) }
        }
    }

    private mutating func insert(_ row: Emails) {
        emails.insert(row, for: row.key, until: now.addingTimeInterval(Self.lifetime))
    }
}
