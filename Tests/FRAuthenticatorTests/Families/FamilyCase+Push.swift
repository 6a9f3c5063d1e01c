import SignetAuthenticator
import SignetCore
import SignetTesting

extension FamilyCase {
    /// Enrolls an account with push and receives a pending message.
    private static func waiting(_ kind: PushKind = .tap) -> @Sendable (FamilyCaseRun) async throws -> Void {
        { run in
            try await run.enroll(.combined)
            try await run.receive(kind)
        }
    }

    private static let number = PushKind.number(choices: [34, 56, 82])

    static let messages: [FamilyCase] =
        [
            FamilyCase("a message is received") {
                try await $0.enroll(.push)
                try await $0.login()
            } perform: {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, run in
                let id = try run.delivery.messageId
                return after.decisions == [nil] && after.notifications[0].messageID == id && after.accounts == before.accounts
            },
            FamilyCase("a message received again is the same notification", prepare: waiting()) {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, run in
                before == after && after.notifications.map(\.id) == [run.notification]
            },
            FamilyCase("an unsigned message is refused", refused: .forged) {
                try await $0.enroll(.push)
                try await $0.login()
            } perform: {
                let delivery = try $0.delivery
                let forged = delivery.message.split(separator: ".").prefix(2).joined(separator: ".")
                _ = try await $0.family.receive(
                    PushDelivery(
                        messageId: delivery.messageId, message: forged + "." + Sample.base64("a signature of 32 bytes, or so it"))
                )
            },
            FamilyCase("a message for an unknown mechanism is refused", refused: .unknown) {
                try await $0.enroll(.push)
            } perform: {
                let message = try Sample.message(to: "nobody")
                _ = try await $0.family.receive(PushDelivery(messageId: "1", message: message))
            },
            FamilyCase("only the newest messages are kept, as many as the family allows") { run in
                try await run.enroll(.push)
                for _ in 0..<3 {
                    try await run.receive()
                    run.server.clock.advance(by: 1)
                }
                try await run.login()
            } perform: {
                $0.notification = try await $0.family.receive($0.delivery)
            } isDone: { before, after, run in
                let kept = run.family.kept(of: 4)
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
        answered("denied without its number", number, as: .denied) {
            try await $0.family.deny($0.notification)
        },
        FamilyCase("a message is not approved with a wrong number", refused: .lacking, prepare: waiting(number)) {
            try await $0.family.approve($0.notification, number: 100)
        },
        FamilyCase("a message is not approved without its number", refused: .lacking, prepare: waiting(number)) {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("an answered message is not answered again", refused: .notPending) { run in
            try await waiting()(run)
            try await run.family.approve(run.notification, number: nil)
        } perform: {
            try await $0.family.deny($0.notification)
        },
        FamilyCase("an expired message is not answered", refused: .notPending) { run in
            try await waiting()(run)
            run.server.clock.advance(by: 3_600)
        } perform: {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("a message of a locked account is not approved", refused: .locked, prepare: locked) {
            try await $0.family.approve($0.notification, number: nil)
        },
        FamilyCase("a message of a locked account is not denied", refused: .locked, prepare: locked) {
            try await $0.family.deny($0.notification)
        },
    ]

    private static let locked: @Sendable (FamilyCaseRun) async throws -> Void = { run in
        try await run.enroll(.underPolicy, .push)
        try await run.receive()
        try await run.family.lock(run.account, policy: "custom")
    }

    private static func answered(
        _ what: String, _ kind: PushKind, as decision: SignetCore.PushNotification.Decision,
        _ perform: @escaping @Sendable (FamilyCaseRun) async throws -> Void
    ) -> FamilyCase {
        FamilyCase("a message is \(what)", repeatRefusal: .notPending, prepare: waiting(kind), perform: perform) {
            before, after, run in
            // The JSON of the ForgeRock SDK, which an app's storage client keeps, has no time of the decision.
            guard run.storage.kind.isClient || after.notifications.first?.decidedAt != nil else { return false }
            var expected = before
            expected.notifications[0].decision = decision
            // A client may have read the server's clock meanwhile.
            expected.notifications[0].clockOffset = after.notifications.first?.clockOffset
            expected.notifications[0].decidedAt = after.notifications.first?.decidedAt
            return after == expected
        }
    }

    static let tokens: [FamilyCase] = [
        FamilyCase("servers are sent a new device token", sendsDeviceToken: true) {
            try await $0.enroll(.combined)
        } perform: {
            try await $0.family.take(token: "token-2")
        } isDone: { before, after, run in
            let token = try run.storage.state().token
            return before == after && token?.token == "token-2" && token?.outstanding == []
        },
        FamilyCase("the same device token is not sent again", prepare: waiting()) {
            try await $0.family.take(token: "token-1")
        } isDone: { before, after, run in
            let token = try run.storage.state().token
            return before == after && token?.token == "token-1"
        },
    ]
}
