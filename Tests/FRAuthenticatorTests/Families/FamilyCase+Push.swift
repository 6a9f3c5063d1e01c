import SignetAuthenticator
import SignetCore
import SignetTesting

extension FamilyCase {
    /// Enrolls an account with push and receives a pending message.
    private static func waiting(_ kind: PushKind = .tap) -> @Sendable (Stage) async throws -> Void {
        { stage in
            try await stage.enroll(.combined)
            try await stage.receive(kind)
        }
    }

    private static let number = PushKind.number(choices: [34, 56, 82])

    static let messages: [FamilyCase] =
        [
            FamilyCase("a message is taken in") {
                try await $0.enroll(.push)
                try await $0.login()
            } act: {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, stage in
                let id = try stage.delivery.messageId
                return after.decisions == [nil] && after.notifications[0].messageID == id && after.accounts == before.accounts
            },
            FamilyCase("a message that comes again is the same one", prepare: waiting()) {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, stage in
                before == after && after.notifications.map(\.id) == [stage.notification]
            },
            FamilyCase("an unsigned message is refused", refused: .forged) {
                try await $0.enroll(.push)
                try await $0.login()
            } act: {
                let delivery = try $0.delivery
                let forged = delivery.message.split(separator: ".").prefix(2).joined(separator: ".")
                _ = try await $0.family.receive(
                    PushDelivery(
                        messageId: delivery.messageId, message: forged + "." + Sample.base64("a signature of 32 bytes, or so it"))
                )
            },
            FamilyCase("a message for an unknown mechanism is refused", refused: .unknown) {
                try await $0.enroll(.push)
            } act: {
                let message = try Sample.message(to: "nobody")
                _ = try await $0.family.receive(PushDelivery(messageId: "1", message: message))
            },
            FamilyCase("of many messages as many are kept as the family keeps") { stage in
                try await stage.enroll(.push)
                for _ in 0..<3 {
                    try await stage.receive()
                    stage.server.clock.advance(by: 1)
                }
                try await stage.login()
            } act: {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, stage in
                let kept = stage.family.kept(of: 4)
                return after.notifications.count == kept
                    && Array(after.notifications.dropFirst()) == Array(before.notifications.prefix(kept - 1))
            },
        ] + answers

    static let answers: [FamilyCase] = [
        answered("approved", .tap, as: .approved) { try await $0.family.approve($0.notification, number: nil) },
        answered("approved with its number", number, as: .approved) {
            try await $0.family.approve($0.notification, number: $0.server.number)
        },
        answered("a biometric challenge is approved for a recognized user", .biometric, as: .approved) {
            try await $0.family.approve($0.notification, number: nil)
        },
        answered("denied", .tap, as: .denied) { try await $0.family.deny($0.notification) },
        answered("denied, and its number not asked for", number, as: .denied) {
            try await $0.family.deny($0.notification)
        },
        FamilyCase("a message is not approved with a wrong number", refused: .lacking, prepare: waiting(number)) {
            try await $0.family.approve($0.notification, number: 100)
        },
        FamilyCase("a message is not approved without its number", refused: .lacking, prepare: waiting(number)) {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("a message that is answered is not answered again", refused: .notPending) { stage in
            try await waiting()(stage)
            try await stage.family.approve(stage.notification, number: nil)
        } act: {
            try await $0.family.deny($0.notification)
        },
        FamilyCase("a message whose time is over is not answered", refused: .notPending) { stage in
            try await waiting()(stage)
            stage.server.clock.advance(by: 3_600)
        } act: {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("no message of a locked account is approved", refused: .locked, prepare: locked) {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("no message of a locked account is denied", refused: .locked, prepare: locked) {
            try await $0.family.deny($0.notification)
        },
    ]

    private static let locked: @Sendable (Stage) async throws -> Void = { stage in
        try await stage.enroll(.underPolicy, .push)
        try await stage.receive()
        try await stage.family.lock(stage.account, policy: "custom")
    }

    private static func answered(
        _ what: String, _ kind: PushKind, as decision: SignetCore.PushNotification.Decision,
        _ act: @escaping @Sendable (Stage) async throws -> Void
    ) -> FamilyCase {
        FamilyCase("a message is \(what)", again: .notPending, prepare: waiting(kind), act: act) { before, after, _ in
            var expected = before
            expected.notifications[0].decision = decision
            // The client may have read the server's clock meanwhile.
            expected.notifications[0].clockOffset = after.notifications.first?.clockOffset
            return after == expected
        }
    }

    static let tokens: [FamilyCase] = [
        FamilyCase("servers are told of another token", tellsServers: true) {
            try await $0.enroll(.combined)
        } act: {
            try await $0.family.take(token: "token-2")
        } isDone: { before, after, stage in
            let token = try stage.place.state().token
            return before == after && token?.token == "token-2" && token?.outstanding == []
        },
        FamilyCase("the same token is no news", prepare: waiting()) {
            try await $0.family.take(token: "token-1")
        } isDone: { before, after, stage in
            let token = try stage.place.state().token
            return before == after && token?.token == "token-1"
        },
    ]
}
