import Foundation
import Testing

@testable import SignetCore

@Suite("What has become of a push message")
struct PushNotificationTests {
    /// A notification that came at 1735689600 with a life of a minute, sent `sent` seconds after that.
    private func notification(
        sent: Double?, decision: PushNotification.Decision? = nil, clockOffset: Double? = 0
    ) throws -> PushNotification {
        var claims: [String: JSONValue] = ["u": .string("1"), "c": .string("AAAA"), "t": .string("60")]
        claims["i"] = sent.map { .string(String(Int64((Sample.newYear2025.timeIntervalSince1970 + $0) * 1000))) }
        let jwt = CompactJWS.sign(try JSON.encode(claims), with: try Sample.pushSecret)
        let message = try SealedPushMessage(jwt).open(with: Sample.pushSecret)
        return PushNotification(
            messageID: "AUTHENTICATE:1", message: message, receivedAt: Sample.newYear2025, decision: decision,
            clockOffset: clockOffset)
    }

    @Test(
        "It expires a life after it was sent, or after it came when it does not say, or says it was sent later than that",
        arguments: [
            (nil, 60), (0, 60), (-10, 50), (-60, 0), (-3600, -3540), (1, 60), (3600, 60), (1e9, 60),
        ] as [(Double?, Double)])
    func expiry(sent: Double?, end: Double) throws {
        let notification = try notification(sent: sent)
        let expiresAt = Sample.newYear2025.addingTimeInterval(end)
        #expect(notification.expiresAt == expiresAt)
        #expect(notification.state(at: expiresAt.addingTimeInterval(-0.001)) == .pending)
        #expect(notification.state(at: expiresAt) == .pending)
        #expect(notification.state(at: expiresAt.addingTimeInterval(0.001)) == .expired)
        #expect(notification.state(at: .distantPast) == .pending)
        #expect(notification.state(at: .distantFuture) == .expired)
    }

    @Test(
        "Where the server's clock is not known it expires a life after it came, unless no wrong clock explains how old it is",
        arguments: [
            (nil, 60), (0, 60), (-3600, 60), (-86_400, 60), (-86_401, 59), (-86_460, 0), (-100_000, -13_540), (3600, 60),
        ] as [(Double?, Double)])
    func unknownClock(sent: Double?, end: Double) throws {
        let notification = try notification(sent: sent, clockOffset: nil)
        #expect(notification.expiresAt == Sample.newYear2025.addingTimeInterval(end))
    }

    @Test(
        "What was answered stays answered, also when its time is over",
        arguments: [
            (PushNotification.Decision.approved, PushNotification.State.approved), (.denied, .denied),
        ])
    func decisions(decision: PushNotification.Decision, state: PushNotification.State) throws {
        let answered = try notification(sent: nil, decision: decision)
        for date in [Date.distantPast, Sample.newYear2025, answered.expiresAt, .distantFuture] {
            #expect(answered.state(at: date) == state)
        }
    }

    @Test("Asking for the state changes nothing")
    func readingNeverWrites() throws {
        let notification = try notification(sent: 0)
        let before = notification
        _ = notification.state(at: .distantFuture)
        #expect(notification == before)
        #expect(notification.decision == nil)
    }
}

@Suite("The id of a notification")
struct PushNotificationIDTests {
    @Test("is the same for the same message, and another for every other pair, also for pairs that are equal when joined")
    func pairs() {
        func id(_ mechanism: String, _ message: String) -> String {
            PushNotification.id(mechanismUID: mechanism, messageID: message)
        }
        #expect(id("a", "b") == id("a", "b"))
        #expect(Set([id("a", "b"), id("b", "a"), id("ab", ""), id("", "ab"), id("a-", "b"), id("a", "-b")]).count == 6)
    }

    @Test("has the form of a UUID")
    func form() throws {
        #expect(
            PushNotification.id(mechanismUID: "a", messageID: "b").wholeMatch(
                of: /[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/) != nil)
    }
}
