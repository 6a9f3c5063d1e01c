import Foundation
import SignetAuthenticator
import SignetCore
import SignetDesktop

/// A mechanism that makes codes, as `signet watch` lists it.
///
/// It has no secret. Its texts are escaped once, when the vault is read, and not in each frame.
struct WatchAccount: Sendable, Hashable, Identifiable {
    /// The ID of the mechanism.
    let id: String
    let issuer: CellText
    let name: CellText
    /// The issuer and the name in one text.
    let title: CellText
    /// The names that the search compares.
    let names: [String]
    /// The code, the counter or the lock; nil while it is not known.
    var content: CodeEntry.Content?

    /// Creates the entry of a mechanism; nil when it makes no codes.
    /// - Parameters:
    ///   - account: The account.
    ///   - mechanism: A mechanism of the account.
    ///   - code: The current code of a time-based mechanism.
    init?(_ account: EnrolledAccount, _ mechanism: Mechanism, code: OneTimeCode?) {
        guard AccountCodes.kinds.contains(mechanism.kindName) else { return nil }
        id = mechanism.uid
        (issuer, name) = (CellText(account.shownIssuer), CellText(account.shownAccountName))
        title = CellText(account.watchTitle)
        names = Array(Set(account.names))
        content = CodeEntry(account: account, mechanism: mechanism, code: code)?.content
    }

    /// Creates an entry from its parts.
    init(id: String, issuer: String, name: String, content: CodeEntry.Content?) {
        self.id = id
        (self.issuer, self.name) = (CellText(issuer), CellText(name))
        title = CellText(issuer.isEmpty ? name : "\(issuer): \(name)")
        names = [issuer, name, "\(issuer): \(name)"]
        self.content = content
    }

    /// The fewest columns in which the issuer and the name are shortened separately.
    private static let minSharedWidth = 12

    /// Returns the issuer and the name in exactly a number of columns.
    ///
    /// Where they do not fit, each keeps its beginning, because accounts of one issuer differ in the name only.
    func title(columns: Int) -> String {
        guard title.width > columns, columns >= Self.minSharedWidth, issuer.width > 0, name.width > 0 else {
            return title.text.filling(columns)
        }
        let room = columns - 2
        let issuerWidth = min(issuer.width, max(room / 2, room - name.width))
        return "\(issuer.text.shortened(to: issuerWidth)): \(name.text.shortened(to: room - issuerWidth))".filling(columns)
    }

    /// The code, if it is valid at `date`.
    func code(at date: Date) -> OneTimeCode? {
        guard case .code(let code)? = content, code.isValid(at: date) else { return nil }
        return code
    }

    /// The text in the column of codes, without regard to the time.
    var contentText: String {
        switch content {
        case .code(let code)?: Self.grouped(code.digits)
        case .counter(let next)?: "counter \(next)"
        case .elsewhere(let owner)?: CellText("on \(owner)").text
        case .locked?: "locked"
        case nil: Self.missing
        }
    }

    /// The text in the place of a code that has ended, until the next one is read.
    static let missing = "..."

    /// Returns digits in groups, which are easier to type from.
    static func grouped(_ digits: String) -> String {
        guard digits.count >= 6 else { return digits }
        let half = (digits.count + 1) / 2
        return "\(digits.prefix(half)) \(digits.dropFirst(half))"
    }
}

extension EnrolledAccount {
    /// The issuer and the name; only the name for an account without an issuer.
    fileprivate var watchTitle: String { shownIssuer.isEmpty ? shownAccountName : shownName }
}

/// A push message that waits for an answer, as `signet watch` shows it.
struct WatchMessage: Sendable, Hashable, Identifiable {
    let id: String
    let title: CellText
    let text: CellText
    /// The text beside the signed message; nil without one.
    let unsignedText: CellText?
    /// The address, the place and the browser of the login, as far as the server sent them.
    let context: CellText
    let kind: PushKind
    let expiresAt: Date

    /// Describes a message.
    /// - Parameters:
    ///   - notification: The message.
    ///   - account: The account of its mechanism; nil when it is not known.
    init(_ notification: PushNotification, of account: EnrolledAccount?) {
        let message = notification.message
        let context = LoginContext(message.contextInfo)
        let parts = [("address", context.address), ("location", context.location), ("browser", context.browser)]
        self.init(
            id: notification.id, title: account?.watchTitle ?? "(unknown account)", text: message.text ?? "",
            unsignedText: notification.unsignedSubject,
            context: parts.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", "),
            kind: message.kind, expiresAt: notification.expiresAt)
    }

    /// Creates a message from its parts.
    init(
        id: String, title: String, text: String, unsignedText: String? = nil, context: String = "", kind: PushKind,
        expiresAt: Date
    ) {
        self.id = id
        self.title = CellText(title)
        self.text = CellText(text.isEmpty ? "(no text)" : text)
        self.unsignedText = unsignedText.map { CellText($0) }
        self.context = CellText(context)
        self.kind = kind
        self.expiresAt = expiresAt
    }

    /// The whole seconds until the server stops waiting.
    func secondsLeft(at date: Date) -> Int { max(0, Int(expiresAt.timeIntervalSince(date).rounded(.up))) }
}

/// The accounts and messages that `signet watch` has read from the vault or the agent.
struct WatchContents: Sendable {
    /// The mechanisms that make codes.
    var accounts: [WatchAccount] = []
    /// The messages that can be answered, the newest first.
    var messages: [WatchMessage] = []
    /// The titles of the accounts that take push messages, by the ID of the mechanism.
    var pushTitles: [String: CellText] = [:]
    /// The number of accounts and mechanisms that cannot be read.
    var damagedCount = 0

    /// Creates empty contents.
    init() {}

    /// Describes accounts and messages.
    /// - Parameters:
    ///   - enrolled: All accounts.
    ///   - codes: The current codes by the ID of the mechanism.
    ///   - notifications: All messages.
    ///   - date: The current time.
    init(_ enrolled: [EnrolledAccount], codes: [String: OneTimeCode], notifications: [PushNotification], at date: Date) {
        accounts = enrolled.flatMap { account in
            account.mechanisms.compactMap { WatchAccount(account, $0, code: codes[$0.uid]) }
        }
        var owners: [String: EnrolledAccount] = [:]
        for account in enrolled {
            for mechanism in account.mechanisms where mechanism.kindName == .push {
                owners[mechanism.uid] = account
                pushTitles[mechanism.uid] = CellText(account.watchTitle)
            }
        }
        messages = notifications.filter { $0.state(at: date) == .pending }.sorted { $0.receivedAt > $1.receivedAt }.map {
            WatchMessage($0, of: owners[$0.message.mechanismUID])
        }
    }
}
