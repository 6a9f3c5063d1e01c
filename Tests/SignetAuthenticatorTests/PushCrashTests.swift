import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Crashes between the steps of a push message, and the number of times that it waits for the disk (docs/decisions/039-push-writes.md).
@Suite("A push message and a crash")
struct PushCrashTests {
    /// A store of accounts whose deferred writes can be lost.
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case memory, file, vaultInMemory, vaultInFile

        var testDescription: String { rawValue }
        var isFile: Bool { [.file, .vaultInFile].contains(self) }

        func withDisk(_ body: (Disk) async throws -> Void) async throws {
            try await TemporaryDirectory.with { directory in
                let store: any PowerCutStore = isFile ? try PowerCutFile(in: directory) : try PowerCutMemory()
                guard [.vaultInMemory, .vaultInFile].contains(self) else {
                    return try await body(Disk(store: store, records: AccountRecords(unsealed: store), key: nil))
                }
                let key = try KeyFile.create(path: directory.file("key"))
                try await body(Disk(store: store, records: AccountRecords(Vault.create(in: store, protector: key)), key: key))
            }
        }
    }

    /// The store of a test, and the accounts in it.
    struct Disk: Sendable {
        let store: any PowerCutStore
        let records: AccountRecords
        /// The protector of the vault; nil without a vault.
        let key: KeyFile?

        /// Opens what a crash has left, as another process.
        func reopened(_ store: any PowerCutStore) throws -> AccountRecords {
            guard let key else { return AccountRecords(unsealed: store) }
            return AccountRecords(try Vault.open(store, protectors: [key]))
        }
    }

    /// A server that takes one answer, as AM does.
    private final class OneAnswerServer: Sendable {
        private let taken = Mutex<[PushNotification.Decision]>([])

        /// The answers that it has taken.
        var answers: [PushNotification.Decision] { taken.withLock { $0 } }

        func respond(to request: HTTPRequest) -> HTTPResponse {
            guard request.url.hasSuffix("authenticate") else { return HTTPResponse(status: 200) }
            guard let decision = try? Self.decision(in: request) else { return HTTPResponse(status: 500) }
            return taken.withLock { taken in
                guard taken.isEmpty else { return HTTPResponse(status: 400) }
                taken.append(decision)
                return HTTPResponse(status: 200)
            }
        }

        private static func decision(in request: HTTPRequest) throws -> PushNotification.Decision {
            let jws = try CompactJWS(try JSON.value(of: request.body)["jwt"]?.string ?? "")
            let claims = try JSON.value(of: jws.payload(verifiedWith: Secret(try Base64.decode(Sample.secret))))
            return claims["deny"]?.bool == true ? .denied : .approved
        }
    }

    /// The step after which the crash comes.
    enum Step: String, CaseIterable, Sendable {
        /// The message was received.
        case received
        /// The answer was noted; the server gets no request.
        case noted
        /// The server has taken the answer; the client has no response.
        case taken
        /// The answer was stored, and the user has the confirmation.
        case answered
    }

    /// A crash, and what the user decides afterwards.
    struct Case: CustomTestStringConvertible, Sendable {
        let step: Step
        let crash: Crash
        let second: PushNotification.Decision

        var testDescription: String { "\(crash) after the message was \(step), then \(second)" }

        static let all = Step.allCases.flatMap { step in
            Crash.allCases.flatMap { crash in
                [PushNotification.Decision.approved, .denied].map { Case(step: step, crash: crash, second: $0) }
            }
        }
    }

    @Test(
        "After a crash at any step, the server has one answer to a message, and that one is stored", arguments: Engine.allCases,
        Case.all)
    func answersOnceAfterCrash(engine: Engine, crash: Case) async throws {
        try await engine.withDisk { disk in
            let server = OneAnswerServer()
            let rest = try await interruptedApproval(on: disk, server, crash)
            try await checkAnswerAfterCrash(disk.reopened(rest), server, crash)
        }
    }

    /// Receives and approves a message, and returns what a crash leaves.
    private func interruptedApproval(
        on disk: Disk, _ server: OneAnswerServer, _ crash: Case
    ) async throws -> any PowerCutStore {
        let rest = Mutex<(any PowerCutStore)?>(nil)
        let end: @Sendable (Step) -> Void = { step in
            guard step == crash.step else { return }
            let copy = try? disk.store.copy(after: crash.crash)
            rest.withLock { $0 = copy }
        }
        let fixture = AuthenticatorFixture(store: disk.records) { request throws(TransportError) in
            guard request.url.hasSuffix("authenticate") else { return HTTPResponse(status: 200) }
            end(.noted)
            if crash.step == .noted { throw TransportError(.timeout, host: "am.example.test", "on purpose") }
            let response = server.respond(to: request)
            end(.taken)
            return response
        }
        let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
        end(.received)
        if crash.step != .received {
            _ = try? await fixture.authenticator.approve(id)
            end(.answered)
        }
        let left = rest.withLock { $0 }
        return try #require(left)
    }

    /// Answers the message in another process, and checks the answers of the server and the store.
    private func checkAnswerAfterCrash(_ records: AccountRecords, _ server: OneAnswerServer, _ crash: Case) async throws {
        let first = server.answers.first
        let next = AuthenticatorFixture(store: records) { server.respond(to: $0) }
        let found = try #require(try next.state().notifications.first)
        #expect(found.decision == nil || found.decision == first)
        var refusal: AuthenticatorError.Code?
        do {
            let answered =
                crash.second == .approved
                ? try await next.authenticator.approve(found.id) : try await next.authenticator.deny(found.id)
            #expect(answered.decision == crash.second)
        } catch {
            refusal = code(error)
        }
        let expected = first ?? crash.second
        #expect(refusal == (found.decision == nil && expected == crash.second ? nil : .alreadyAnswered))
        #expect(server.answers == [expected])
        let stored = try next.state().notifications.map(\.decision)
        #expect(stored == [expected])
    }

    @Test(
        "A push message waits for the disk twice, once when it is received and once before it is answered",
        arguments: Engine.allCases, [PushNotification.Decision.approved, .denied])
    func waitsForDiskTwice(engine: Engine, decision: PushNotification.Decision) async throws {
        try await engine.withDisk { disk in
            let fixture = AuthenticatorFixture(store: disk.records, retention: .newest(3))
            let push = try await fixture.enrollPush()
            // The log of a file must not become so long that SQLite begins it again; in memory, the seals of several blocks are used.
            for number in 1...(engine.isFile ? 8 : 40) {
                let before = disk.store.durableWrites
                let id = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "\(number)")).id
                #expect(disk.store.durableWrites == before + 1)
                let answered =
                    decision == .approved ? try await fixture.authenticator.approve(id) : try await fixture.authenticator.deny(id)
                #expect(answered.decision == decision)
                #expect(disk.store.durableWrites == before + 2 && disk.store.deferredWrites == number)
            }
        }
    }

    @Test(
        "A power failure after the answer leaves a message whose answer was sent, until the next message is received",
        arguments: Engine.allCases)
    func powerFailureLeavesSentAnswer(engine: Engine) async throws {
        try await engine.withDisk { disk in
            let fixture = AuthenticatorFixture(store: disk.records)
            let push = try await fixture.enrollPush()
            let id = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "1")).id
            _ = try await fixture.authenticator.approve(id)
            let lost = try Self.stored(id, in: try disk.reopened(try disk.store.copy(after: .powerFailure)))
            #expect(lost.decision == nil && lost.sent == .approved)
            let kept = try Self.stored(id, in: try disk.reopened(try disk.store.copy(after: .kill)))
            #expect(kept.decision == .approved && kept.sent == nil)
            _ = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "2"))
            let durable = try Self.stored(id, in: try disk.reopened(try disk.store.copy(after: .powerFailure)))
            #expect(durable.decision == .approved && durable.sent == nil)
        }
    }

    private static func stored(
        _ id: String, in records: AccountRecords
    ) throws -> (decision: PushNotification.Decision?, sent: PushNotification.Decision?) {
        try records.read { (reader: any AccountReader) throws(StoreError) in
            (try reader.notification(id: id)?.decision, try reader.sentAnswer(to: id)?.decision)
        }
    }
}
