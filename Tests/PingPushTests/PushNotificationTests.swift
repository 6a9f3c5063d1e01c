import Foundation
import PingPush
import SignetCore
import Testing

@Suite("Push notifications as values")
struct PushNotificationTests {
    private static func made(
        ttl: Int = 120, type: PushType = .default, numbers: String? = nil, createdAt: Date? = nil
    ) -> PushNotification {
        PushNotification(
            id: "n-1", credentialId: "c-1", ttl: ttl, messageId: "m-1", numbersChallenge: numbers, pushType: type,
            createdAt: createdAt)
    }

    @Test("A notification with the required values only has defaults for the others")
    func hasNotificationDefaults() {
        let notification = PushNotification(credentialId: "c-1", ttl: 120, messageId: "m-1", pushType: .default)
        #expect(!notification.id.isEmpty)
        #expect(notification.messageText == nil && notification.customPayload == nil && notification.challenge == nil)
        #expect(notification.numbersChallenge == nil && notification.loadBalancer == nil && notification.contextInfo == nil)
        #expect(notification.sentAt == nil && notification.respondedAt == nil && notification.additionalData == nil)
        #expect(notification.pending && !notification.approved && !notification.responded && !notification.isExpired)
    }

    @Test("A notification keeps all values that it was made with")
    func allValues() {
        let (created, sent) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 1_700_000_010))
        let notification = PushNotification(
            id: "n-1", credentialId: "c-1", ttl: 60, messageId: "m-1", messageText: "Log in?", customPayload: "{}",
            challenge: "Y2hhbGxlbmdl", numbersChallenge: "1,2", loadBalancer: "lb=1", contextInfo: "{}", pushType: .challenge,
            createdAt: created, sentAt: sent, respondedAt: sent,
            additionalData: ["text": "value", "number": 42, "left": created],
            approved: true, pending: false)
        #expect(notification.id == "n-1" && notification.credentialId == "c-1" && notification.messageId == "m-1")
        #expect(notification.ttl == 60 && notification.messageText == "Log in?" && notification.customPayload == "{}")
        #expect(
            notification.challenge == "Y2hhbGxlbmdl" && notification.loadBalancer == "lb=1" && notification.contextInfo == "{}")
        #expect(notification.createdAt == created && notification.sentAt == sent && notification.respondedAt == sent)
        #expect(
            notification.additionalData?["text"] as? String == "value" && notification.additionalData?["number"] as? Int == 42)
        #expect(notification.additionalData?["left"] == nil, "JSON has no dates")
        #expect(notification.approved && !notification.pending && notification.responded)
    }

    @Test("The type of a notification is the name of its push type", arguments: PushType.allCases)
    func typeName(type: PushType) {
        #expect(Self.made(type: type).type == type.rawValue)
    }

    @Test("Marking a notification sets the decision and the time of the response", arguments: [true, false])
    func marksDecisionAndTime(isApproving: Bool) {
        var notification = Self.made()
        if isApproving { notification.markApproved() } else { notification.markDenied() }
        #expect(notification.approved == isApproving && !notification.pending && notification.responded)
        #expect(notification.respondedAt != nil)
    }

    @Test("A notification expires when its time to live has passed since its arrival", arguments: [(60.0, false), (180, true)])
    func expiresAfterTimeToLive(row: (age: Double, isExpired: Bool)) {
        let notification = Self.made(createdAt: SystemWallClock().now.addingTimeInterval(-row.age))
        #expect(notification.isExpired == row.isExpired)
    }

    static let numbers: [(String?, [Int])] = [
        ("34,56,78", [34, 56, 78]), ("34, 56, 78", [34, 56, 78]), ("  34 ,  56  ,78  ", [34, 56, 78]), (nil, []), ("", []),
        ("abc,def", []), ("34,abc,78", [34, 78]),
    ]

    @Test("The numbers to pick from are read from text, and other text is left out", arguments: numbers)
    func numbersToPick(row: (text: String?, numbers: [Int])) {
        #expect(Self.made(type: .challenge, numbers: row.text).getNumbersChallenge() == row.numbers)
    }

    @Test("A notification is the same after it was encoded and decoded, without its additional data")
    func codingRoundTrip() throws {
        var notification = Self.made(type: .challenge, numbers: "1,2", createdAt: Date(timeIntervalSince1970: 1_700_000_000))
        notification.markApproved()
        notification.additionalData = ["key": "value"]
        let json = try JSONEncoder().encode(notification)
        let members = try JSON.members(of: Array(json))
        #expect(try members.text("pushType") == "challenge" && members["pending"] == .bool(false))
        #expect(members["additionalData"] == nil)
        let decoded = try JSONDecoder().decode(PushNotification.self, from: json)
        #expect(decoded.additionalData == nil)
        notification.additionalData = nil
        #expect(decoded == notification)
    }

    @Test("A notification is decoded from the Ping SDK's JSON, in which absent values may be null")
    func decodesPingJSON() throws {
        let json = """
            {"id":"n-1","credentialId":"c-1","ttl":120,"messageId":"m-1","messageText":null,"pushType":"biometric",
            "createdAt":1700000000,"sentAt":null,"respondedAt":null,"approved":false,"pending":true}
            """
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let notification = try decoder.decode(PushNotification.self, from: Data(json.utf8))
        #expect(notification.pushType == .biometric && notification.sentAt == nil && notification.pending)
        #expect(notification.createdAt == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(throws: DecodingError.self) { try decoder.decode(PushNotification.self, from: Data("{}".utf8)) }
    }

    @Test("The description of a notification names its id, type and state, and not its text")
    func describesNotification() {
        let notification = PushNotification(
            id: "n-1", credentialId: "c-1", ttl: 120, messageId: "m-1", messageText: "Log in?", pushType: .default)
        let text = notification.description
        #expect(text.contains("n-1") && text.contains("default") && text.contains("approved: false"))
        #expect(text.contains("pending: true") && !text.contains("Log in?"))
    }

    @Test("A notification can be passed to another task")
    func isSendable() async {
        let notification = Self.made()
        let id = await Task { notification.id }.value
        #expect(id == "n-1")
    }
}
