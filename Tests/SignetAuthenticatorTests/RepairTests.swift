import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Answers and registrations that a server accepted and the store failed to save.
@Suite("Recovery of unsaved answers and registrations")
struct RepairTests {
    /// A server that accepts each answer and registration once, as AM does after it has forgotten the message.
    private final class SingleUseServer: Sendable {
        private let seen = Mutex<Set<[UInt8]>>([])
        func answer(_ request: HTTPRequest) -> HTTPResponse {
            HTTPResponse(status: seen.withLock { $0.insert(request.body).inserted } ? 200 : 400)
        }
    }

    /// Returns an authenticator of another process: over the same store, and without this one's state in memory.
    private func another(_ fixture: AuthenticatorFixture) -> Authenticator {
        Authenticator(
            store: fixture.store, transport: fixture.transport, device: PushDevice(token: "token-1", name: "Mira's laptop"),
            clock: fixture.clock)
    }

    /// Returns a fixture whose server loses the first answer and responds to later ones with `status`.
    private func fixture(losing code: TransportError.Code, then status: Int) -> AuthenticatorFixture {
        let calls = Mutex(0)
        return AuthenticatorFixture { request throws(TransportError) in
            guard request.url.hasSuffix("authenticate") else { return HTTPResponse(status: 200) }
            let isFirst = calls.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { throw TransportError(code, host: "am.example.test", "on purpose") }
            return HTTPResponse(status: status)
        }
    }

    @Test(
        "An accepted answer that was not stored is stored by the next call without another request",
        arguments: ["approve", "deny", "receive", "notifications", "notification"])
    func nextCallStoresAcceptedAnswer(next: String) async throws {
        let inner = FaultyStore(MemoryStore())
        let server = SingleUseServer()
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner)) { server.answer($0) }
        let push = try await fixture.enrollPush()
        let delivery = try fixture.delivery(to: push)
        let id = try await fixture.authenticator.receive(delivery).id
        inner.reset()
        inner.inject(StoreFault(.full, at: .commit, .call(2)))
        await #expect { try await fixture.authenticator.approve(id) } throws: { ($0 as? StoreError)?.code == .full }
        inner.reset()
        #expect(try fixture.state().notifications.map(\.decision) == [nil])
        let sent = fixture.transport.requests.count
        switch next {
        case "approve": #expect(try await fixture.authenticator.approve(id).decision == .approved)
        case "deny": await #expect { try await fixture.authenticator.deny(id) } throws: { code($0) == .alreadyAnswered }
        case "receive": #expect(try await fixture.authenticator.receive(delivery).decision == .approved)
        case "notifications": #expect(try await fixture.authenticator.notifications().map(\.decision) == [.approved])
        default: #expect(try await fixture.authenticator.notification(id).decision == .approved)
        }
        #expect(fixture.transport.requests.count == sent)
        #expect(try fixture.state().notifications.map(\.decision) == [.approved])
    }

    @Test(
        "Another process can repeat an accepted answer that was not stored, though the server takes it once",
        arguments: [200, 400], [true, false])
    func otherProcessRepeatsAnswer(repeated: Int, sameAnswer: Bool) async throws {
        let inner = FaultyStore(MemoryStore())
        let server = SingleUseServer()
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner)) { request in
            let response = server.answer(request)
            return response.status == 400 ? HTTPResponse(status: repeated) : response
        }
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        inner.reset()
        inner.inject(StoreFault(.full, at: .commit, .call(2)))
        await #expect { try await fixture.authenticator.approve(id) } throws: { $0 is StoreError }
        inner.reset()
        if sameAnswer {
            #expect(try await another(fixture).approve(id).decision == .approved)
            #expect(try fixture.state().notifications.map(\.decision) == [.approved])
        } else {
            // A different answer is a different request, which the server accepts.
            #expect(try await another(fixture).deny(id).decision == .denied)
        }
    }

    @Test("An answer that the server refused is not stored by a later call")
    func refusedAnswerIsNotStored() async throws {
        let status = Mutex(200)
        let fixture = AuthenticatorFixture { _ in HTTPResponse(status: status.withLock { $0 }) }
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        status.withLock { $0 = 400 }
        for _ in 0..<2 {
            await #expect { try await fixture.authenticator.approve(id) } throws: { code($0) == .refusedByServer }
            #expect(try fixture.state().notifications.map(\.decision) == [nil])
        }
    }

    @Test("An answer that timed out counts as accepted when the server refuses its repetition")
    func repeatedAnswerAfterTimeoutIsAccepted() async throws {
        let fixture = fixture(losing: .timeout, then: 400)
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        await #expect { try await fixture.authenticator.approve(id) } throws: { ($0 as? TransportError)?.isRetryable == true }
        #expect(try fixture.state().notifications.map(\.decision) == [nil])
        #expect(try await fixture.authenticator.approve(id).decision == .approved)
    }

    @Test("An answer refused after a concurrent answer timed out counts as accepted")
    func concurrentAnswerAfterTimeoutIsAccepted() async throws {
        let fixture = fixture(losing: .timeout, then: 400)
        let push = try await fixture.enrollPush()
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: push, kind: .biometric)).id
        let authenticator = fixture.authenticator
        let quick = DelayedPresence {}
        let slow = DelayedPresence {
            await #expect { try await authenticator.approve(id, presence: quick) } throws: {
                ($0 as? TransportError)?.code == .timeout
            }
        }
        #expect(try await authenticator.approve(id, presence: slow).decision == .approved)
        #expect(try fixture.state().notifications.map(\.decision) == [.approved])
    }

    @Test(
        "An answer does not count as accepted when the first attempt failed before it was sent",
        arguments: [TransportError.Code.connect, .tls, .invalidRequest, .wrongKey, .cannotPin])
    func unsentAnswerIsNotAccepted(code: TransportError.Code) async throws {
        let fixture = fixture(losing: code, then: 400)
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await fixture.authenticator.approve(id) } }
        #expect(try fixture.state().notifications.map(\.decision) == [nil])
    }

    @Test("An answer does not count as accepted when a gateway refuses its repetition", arguments: [401, 403, 404, 429])
    func gatewayRefusalIsNotAcceptance(status: Int) async throws {
        let fixture = fixture(losing: .timeout, then: status)
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await fixture.authenticator.approve(id) } }
        #expect(try fixture.state().notifications.map(\.decision) == [nil])
    }

    @Test(
        "An approval is not sent when the message is denied or the account locked during the presence check",
        arguments: [true, false])
    func rechecksAfterPresence(isLock: Bool) async throws {
        let fixture = AuthenticatorFixture()
        let push = try await fixture.enrollPush()
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: push, kind: .biometric)).id
        let (authenticator, account) = (fixture.authenticator, push.account)
        let presence = DelayedPresence {
            if isLock { _ = try await authenticator.lock(account, policy: "mine") } else { _ = try await authenticator.deny(id) }
        }
        let sent = fixture.transport.requests.count
        await #expect {
            try await authenticator.approve(id, presence: presence)
        } throws: { code($0) == (isLock ? .accountLocked : .alreadyAnswered) }
        #expect(fixture.transport.requests.count == sent + (isLock ? 0 : 1))
        #expect(try fixture.state().notifications.map(\.decision) == [isLock ? nil : .denied])
    }

    /// Confirms the user's presence after another operation has run.
    private struct DelayedPresence: UserPresence {
        let meanwhile: @Sendable () async throws -> Void
        func confirm(_ notification: PushNotification) async throws { try await meanwhile() }
    }

    @Test("A message removed while its answer is sent is not stored again")
    func removedMessageStaysRemoved() async throws {
        let removed = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let fixture = AuthenticatorFixture { request in
            if request.url.hasSuffix("authenticate") { try? await removed.withLock { $0 }?() }
            return HTTPResponse(status: 200)
        }
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        let authenticator = fixture.authenticator
        removed.withLock { $0 = { try await authenticator.removeAccount(Sample.account) } }
        #expect(try await fixture.authenticator.approve(id).decision == .approved)
        #expect(try fixture.state() == AuthenticatorFixture().state())
    }

    @Test(
        "A registration that was not stored is reported as such, and the same URI can be enrolled again",
        arguments: [true, false])
    func unsavedRegistrationCanBeRepeated(inSameProcess: Bool) async throws {
        let inner = FaultyStore(MemoryStore())
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner))
        inner.inject(StoreFault(.full, at: .commit))
        await #expect { try await fixture.authenticator.enroll(uri: Sample.combined) } throws: { error in
            code(error) == .registeredNotStored && (error as? AuthenticatorError)?.storeError?.code == .full
        }
        inner.reset()
        #expect(try fixture.state() == AuthenticatorFixture().state())
        let next = inSameProcess ? fixture.authenticator : another(fixture)
        let account = try await next.enroll(uri: Sample.combined)
        // The server sees the same device, whether it is asked again or not.
        #expect(fixture.transport.requests.count == (inSameProcess ? 1 : 2))
        #expect(Set(fixture.transport.requests).count == 1)
        let sent = try JSON.value(of: fixture.transport.requests[0].body)
        let jws = try CompactJWS(try #require(sent["jwt"]?.string))
        let claims = try JSON.value(of: jws.payload(verifiedWith: Secret(try Base64.decode(Sample.secret))))
        let push = account.mechanisms.first { $0.kindName == .push }
        #expect(claims["mechanismUid"]?.string == push?.uid)
    }

    @Test("100 concurrent registrations with one URI register one device and store it once", arguments: StoreKind.allCases)
    func concurrentRegistrationsRegisterOneDevice(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let successes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { (try? await fixture.authenticator.enroll(uri: Sample.combined)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            #expect(Set(fixture.transport.requests).count == 1)
            let stored = try fixture.state()
            #expect(stored.mechanisms.map(\.kindName) == [.push, .totp])
        }
    }

    @Test("One invitation under two account names registers two separate devices")
    func sameInvitationForTwoAccounts() async throws {
        let fixture = AuthenticatorFixture()
        let first = try await fixture.enrollPush()
        let uri = Sample.push.replacing("Harbor%20Bank:mira", with: "Harbor%20Bank:somebody")
        let second = try await fixture.authenticator.enroll(uri: uri).mechanisms[0]
        #expect(first.uid != second.uid)
        #expect(try Set(fixture.state().mechanisms) == [first, second])
    }
}
