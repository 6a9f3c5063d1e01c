import FRAuthenticator
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("One-time codes")
struct CodeTests {
    @Test("A TOTP code matches the test vector", arguments: StoreKind.allCases)
    func matchesVector(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let account = try await fixture.authenticator.enroll(uri: Sample.totp)
            let code = try await fixture.authenticator.code(for: account.mechanisms[0].uid)
            #expect(code.digits == "867205")
            #expect(code.secondsLeft(at: Sample.start) == 30)
        }
    }

    @Test("1,000 concurrent callers never get the code of the same counter twice", arguments: StoreKind.allCases)
    func neverReusesCounter(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let uid = try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid
            let counters = try await withThrowingTaskGroup(of: OneTimeCode.Basis.self) { group in
                for _ in 0..<1000 { group.addTask { try await fixture.authenticator.code(for: uid).basis } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            let expected = Set((7..<1007).map { OneTimeCode.Basis.counter($0) })
            #expect(counters == expected)
        }
    }

    @Test("A code is not returned when its counter cannot be stored, and the counter is not lost")
    func withholdsCodeWhenStoreFails() async throws {
        let inner = MemoryStore()
        let uid = try await AuthenticatorFixture(store: AccountRecords(unsealed: inner)).authenticator.enroll(uri: Sample.hotp)
            .mechanisms[0].uid
        let broken = AuthenticatorFixture(store: AccountRecords(unsealed: ReadOnlyStore(inner: inner)))
        await #expect { try await broken.authenticator.code(for: uid) } throws: { ($0 as? StoreError)?.code == .full }
        #expect(
            try await AuthenticatorFixture(store: AccountRecords(unsealed: inner)).authenticator.code(for: uid).basis
                == .counter(7))
    }

    private struct NotPermitted: Error {}

    @Test("A counter that may not be used any more in its transaction stays as it was", arguments: StoreKind.allCases)
    func keepsCounterWithoutPermit(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let hotp = try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid
            let second = try await fixture.authenticator.enroll(uri: Sample.totp).mechanisms.first { $0.uid != hotp }
            let totp = try #require(second).uid
            let refusing: @Sendable () throws -> Void = { throw NotPermitted() }
            await #expect(throws: NotPermitted.self) { try await fixture.authenticator.code(for: hotp, permit: refusing) }
            let permitted = try await fixture.authenticator.code(for: hotp) {}
            #expect(permitted.basis == .counter(7))
            // A time-based code uses up nothing.
            let timed = try await fixture.authenticator.code(for: totp, permit: refusing)
            #expect(timed.digits == "867205")
        }
    }

    @Test("A code requires an existing mechanism that generates codes")
    func refusesCodeForWrongMechanism() async throws {
        let fixture = AuthenticatorFixture()
        let push = try await fixture.enrollPush()
        await #expect { try await fixture.authenticator.code(for: push.uid) } throws: { code($0) == .wrongKind }
        await #expect { try await fixture.authenticator.code(for: "nobody") } throws: { code($0) == .unknownMechanism }
    }

    @Test("A mechanism whose counter is exhausted gives no code and reports an error")
    func codeCounterExhausted() async throws {
        let fixture = AuthenticatorFixture()
        let enrollment = Enrollment(
            account: AccountID(issuer: "x", accountName: "y"),
            oath: OATHSettings(secret: Secret([1]), factor: .counter(next: .max)))
        let uid = try await fixture.authenticator.enroll(enrollment).mechanisms[0].uid
        await #expect { try await fixture.authenticator.code(for: uid) } throws: { code($0) == .counterExhausted }
    }

    @Test("Resynchronizing moves a counter forward to the server's value and never back", arguments: StoreKind.allCases)
    func resynchronizesCounter(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let totp = try await fixture.authenticator.enroll(uri: Sample.totp).mechanisms[0].uid
            let counted = try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms.first { $0.kindName == .hotp }
            let hotp = try #require(counted).uid
            try await fixture.authenticator.resynchronize(hotp, counter: 40)
            #expect(try await fixture.authenticator.code(for: hotp).basis == .counter(40))
            await #expect {
                try await fixture.authenticator.resynchronize(hotp, counter: 40)
            } throws: {
                code($0) == .counterBackwards
            }
            // Setting a counter to its current value is always allowed.
            try await fixture.authenticator.resynchronize(hotp, counter: 41)
            #expect(try await fixture.authenticator.code(for: hotp).basis == .counter(41))
            for (uid, expected) in [(totp, AuthenticatorError.Code.wrongKind), ("nobody", .unknownMechanism)] {
                await #expect {
                    try await fixture.authenticator.resynchronize(uid, counter: 99)
                } throws: {
                    code($0) == expected
                }
            }
        }
    }

    @Test("A code has the ForgeRock SDK's property names without that SDK's defects")
    func legacyCodeProperties() async throws {
        let fixture = AuthenticatorFixture()
        let uid = try await fixture.authenticator.enroll(uri: Sample.totp).mechanisms[0].uid
        let code = OathTokenCode(try await fixture.authenticator.code(for: uid), madeAt: Sample.start)
        #expect(code.tokenType == "totp")
        #expect(code.code == "867205")
        #expect(code.isValid(at: Sample.start))
        #expect(!code.isValid(at: Sample.start.addingTimeInterval(30)))
        let progress = [-1, 0, 15, 30, 31].map { code.progress(at: Sample.start.addingTimeInterval($0)) }
        #expect(progress == [0, 0, 0.5, 1, 1])
    }
}

/// A store on a full disk: it can be read, and every commit fails.
struct ReadOnlyStore: RecordStore {
    let inner: MemoryStore

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try inner.read(body)
    }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            _ = try body(records)
            throw StoreError(.full, "write", "on purpose")
        }
    }
}
