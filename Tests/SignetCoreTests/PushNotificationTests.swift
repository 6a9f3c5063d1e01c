import Foundation
import Testing

@testable import SignetCore

@Suite("State of a push notification")
struct PushNotificationTests {
    /// A notification that arrived at 1735689600 with a lifetime of a minute, sent `sent` seconds after that.
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
        "A notification expires one lifetime after its send time, or after its arrival without a plausible send time",
        arguments: [
            (nil, 60), (0, 60), (-10, 50), (-60, 0), (-3600, -3540), (1, 60), (3600, 60), (1e9, 60),
        ] as [(Double?, Double)])
    func notificationExpiry(sent: Double?, end: Double) throws {
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
        "With an unknown server clock, a notification expires one lifetime after arrival unless it is too old",
        arguments: [
            (nil, 60), (0, 60), (-3600, 60), (-86_400, 60), (-86_401, 59), (-86_460, 0), (-100_000, -13_540), (3600, 60),
        ] as [(Double?, Double)])
    func expiryWithUnknownClock(sent: Double?, end: Double) throws {
        let notification = try notification(sent: sent, clockOffset: nil)
        #expect(notification.expiresAt == Sample.newYear2025.addingTimeInterval(end))
    }

    @Test(
        "An answered notification stays answered after its expiry",
        arguments: [
            (PushNotification.Decision.approved, PushNotification.State.approved), (.denied, .denied),
        ])
    func answeredStateIsFinal(decision: PushNotification.Decision, state: PushNotification.State) throws {
        let answered = try notification(sent: nil, decision: decision)
        for date in [Date.distantPast, Sample.newYear2025, answered.expiresAt, .distantFuture] {
            #expect(answered.state(at: date) == state)
        }
    }

    @Test("Reading the state changes nothing")
    func readingStateChangesNothing() throws {
        let notification = try notification(sent: 0)
        let before = notification
        _ = notification.state(at: .distantFuture)
        #expect(notification == before)
        #expect(notification.decision == nil)
    }
}

@Suite("The id of a push notification")
struct PushNotificationIDTests {
    @Test("The id is the same for the same message and differs for every other pair, also when joined pairs are equal")
    func notificationIDsAreUnique() {
        func id(_ mechanism: String, _ message: String) -> String {
            PushNotification.id(mechanismUID: mechanism, messageID: message)
        }
        #expect(id("a", "b") == id("a", "b"))
        #expect(Set([id("a", "b"), id("b", "a"), id("ab", ""), id("", "ab"), id("a-", "b"), id("a", "-b")]).count == 6)
    }

    @Test("The id has the form of a UUID")
    func notificationIDIsUUID() throws {
        #expect(
            PushNotification.id(mechanismUID: "a", messageID: "b").wholeMatch(
                of: /[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/) != nil)
    }
}
