import Foundation
import Logging
import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetStorage
import TestSupport
import Testing

/// The authenticator, journeys and server together, over real sockets.
@Suite("Push logins over a push stream", .timeLimit(.minutes(2)))
struct PushStreamAccessTests {
    @Test(
        "A user enrolls a device, approves a login with it, and is logged in",
        arguments: ["PushLogin", "PushNumberLogin", "PushBiometricLogin"])
    func logsInWithPush(journey: String) async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            let waiting = try await user.begin(journey)
            let notification = try await user.nextNotification(for: mechanism)
            let number = waiting.hiddenValue("pushChallengeNumber").flatMap(Int.init)
            _ = try await user.authenticator.approve(notification.id, number: number, presence: ConfirmingPresence())
            #expect(try await user.finish(waiting) == nil)
        }
    }

    @Test("The context of a login has the address of the client that logs in")
    func contextHasAddress() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            _ = try await user.begin("PushLogin")
            let context = try await user.nextNotification(for: mechanism).message.contextInfo ?? ""
            #expect(try JSON.value(of: context.utf8)["remoteIp"] == "127.0.0.1")
        }
    }

    @Test("A denied login fails and cannot be approved afterwards")
    func deniedLoginFails() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            let waiting = try await user.begin("PushLogin")
            let notification = try await user.nextNotification(for: mechanism)
            _ = try await user.authenticator.deny(notification.id)
            await #expect { try await user.authenticator.approve(notification.id) } throws: { code($0) == .alreadyAnswered }
            #expect(try await user.finish(waiting) == .loginFailed)
        }
    }

    @Test("Messages sent while no listener is connected arrive at the next listener, each once")
    func deliversMissedMessagesOnce() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            for _ in 0..<3 { _ = try await user.begin("PushLogin") }
            let seen = DistinctItems()
            try await user.listen(for: mechanism) { event in
                if case .received(let notification) = event, seen.add(notification.messageID) == 3 { throw StopListening() }
            }
            #expect(try await user.authenticator.notifications().count == 3)
            _ = try await user.begin("PushLogin")
            _ = try await user.nextNotification(for: mechanism)
            #expect(try await user.authenticator.notifications().count == 4)
        }
    }

    @Test("A listener without the mechanism's secret is refused")
    func refusesListenerWithoutSecret() async throws {
        try await DemoUser.with { user in
            var mechanism = try await user.enrollPush()
            guard case .push(var settings) = mechanism.kind else { throw Unexpected() }
            settings.secret = Secret([UInt8](repeating: 1, count: 32))
            mechanism.kind = .push(settings)
            let changed = mechanism
            try user.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(changed) }
            await #expect { try await user.nextNotification(for: changed) } throws: { code($0) == .refusedByServer }
        }
    }

    @Test("An error thrown by the app's handler reaches the app unchanged, and the received message stays stored")
    func handlerErrorReachesApp() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            _ = try await user.begin("PushNumberLogin")
            let listener = PushStreamListener(user.authenticator, mechanismUID: mechanism.uid)
            // An approval without the number fails before any request, with the error type that also refuses messages.
            await #expect { try await listener.run(Self.approveBlindly(user.authenticator)) } throws: {
                code($0) == .wrongNumber
            }
            #expect(try await user.authenticator.notifications().map(\.decision) == [nil])
            // An error of the type that the network throws is not treated as a network failure.
            await #expect(throws: TransportError(.timeout, host: "app", "its own")) {
                try await listener.run { event in
                    if case .received = event { throw TransportError(.timeout, host: "app", "its own") }
                }
            }
        }
    }

    private static func approveBlindly(_ authenticator: Authenticator)
        -> @Sendable (PushStreamListener.Event) async throws -> Void
    {
        { event in
            guard case .received(let notification) = event else { return }
            _ = try await authenticator.approve(notification.id)
        }
    }

    @Test("A combined enrollment gives one account for codes and push")
    func combinedEnrollment() async throws {
        try await DemoUser.with { user in
            let uri = try #require(try await user.begin("CombinedRegistration").hiddenValue("mfaDeviceRegistration"))
            let account = try await user.authenticator.enroll(uri: uri)
            #expect(Set(account.mechanisms.map(\.kindName)) == [.totp, .push])
        }
    }

    @Test("A listener reports a lost connection and reconnects with growing pauses")
    func listenerReportsLostConnection() async throws {
        let pauses = DistinctItems()
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            let cut = Authenticator(store: user.store, transport: Unreachable(), device: DemoUser.device)
            await #expect(throws: StopListening.self) {
                try await PushStreamListener(cut, mechanismUID: mechanism.uid).run { event in
                    guard case .disconnected(_, let pause) = event else { return }
                    if pauses.add("\(pause)") == 2 { throw StopListening() }
                }
            }
        }
        #expect(pauses.all == ["0.5 seconds", "1.0 seconds"])
    }
}

struct StopListening: Error {}

extension PushStreamListener {
    /// Listens until a message ends at the server.
    /// - Parameter answer: Answers a message that the listener receives, on another device.
    /// - Returns: The ids of the records of the messages that have ended.
    func messagesEnded(by answer: @Sendable () async throws -> Void) async -> [String] {
        let ended = DistinctItems()
        await #expect(throws: StopListening.self) {
            try await run(
                ended: { id in
                    _ = ended.add(id)
                    throw StopListening()
                },
                { event in
                    guard case .received = event else { return }
                    try await answer()
                })
        }
        return ended.all
    }
}

/// The distinct items that were seen, in order.
final class DistinctItems: Sendable {
    private let items = Mutex<[String]>([])
    var all: [String] { items.withLock { $0 } }
    func add(_ item: String) -> Int {
        items.withLock {
            if !$0.contains(item) { $0.append(item) }
            return $0.count
        }
    }
}

/// A network that is down.
private struct Unreachable: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.connect, host: "am.example.test", "on purpose")
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        try await send(request)
    }
}
