import Foundation
import SignetCore
import Testing

@testable import SignetDesktop

@Suite("What a notification of the desktop shows")
struct PushNoticeTests {
    private static let everything = NotificationCapabilities(["actions", "body", "body-markup", "persistence"])

    private func notification(
        _ kind: PushKind = .tap, text: String? = "Login attempt from mira", contextInfo: String? = nil, subject: String? = nil
    ) -> PushNotification {
        let message = PushMessage(
            mechanismUID: "1", challenge: [1, 2, 3], kind: kind, timeToLive: 120, sentAt: nil, text: text,
            contextInfo: contextInfo)
        var notification = PushNotification(
            messageID: "AUTHENTICATE:1", message: message, receivedAt: Date(timeIntervalSince1970: 1_735_689_600))
        notification.unsignedSubject = subject
        return notification
    }

    private func notice(_ notification: PushNotification, issuer: String? = "Acme", account: String? = "mira") -> PushNotice {
        PushNotice(for: notification, issuer: issuer, accountName: account, timeZone: .gmt)
    }

    /// Returns the line with the time of a message that was received at the beginning of 2025.
    private func timeLine(_ notification: PushNotification) -> String {
        "Time: 00:00:00, message \(notification.id.prefix(8))"
    }

    @Test("A message is shown with its text, account and context, and expires with it")
    func showsMessage() {
        let context = """
            {"remoteIp": "203.0.113.7", "location": {"latitude": 48.1374, "longitude": -11.57}, "platform": "Linux x86_64",
             "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"}
            """
        let notification = notification(contextInfo: context)
        let notice = notice(notification)
        #expect(notice.summary == "Login request: Acme")
        #expect(
            notice.body == [
                "Login attempt from mira", "Account: mira", "Address: 203.0.113.7", "Location: 48.14, -11.57",
                "Browser: Firefox on Linux", timeLine(notification),
            ])
        #expect(notice.answers == [.approve, .deny])
        #expect(notice.expiresAt == notification.expiresAt)
    }

    @Test("Two logins with the same text are different notices, because some desktops show equal ones as one")
    func distinguishesEqualMessages() {
        let first = notification()
        let second = PushNotification(
            messageID: "AUTHENTICATE:2", message: first.message, receivedAt: first.receivedAt)
        let bodies = [notice(first).body, notice(second).body]
        #expect(bodies[0] != bodies[1])
        #expect(bodies[0].dropLast() == bodies[1].dropLast())
    }

    @Test("The time of the login is in the time zone of the user, also when the message was received late")
    func showsLocalTime() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 19_800))
        let received = Date(timeIntervalSince1970: 1_735_689_600)
        let message = PushMessage(
            mechanismUID: "1", challenge: [1, 2, 3], kind: .tap, timeToLive: 120, sentAt: received.addingTimeInterval(-61),
            text: nil)
        let notification = PushNotification(messageID: "AUTHENTICATE:1", message: message, receivedAt: received, clockOffset: 0)
        let notice = PushNotice(for: notification, issuer: nil, accountName: nil, timeZone: zone)
        #expect(notice.body == ["Time: 05:28:59, message \(notification.id.prefix(8))"])
    }

    @Test("The summary has the issuer and nothing else of the message, because a locked screen may show it")
    func summaryHasIssuerOnly() {
        let notification = notification(text: "SECRET TEXT", contextInfo: #"{"remoteIp": "203.0.113.7"}"#, subject: "SUBJECT")
        #expect(notice(notification).summary == "Login request: Acme")
        #expect(notice(notification, issuer: nil).summary == "Login request")
        #expect(notice(notification, issuer: " \n").summary == "Login request")
    }

    @Test(
        "A number challenge has its numbers as buttons, and none when a desktop could not show them all",
        arguments: [
            ([34, 56, 82], [.number(34), .number(56), .number(82), .deny]), ([7], [.number(7), .deny]),
            ([5, 5, 6], [.number(5), .number(6), .deny]), ([], []), ([1, 2, 3, 4], []),
        ] as [([Int], [PushNotice.Answer])])
    func numberButtons(choices: [Int], answers: [PushNotice.Answer]) {
        let notice = notice(notification(.number(choices: choices)))
        #expect(notice.answers == answers)
        #expect(notice.body.contains("Choose the number that the login page shows.") == !answers.isEmpty)
        #expect(notice.commands.first?.contains("--number NUMBER") == true)
    }

    @Test("Numbers without buttons are in the text, the first ten of them")
    func numbersWithoutButtons() {
        let notice = notice(notification(.number(choices: Array(1...12))))
        #expect(notice.body.last == "Numbers: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10")
    }

    @Test("A biometric message says that the user's presence is checked")
    func biometricMessage() {
        let notice = notice(notification(.biometric))
        #expect(notice.answers == [.approve, .deny])
        #expect(notice.body.last == "Your presence is checked after you approve.")
    }

    @Test("No button has the key of a click on the notification itself")
    func noDefaultAction() {
        for answer in [PushNotice.Answer.approve, .deny, .number(0), .number(-1)] {
            #expect(answer.key != "default")
        }
    }

    @Test("A text of the server stays in its line, and loses what has no shape or changes the direction of text")
    func textStaysInItsLine() {
        let text = "Hello\nAccount: root\u{2028}\u{202E}txet\u{1B}[2J\u{200B}\tend  "
        let notification = notification(text: text, subject: "a\nb")
        let notice = notice(notification, account: "mira\nBrowser: none")
        #expect(
            notice.body == [
                "Hello Account: root txet[2J end", "Not signed: “a b”", "Account: mira Browser: none", timeLine(notification),
            ])
    }

    @Test("A long text is shortened, also one of combining characters only")
    func longTextIsShortened() {
        let notice = notice(notification(text: String(repeating: "x", count: 1000)))
        #expect(notice.body.first?.count == 200)
        #expect(notice.body.first?.last == "…")
        let combining = "e" + String(repeating: "\u{301}", count: 100_000)
        let short = NoticeText.line(combining, limit: 200)
        #expect(short.unicodeScalars.count <= 800)
    }

    @Test(
        "The context shows what it has, and nothing for another form",
        arguments: [
            (
                #"{"userAgent": "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 Edg/120.0"}"#,
                ["Browser: Edge on Windows"]
            ),
            (
                #"{"userAgent": "Mozilla/5.0 (iPhone; CPU) AppleWebKit/605 Version/17 Mobile Safari/604"}"#,
                ["Browser: Safari on iOS"]
            ),
            (#"{"userAgent": "curl/8.5.0"}"#, ["Browser: curl/8.5.0"]), (#"{"platform": "MacIntel"}"#, ["Browser: MacIntel"]),
            (#"{"location": "Munich"}"#, ["Location: Munich"]),
            (
                #"{"location": {"latitude": "1", "longitude": 2}}"#,
                ["Location: 1.00, 2.00"]
            ),
            (#"{"location": {"latitude": 91, "longitude": 2}}"#, []), (#"{"location": {"latitude": 1}}"#, []),
            (#"{"remoteIp": 7, "userAgent": [], "location": 3}"#, []), ("not JSON", []), ("[]", []), ("", []),
        ] as [(String, [String])])
    func showsContext(contextInfo: String, lines: [String]) {
        let notification = notification(text: nil, contextInfo: contextInfo)
        let notice = notice(notification, account: nil)
        #expect(notice.body == lines + [timeLine(notification)])
    }

    @Test("Markup in a text is escaped for a server that reads markup, and only for it")
    func escapesMarkup() {
        let notification = notification(text: #"<a href="x">A & B's</a>"#)
        let notice = notice(notification, account: nil)
        let time = "\n" + timeLine(notification)
        #expect(notice.body(at: Self.everything) == "&lt;a href=&quot;x&quot;&gt;A &amp; B&#39;s&lt;/a&gt;" + time)
        #expect(notice.body(at: NotificationCapabilities(["actions", "body"])) == #"<a href="x">A & B's</a>"# + time)
    }

    @Test("A server without buttons shows the commands that answer in the terminal")
    func serverWithoutActions() {
        let notification = notification()
        let notice = notice(notification, account: nil)
        let server = NotificationCapabilities(["body"])
        let id = notification.id.prefix(8)
        #expect(notice.answers(at: server).isEmpty)
        #expect(
            notice.body(at: server)
                == """
                Login attempt from mira
                \(timeLine(notification))
                Approve: signet push approve \(id)
                Deny: signet push deny \(id)
                """)
        #expect(!notice.body(at: Self.everything).contains("signet push"))
        let numbers = self.notice(self.notification(.number(choices: [1, 2, 3])))
        #expect(numbers.body(at: server).contains("signet push approve \(id) --number NUMBER"))
    }

    @Test("A server without a body gets no buttons, because the user would not see what they approve")
    func serverWithoutBody() {
        let notice = notice(notification())
        let server = NotificationCapabilities(["actions"])
        #expect(notice.answers(at: server).isEmpty)
        #expect(notice.summary(at: server) == "Login request: Acme (answer with: signet push)")
        #expect(notice.summary(at: Self.everything) == "Login request: Acme")
    }
}
