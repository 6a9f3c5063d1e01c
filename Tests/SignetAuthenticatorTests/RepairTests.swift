import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Synchronization
import TestSupport
import Testing

/// What a server accepted and the store did not take.
@Suite("An answer or a registration that could not be stored")
struct RepairTests {
    /// A server that takes each answer and registration once, as AM does when its memory of them is gone.
    private final class Once: Sendable {
        private let seen = Mutex<Set<[UInt8]>>([])
        func answer(_ request: HTTPRequest) -> HTTPResponse {
            HTTPResponse(status: seen.withLock { $0.insert(request.body).inserted } ? 200 : 400)
        }
    }

    /// An authenticator in another process: over the same store, and without what this one was told.
    private func another(_ bench: Bench) -> Authenticator {
        Authenticator(
            store: bench.store, transport: bench.transport, device: PushDevice(token: "token-1", name: "Mira's laptop"),
            clock: bench.clock)
    }

    /// A server to which the first answer does not come through, and which says `status` to those that do.
    private func bench(losing code: TransportError.Code, then status: Int) -> Bench {
        let calls = Mutex(0)
        return Bench { request throws(TransportError) in
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
        "is stored by the next call, whichever that is, without another request",
        arguments: ["approve", "deny", "receive", "notifications", "notification"])
    func answer(next: String) async throws {
        let inner = FaultyStore(MemoryStore())
        let server = Once()
        let bench = Bench(store: AccountRecords(unsealed: inner)) { server.answer($0) }
        let push = try await bench.enrollPush()
        let delivery = try bench.delivery(to: push)
        let id = try await bench.authenticator.receive(delivery).id
        inner.heal()
        inner.inject(StoreFault(.full, at: .commit, .call(2)))
        await #expect { try await bench.authenticator.approve(id) } throws: { ($0 as? StoreError)?.code == .full }
        inner.heal()
        #expect(try bench.state().notifications.map(\.decision) == [nil])
        let sent = bench.transport.requests.count
        switch next {
        case "approve": #expect(try await bench.authenticator.approve(id).decision == .approved)
        case "deny": await #expect { try await bench.authenticator.deny(id) } throws: { code($0) == .alreadyAnswered }
        case "receive": #expect(try await bench.authenticator.receive(delivery).decision == .approved)
        case "notifications": #expect(try await bench.authenticator.notifications().map(\.decision) == [.approved])
        default: #expect(try await bench.authenticator.notification(id).decision == .approved)
        }
        #expect(bench.transport.requests.count == sent)
        #expect(try bench.state().notifications.map(\.decision) == [.approved])
    }

    @Test("is made up for by another process too, though the server takes it only once", arguments: [200, 400], [true, false])
    func answerElsewhere(repeated: Int, sameAnswer: Bool) async throws {
        let inner = FaultyStore(MemoryStore())
        let server = Once()
        let bench = Bench(store: AccountRecords(unsealed: inner)) { request in
            let response = server.answer(request)
            return response.status == 400 ? HTTPResponse(status: repeated) : response
        }
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        inner.heal()
        inner.inject(StoreFault(.full, at: .commit, .call(2)))
        await #expect { try await bench.authenticator.approve(id) } throws: { $0 is StoreError }
        inner.heal()
        if sameAnswer {
            #expect(try await another(bench).approve(id).decision == .approved)
            #expect(try bench.state().notifications.map(\.decision) == [.approved])
        } else {
            // Another answer is another request; the server takes it.
            #expect(try await another(bench).deny(id).decision == .denied)
        }
    }

    @Test("leaves nothing to make up for when the server certainly did not take it")
    func certainlyNotTaken() async throws {
        let status = Mutex(200)
        let bench = Bench { _ in HTTPResponse(status: status.withLock { $0 }) }
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        status.withLock { $0 = 400 }
        for _ in 0..<2 {
            await #expect { try await bench.authenticator.approve(id) } throws: { code($0) == .refusedByServer }
            #expect(try bench.state().notifications.map(\.decision) == [nil])
        }
    }

    @Test("is taken for accepted when it was sent, its fate is unknown, and the server refuses it the second time")
    func unknownFate() async throws {
        let bench = bench(losing: .timeout, then: 400)
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        await #expect { try await bench.authenticator.approve(id) } throws: { ($0 as? TransportError)?.isRetryable == true }
        #expect(try bench.state().notifications.map(\.decision) == [nil])
        #expect(try await bench.authenticator.approve(id).decision == .approved)
    }

    @Test("is taken for accepted also by who was asking the person while the first was sent")
    func unknownFateOfAnother() async throws {
        let bench = bench(losing: .timeout, then: 400)
        let push = try await bench.enrollPush()
        let id = try await bench.authenticator.receive(try bench.delivery(to: push, kind: .biometric)).id
        let authenticator = bench.authenticator
        let quick = SlowPerson {}
        let slow = SlowPerson {
            await #expect { try await authenticator.approve(id, presence: quick) } throws: {
                ($0 as? TransportError)?.code == .timeout
            }
        }
        #expect(try await authenticator.approve(id, presence: slow).decision == .approved)
        #expect(try bench.state().notifications.map(\.decision) == [.approved])
    }

    @Test(
        "is not taken for accepted when the first was stopped before it left",
        arguments: [TransportError.Code.connect, .tls, .invalidRequest, .wrongKey, .cannotPin])
    func stoppedBefore(code: TransportError.Code) async throws {
        let bench = bench(losing: code, then: 400)
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await bench.authenticator.approve(id) } }
        #expect(try bench.state().notifications.map(\.decision) == [nil])
    }

    @Test("is not taken for accepted when it is a gateway that refuses the second time", arguments: [401, 403, 404, 429])
    func gateway(status: Int) async throws {
        let bench = bench(losing: .timeout, then: status)
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        for _ in 0..<2 { await #expect(throws: (any Error).self) { try await bench.authenticator.approve(id) } }
        #expect(try bench.state().notifications.map(\.decision) == [nil])
    }

    @Test(
        "is not sent when somebody denied it, or locked the account, while the person was being recognized",
        arguments: [true, false])
    func meanwhile(isLock: Bool) async throws {
        let bench = Bench()
        let push = try await bench.enrollPush()
        let id = try await bench.authenticator.receive(try bench.delivery(to: push, kind: .biometric)).id
        let (authenticator, account) = (bench.authenticator, push.account)
        let presence = SlowPerson {
            if isLock { _ = try await authenticator.lock(account, policy: "mine") } else { _ = try await authenticator.deny(id) }
        }
        let sent = bench.transport.requests.count
        await #expect {
            try await authenticator.approve(id, presence: presence)
        } throws: { code($0) == (isLock ? .accountLocked : .alreadyAnswered) }
        #expect(bench.transport.requests.count == sent + (isLock ? 0 : 1))
        #expect(try bench.state().notifications.map(\.decision) == [isLock ? nil : .denied])
    }

    /// Recognizes the person, after something else has happened.
    private struct SlowPerson: UserPresence {
        let meanwhile: @Sendable () async throws -> Void
        func confirm(_ notification: PushNotification) async throws { try await meanwhile() }
    }

    @Test("does not come back when it was removed while it was being answered")
    func removedMeanwhile() async throws {
        let removed = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let bench = Bench { request in
            if request.url.hasSuffix("authenticate") { try? await removed.withLock { $0 }?() }
            return HTTPResponse(status: 200)
        }
        let id = try await bench.authenticator.receive(try bench.delivery(to: try await bench.enrollPush())).id
        let authenticator = bench.authenticator
        removed.withLock { $0 = { try await authenticator.removeAccount(Sample.account) } }
        #expect(try await bench.authenticator.approve(id).decision == .approved)
        #expect(try bench.state() == Bench().state())
    }

    @Test("of a device leads to an error that says so, and the same code can be enrolled again", arguments: [true, false])
    func registration(inSameProcess: Bool) async throws {
        let inner = FaultyStore(MemoryStore())
        let bench = Bench(store: AccountRecords(unsealed: inner))
        inner.inject(StoreFault(.full, at: .commit))
        await #expect { try await bench.authenticator.enroll(uri: Sample.combined) } throws: { error in
            code(error) == .registeredNotStored && (error as? AuthenticatorError)?.storeError?.code == .full
        }
        inner.heal()
        #expect(try bench.state() == Bench().state())
        let next = inSameProcess ? bench.authenticator : another(bench)
        let account = try await next.enroll(uri: Sample.combined)
        // The same device to the server, whether it was asked again or not.
        #expect(bench.transport.requests.count == (inSameProcess ? 1 : 2))
        #expect(Set(bench.transport.requests).count == 1)
        let sent = try JSON.value(of: bench.transport.requests[0].body)
        let jws = try CompactJWS(try #require(sent["jwt"]?.string))
        let claims = try JSON.value(of: jws.payload(verifiedWith: Secret(try Base64.decode(Sample.secret))))
        let push = account.mechanisms.first { $0.kindName == .push }
        #expect(claims["mechanismUid"]?.string == push?.uid)
    }

    @Test("of one code by 100 callers at once is one device, stored once", arguments: StoreKind.allCases)
    func registrationAtOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store)
            let successes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { (try? await bench.authenticator.enroll(uri: Sample.combined)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            #expect(Set(bench.transport.requests).count == 1)
            let stored = try bench.state()
            #expect(stored.mechanisms.map(\.kindName) == [.push, .totp])
        }
    }

    @Test("of one invitation under two labels is two devices, and neither takes the other's place")
    func sameInvitation() async throws {
        let bench = Bench()
        let first = try await bench.enrollPush()
        let uri = Sample.push.replacing("Harbor%20Bank:mira", with: "Harbor%20Bank:somebody")
        let second = try await bench.authenticator.enroll(uri: uri).mechanisms[0]
        #expect(first.uid != second.uid)
        #expect(try Set(bench.state().mechanisms) == [first, second])
    }
}
