import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Every store error at every store call that an operation of the authenticator makes.
@Suite("An authenticator with a failing store")
struct StoreFaultTests {
    @Test(
        "An operation that meets a store error takes effect completely or not at all, and can be repeated",
        arguments: UserOperation.allCases, StoreError.Code.allCases)
    func operationIsAtomicUnderStoreErrors(operation: UserOperation, code: StoreError.Code) async throws {
        for call in try await operation.calls() {
            try await check(operation, StoreFault(code, at: call.operation, .call(call.number)), FaultyFixture())
            guard call.operation == .commit else { continue }
            try await check(operation, StoreFault(code, at: .commit, .call(call.number), isDurable: true), FaultyFixture())
        }
    }

    /// Makes one store call fail during an operation and checks what is stored afterwards.
    private func check(_ operation: UserOperation, _ fault: StoreFault, _ fixture: FaultyFixture) async throws {
        let comment: Comment =
            "\(operation), \(fault.error.code) at \(fault.operation), \(fault.occasion), durable: \(fault.isDurable)"
        let subject = try await operation.prepare(fixture)
        let before = try fixture.state()
        fixture.store.reset()
        fixture.store.inject(fault)
        do {
            try await operation.perform(fixture, subject)
            // An unreadable index is rebuilt without an error.
            let isRecordScoped = [.corrupt, .keyMismatch, .newerFormat].contains(fault.error.code)
            #expect(fault.operation == .record && isRecordScoped, "the injected fault was not reported: \(comment)")
            fixture.store.reset()
            // A token that could not be read after it was sent is sent again.
            if operation == .updateToken { try await operation.perform(fixture, subject) }
            return try await operation.checkDone(fixture, comment)
        } catch let error as StoreError {
            #expect(error == fault.error, comment)
        } catch let error as AuthenticatorError where error.code == .registeredNotStored {
            #expect(error.storeError == fault.error, comment)
        }
        fixture.store.reset()
        let state = try fixture.state()
        #expect(!state.hasOrphans, comment)
        if fault.isDurable, !operation.onlyRecordsIntent(fault.occasion) {
            try await operation.checkDone(fixture, comment)
        } else {
            #expect(state == before || operation.mayBePartial(fault.occasion), comment)
        }
        do {
            try await operation.perform(fixture, subject)
        } catch let error as AuthenticatorError {
            // A durable commit has taken effect, whatever error was reported.
            #expect(fault.isDurable && error.code == operation.refusalWhenDone, comment)
        }
        try await operation.checkDone(fixture, comment)
        let shown = fixture.shown.all
        #expect(Set(shown).count == shown.count, comment)
    }

    @Test("A counter is never given twice, whatever store call fails between", arguments: [false, true])
    func neverReusesCounterAfterStoreError(isDurable: Bool) async throws {
        let fixture = try FaultyFixture()
        let subject = try await UserOperation.code.prepare(fixture)
        for round in 0..<60 {
            let operation = StoreCall.Operation.allCases[round % StoreCall.Operation.allCases.count]
            if round % 3 > 0 {
                fixture.store.inject(StoreFault(.failed, at: operation, isDurable: isDurable && operation == .commit))
            }
            try? await UserOperation.code.perform(fixture, subject)
            fixture.store.reset()
        }
        let shown = fixture.shown.all
        #expect(shown.count >= 20)
        #expect(Set(shown).count == shown.count)
        // A counter is skipped only if a commit failed and was durable.
        let next = try await UserOperation.nextCounter(fixture)
        #expect(isDurable ? next > 7 + UInt64(shown.count) : next == 7 + UInt64(shown.count))
    }

    @Test("A counter is never given twice to 100 concurrent callers when a third of the commits fail")
    func neverReusesCounterUnderConcurrentFaults() async throws {
        let fixture = try FaultyFixture()
        let subject = try await UserOperation.code.prepare(fixture)
        fixture.store.inject(StoreFault(.failed, at: .commit, .when { $0.number % 6 == 0 }))
        fixture.store.inject(StoreFault(.failed, at: .commit, .when { $0.number % 6 == 3 }, isDurable: true))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try? await UserOperation.code.perform(fixture, subject) } }
        }
        let shown = fixture.shown.all
        #expect(shown.count == 67)
        #expect(Set(shown).count == shown.count)
    }
}
