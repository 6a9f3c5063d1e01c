import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Requests to a push server")
struct PushRequestTests {
    /// Adds a header and records the action of each request.
    private struct Tracing: RequestInterceptor {
        let header: String
        let seen: DistinctItems
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            _ = seen.add("\(header) \(action.name)")
            var request = request
            request.headers.append(header, action.name)
            return request
        }
    }

    private struct RefusingInterceptor: RequestInterceptor {
        struct Refused: Error {}
        let action: RequestAction
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            if action == self.action { throw Refused() }
            return request
        }
    }

    @Test("Interceptors see each request in order, with the action names of the existing SDKs")
    func interceptorsSeeActions() async throws {
        let seen = DistinctItems()
        let fixture = AuthenticatorFixture(interceptors: [Tracing(header: "A", seen: seen), Tracing(header: "B", seen: seen)])
        let push = try await fixture.enrollPush()
        _ = try await fixture.authenticator.approve(try await fixture.authenticator.receive(try fixture.delivery(to: push)).id)
        _ = try await fixture.authenticator.updateDeviceToken("token-2")
        let names = ["PUSH_REGISTER", "PUSH_AUTHENTICATE", "PUSH_UPDATE"]
        let bothForEach = names.flatMap { ["A \($0)", "B \($0)"] }
        #expect(seen.all == bothForEach)
        let namesInA = fixture.transport.requests.map { $0.headers["A"] }
        #expect(namesInA == names)
        let namesInB = fixture.transport.requests.map { $0.headers["B"] }
        #expect(namesInB == names)
    }

    @Test("An interceptor's error reaches the caller unchanged, and nothing is sent or stored")
    func interceptorErrorReachesCaller() async throws {
        let register = AuthenticatorFixture(interceptors: [RefusingInterceptor(action: .pushRegister)])
        await #expect(throws: RefusingInterceptor.Refused.self) { try await register.enrollPush() }
        #expect(try register.state() == AuthenticatorFixture().state())
        #expect(register.transport.requests.isEmpty)

        let fixture = AuthenticatorFixture(interceptors: [
            RefusingInterceptor(action: .pushAuthenticate), RefusingInterceptor(action: .pushUpdate),
        ])
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush()))
        await #expect(throws: RefusingInterceptor.Refused.self) { try await fixture.authenticator.approve(notification.id) }
        #expect(try fixture.state().notifications == [notification])
        #expect(try await fixture.authenticator.updateDeviceToken("token-2").map(\.isOutstanding) == [true])
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("The push stream passes the interceptors and the request log like every other request")
    func streamPassesInterceptors() async throws {
        let (seen, logged) = (DistinctItems(), DistinctItems())
        let transport = ScriptedTransport { request in
            if request.method == "POST" {
                let link = "<https://am.example.test/stream>; rel=\"\(PushStreamProof.linkRelation)\""
                return HTTPResponse(status: 200, headers: ["Link": link], body: Array("{}".utf8))
            }
            guard request.headers["Authorization"] != nil else {
                return HTTPResponse(status: 401, headers: ["WWW-Authenticate": "\(PushStreamProof.scheme) nonce=\"n\""])
            }
            return HTTPResponse(status: 200)
        }
        let authenticator = Authenticator(
            store: AccountRecords(unsealed: MemoryStore()), transport: transport,
            device: PushDevice(token: "token-1", name: "Mira's laptop"), clock: ManualClock(Sample.start),
            interceptors: [Tracing(header: "A", seen: seen)], requestLogger: { _ = logged.add($0.action?.name ?? "") })
        let mechanism = try await authenticator.enroll(uri: Sample.push).mechanisms[0]
        await #expect(throws: StopListening.self) {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                if case .connected = event { throw StopListening() }
            }
        }
        #expect(seen.all == ["A PUSH_REGISTER", "A PUSH_STREAM"])
        let headers = transport.requests.map { $0.headers["A"] }
        #expect(headers == ["PUSH_REGISTER", "PUSH_STREAM", "PUSH_STREAM"])
        #expect(logged.all == ["PUSH_REGISTER", "PUSH_STREAM"])
    }

    /// The server's clock relative to this device's, in seconds; the accepted offset; and whether a message with a lifetime
    /// of 120 seconds, sent `age` seconds ago by the server's clock, can still be answered.
    static let clocks: [(ahead: Double, known: Double, age: Double, isPending: Bool)] = [
        (0, 0, 119, true), (0, 0, 122, false), (-3600, -3600, 100, true), (-3600, -3600, 130, false), (3600, 3600, 100, true),
        (3600, 3600, 130, false), (0.4, 0, 119, true), (-86_000, -86_000, 10, true), (-90_000, 0, 10, false),
    ]

    @Test("Expiry follows the server's clock within the accepted offset", arguments: clocks)
    func expiryFollowsServerClock(row: (ahead: Double, known: Double, age: Double, isPending: Bool)) async throws {
        let fixture = AuthenticatorFixture { _ in
            let date = ServerDate.text(of: Sample.start.addingTimeInterval(row.ahead))
            return HTTPResponse(status: 200, headers: ["Date": date])
        }
        let push = try await fixture.enrollPush()
        let endpoint = try #require(push.push?.authenticationEndpoint)
        let offset = fixture.authenticator.clock(of: endpoint).offset ?? 0
        #expect(abs(offset - row.known) <= 1)
        let sentAt = Sample.start.addingTimeInterval(row.ahead - row.age)
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: push, sentAt: sentAt)).id
        if row.isPending {
            #expect(try await fixture.authenticator.approve(id).decision == .approved)
        } else {
            await #expect { try await fixture.authenticator.approve(id) } throws: { code($0) == .expired }
            #expect(fixture.transport.requests.count == 1)
        }
    }

    @Test(
        "A message can be answered after a restart when the device's clock is wrong and the offset is unknown",
        arguments: [-3600, -80_000, 3600, 0] as [Double])
    func answersWithWrongClockAfterRestart(ahead: Double) async throws {
        let fixture = AuthenticatorFixture { _ in
            HTTPResponse(status: 200, headers: ["Date": ServerDate.text(of: Sample.start.addingTimeInterval(ahead))])
        }
        let push = try await fixture.enrollPush()
        func restarted() -> Authenticator {
            Authenticator(
                store: fixture.store, transport: fixture.transport, device: PushDevice(token: "token-1", name: "Mira's laptop"),
                clock: fixture.clock)
        }
        let sentAt = Sample.start.addingTimeInterval(ahead)
        let id = try await restarted().receive(try fixture.delivery(to: push, sentAt: sentAt)).id
        #expect(try await restarted().approve(id).decision == .approved)
        // The offset learned from its response counts from then on.
        let known = restarted()
        let endpoint = try #require(push.push?.authenticationEndpoint)
        let fresh = try await known.receive(try fixture.delivery(to: push, id: "2", sentAt: sentAt)).id
        let late = try await known.receive(try fixture.delivery(to: push, id: "3", sentAt: sentAt.addingTimeInterval(-200))).id
        #expect(try await known.approve(fresh).decision == .approved)
        #expect(abs((known.clock(of: endpoint).offset ?? .nan) - ahead) <= 1)
        await #expect { try await known.approve(late) } throws: { code($0) == .expired }
        // The message has expired in any case one lifetime after it arrived.
        let other = try await restarted().receive(try fixture.delivery(to: push, id: "4", sentAt: sentAt)).id
        fixture.clock.advance(by: 121)
        await #expect { try await restarted().approve(other) } throws: { code($0) == .expired }
    }

    @Test("A code is computed for the device's time, or for the server's time on request")
    func codeFollowsChosenClock() async throws {
        let fixture = AuthenticatorFixture { _ in
            HTTPResponse(status: 200, headers: ["Date": ServerDate.text(of: Sample.start.addingTimeInterval(3600))])
        }
        let account = try await fixture.authenticator.enroll(uri: Sample.combined)
        let timed = account.mechanisms.first { $0.kindName == .totp }
        let totp = try #require(timed)
        let (ours, theirs) = (
            try await fixture.authenticator.code(for: totp.uid), try await fixture.authenticator.code(for: totp.uid, by: .server)
        )
        #expect(ours == totp.oath?.code(at: Sample.start))
        #expect(theirs == totp.oath?.code(at: Sample.start.addingTimeInterval(3600)))
    }

    @Test("A user id is stored once, from the first message with a valid signature")
    func storesUserIDOfVerifiedMessage() async throws {
        let fixture = AuthenticatorFixture()
        let push = try await fixture.enrollPush()
        let forged = try fixture.delivery(to: push, secret: Secret([UInt8](repeating: 7, count: 32)), userID: "mallory")
        await #expect(throws: PushMessageError.signature) { try await fixture.authenticator.receive(forged) }
        #expect(try fixture.state().mechanisms.map(\.userID) == [nil])
        _ = try await fixture.authenticator.receive(try fixture.delivery(to: push, userID: "user-7f3a"))
        #expect(try fixture.state().mechanisms.map(\.userID) == ["user-7f3a"])
        _ = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "2", userID: "other"))
        #expect(try fixture.state().mechanisms.map(\.userID) == ["user-7f3a"])
    }
}

/// A `Date` header, written by Foundation's formatter and not by the code under test.
enum ServerDate {
    static func text(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}

/// A custom push platform: messages are `custom:` and the mechanism's id, and end with `:signed`.
private struct CustomPlatform: PushPlatform {
    let name = "custom"
    let log: DistinctItems

    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? {
        _ = try await transport.send(
            HTTPRequest("PUT", invitation.registrationEndpoint.url), for: .pushRegister, to: invitation.registrationEndpoint)
        return nil
    }

    func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        delivery.message.hasPrefix("custom:") ? delivery.message.split(separator: ":").dropFirst().first.map(String.init) : nil
    }

    func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        guard delivery.message.hasSuffix(":signed") else { throw PushMessageError.signature }
        return PushMessage(
            mechanismUID: mechanism.uid, challenge: [1], kind: .tap, timeToLive: 60, sentAt: Sample.start, text: "at the door")
    }

    func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over transport: PushTransport
    ) async throws {
        _ = log.add("\(answer)")
    }

    func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws {
        _ = log.add(device.token)
    }
}

@Suite("A custom push platform")
struct PlatformTests {
    private func enrollment(_ platform: String?) throws -> Enrollment {
        var enrollment = try EnrollmentURI.parse(Sample.push)
        enrollment.push?.platform = platform
        return enrollment
    }

    @Test("A custom platform carries its mechanisms' messages and answers under the same rules")
    func customPlatformLifeCycle() async throws {
        let log = DistinctItems()
        let fixture = AuthenticatorFixture(platforms: [CustomPlatform(log: log)])
        let uid = try await fixture.authenticator.enroll(try enrollment("custom")).mechanisms[0].uid
        #expect(fixture.transport.requests.map(\.method) == ["PUT"])
        let again = AuthenticatorFixture(store: fixture.store, platforms: [CustomPlatform(log: log)])
        await #expect(throws: PushMessageError.signature) {
            try await again.authenticator.receive(PushDelivery(messageId: "1", message: "custom:\(uid):forged"))
        }
        let delivery = PushDelivery(messageId: "1", message: "custom:\(uid):signed")
        let notification = try await again.authenticator.receive(delivery)
        #expect(try await again.authenticator.receive(delivery) == notification)
        #expect(notification.message.text == "at the door")
        #expect(try await again.authenticator.approve(notification.id).decision == .approved)
        await #expect { try await again.authenticator.deny(notification.id) } throws: { code($0) == .alreadyAnswered }
        #expect(try await again.authenticator.updateDeviceToken("token-2").map(\.isOutstanding) == [false])
        #expect(log.all == ["approve", "token-2"])
    }

    @Test("A platform's message is refused for a mechanism of another platform")
    func refusesMessageOfOtherPlatform() async throws {
        let fixture = AuthenticatorFixture(platforms: [CustomPlatform(log: DistinctItems())])
        let push = try await fixture.enrollPush()
        await #expect {
            try await fixture.authenticator.receive(PushDelivery(messageId: "1", message: "custom:\(push.uid):signed"))
        } throws: { code($0) == .unknownMechanism }
        let other = AuthenticatorFixture(platforms: [CustomPlatform(log: DistinctItems())])
        let custom = try await other.authenticator.enroll(try enrollment("custom")).mechanisms[0]
        let delivery = try other.delivery(to: custom)
        await #expect { try await other.authenticator.receive(delivery) } throws: { code($0) == .unknownMechanism }
        #expect(try fixture.state().notifications.isEmpty && other.state().notifications.isEmpty)
    }

    @Test("Enrollment for an unknown platform fails before any request")
    func refusesUnknownPlatform() async throws {
        let fixture = AuthenticatorFixture()
        await #expect { try await fixture.authenticator.enroll(try enrollment("custom")) } throws: {
            code($0) == .unknownPlatform
        }
        #expect(fixture.transport.requests.isEmpty)
        #expect(try await fixture.authenticator.enroll(try enrollment("pingam")).mechanisms[0].push?.platform == nil)
    }
}
