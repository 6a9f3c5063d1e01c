#if os(Linux)
import Foundation
import SignetAuthenticator
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

private let missing = MessageBus.missingPrograms

/// Returns the result of `CheckAuthorization`.
private func result(_ isAuthorized: Bool, _ isChallenge: Bool, _ details: [String: String] = [:]) -> DBusValue {
    .structure([.boolean(isAuthorized), .boolean(isChallenge), .texts(details)])
}

@Suite("The user's presence by polkit", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct PolkitPresenceTests {
    private let notification = PushNotification(
        messageID: "AUTHENTICATE:1",
        message: PushMessage(mechanismUID: "1", challenge: [1], kind: .biometric, timeToLive: 120, sentAt: nil, text: nil),
        receivedAt: Date(timeIntervalSince1970: 1_735_689_600))

    /// Runs a test with an authority that gives one result when it may not ask, and another one when it may; nil for no answer.
    private func with(
        silent: DBusValue, asked: DBusValue?, _ body: (any UserPresence, ScriptedService, DBusConnection) async throws -> Void,
        timeout: Duration = .seconds(60)
    ) async throws {
        try await MessageBus.with { bus in
            let authority = try await ScriptedService.start(bus, PolkitPresence.busName) { call in
                guard call.member == "CheckAuthorization", call.body.count == 5 else { return call.unknownMethod }
                guard call.body[3] == .uint32(1) else { return call.reply([silent]) }
                return asked.map { call.reply([$0]) }
            }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            try await body(PolkitPresence(connection, timeout: timeout), authority, connection)
            authority.stop()
        }
    }

    private func refusal(_ presence: any UserPresence) async -> PolkitPresence.Refusal.Code? {
        do {
            try await presence.confirm(notification)
            return nil
        } catch {
            return (error as? PolkitPresence.Refusal)?.code
        }
    }

    @Test("A user that polkit asks and recognizes is present, and polkit is asked about this connection")
    func recognizesUser() async throws {
        try await with(silent: result(false, true), asked: result(true, false)) { presence, authority, connection in
            try await presence.confirm(notification)
            let calls = authority.calls(of: "CheckAuthorization")
            try #require(calls.count == 2)
            let subject = DBusValue.structure([
                .string("system-bus-name"), .options(["name": .string(connection.uniqueName)]),
            ])
            for call in calls {
                #expect(call.body[0] == subject)
                #expect(call.body[1] == .string("org.signet-identity.approve"))
                #expect(call.body[2] == .texts([:]))
            }
            #expect(calls[0].body[4] != calls[1].body[4])
        }
    }

    @Test("Polkit is asked about another process by its ID, its start time and its user")
    func namesOtherProcess() async throws {
        try await MessageBus.with { bus in
            let authority = try await ScriptedService.start(bus, PolkitPresence.busName) { call in
                call.reply([result(call.body[3] == .uint32(1), call.body[3] == .uint32(0))])
            }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let subject = PolkitSubject.process(id: 4711, startTime: 8211, user: 1000)
            try await PolkitPresence(connection, subject: subject).confirm(notification)
            let expected = DBusValue.structure([
                .string("unix-process"),
                .options(["pid": .uint32(4711), "start-time": .uint64(8211), "uid": .int32(1000)]),
            ])
            let subjects = authority.calls(of: "CheckAuthorization").map { $0.body[0] }
            #expect(subjects == [expected, expected])
            authority.stop()
        }
    }

    @Test(
        "A check without a question, or with a question that the user did not answer, proves no presence",
        arguments: [
            (result(true, false), result(true, false), .notAsked), (result(false, false), result(true, false), .notAllowed),
            (result(false, true), result(false, false), .notRecognized),
            (result(false, true), result(false, false, ["polkit.dismissed": "true"]), .dismissed),
            (result(false, true), result(false, true), .notRecognized),
            (.string("other"), result(true, false), .unavailable), (result(false, true), .boolean(true), .unavailable),
        ] as [(DBusValue, DBusValue, PolkitPresence.Refusal.Code)])
    func refusesWithoutQuestion(silent: DBusValue, asked: DBusValue, code: PolkitPresence.Refusal.Code) async throws {
        try await with(silent: silent, asked: asked) { presence, _, _ in
            let reported = await refusal(presence)
            #expect(reported == code)
        }
    }

    @Test("A question that is not answered in time is closed")
    func closesLateQuestion() async throws {
        try await with(
            silent: result(false, true), asked: nil,
            { presence, authority, _ in
                let reported = await refusal(presence)
                #expect(reported == .unavailable)
                let isClosed = try await eventually { !authority.calls(of: "CancelCheckAuthorization").isEmpty }
                #expect(isClosed)
                let question = authority.calls(of: "CheckAuthorization").last?.body[4]
                let closed = authority.calls(of: "CancelCheckAuthorization").first?.body.first
                #expect(question == closed)
            }, timeout: .milliseconds(100))
    }

    @Test(
        "The user can be asked only where polkit neither allows nor refuses the action by itself",
        arguments: [
            (result(false, true), true), (result(true, false), false), (result(true, true), false), (result(false, false), false),
            (.string("other"), false),
        ] as [(DBusValue, Bool)])
    func knowsWhetherItCanAsk(silent: DBusValue, expected: Bool) async throws {
        try await with(silent: silent, asked: result(true, false)) { _, authority, connection in
            let canAsk = await PolkitPresence(connection).canAsk()
            #expect(canAsk == expected)
            let questions = authority.calls(of: "CheckAuthorization").map { $0.body[3] }
            #expect(questions == [.uint32(0)])
        }
    }

    @Test("Without polkit the presence cannot be checked")
    func reportsMissingPolkit() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let reported = await refusal(PolkitPresence(connection))
            #expect(reported == .unavailable)
        }
    }

    @Test("The policy for polkit has the action, asks in local sessions, and remembers no answer")
    func policyAsksEachTime() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = package.appending(path: "packaging/polkit/\(PolkitPresence.action).policy")
        let policy = try String(contentsOf: file, encoding: .utf8)
        #expect(policy.contains("<action id=\"\(PolkitPresence.action)\">"))
        #expect(policy.contains("<allow_any>no</allow_any>"))
        #expect(policy.contains("<allow_inactive>no</allow_inactive>"))
        #expect(policy.contains("<allow_active>auth_self</allow_active>"))
        #expect(!policy.contains("_keep"))
    }
}
#endif
