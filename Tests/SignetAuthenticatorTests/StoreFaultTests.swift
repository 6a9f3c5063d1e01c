import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Synchronization
import TestSupport
import Testing

/// Every store error at every store call that an operation of the authenticator makes.
@Suite("An authenticator with a failing store")
struct StoreFaultTests {
    @Test(
        "An operation that meets a store error takes effect completely or not at all, and can be repeated",
        arguments: Act.allCases, StoreError.Code.allCases)
    func operationIsAtomicUnderStoreErrors(act: Act, code: StoreError.Code) async throws {
        for call in try await act.calls() {
            try await check(act, StoreFault(code, at: call.operation, .call(call.number)), FaultyBench())
            guard call.operation == .commit else { continue }
            try await check(act, StoreFault(code, at: .commit, .call(call.number), isDurable: true), FaultyBench())
        }
    }

    /// Makes one store call fail during an operation and checks what is stored afterwards.
    private func check(_ act: Act, _ fault: StoreFault, _ bench: FaultyBench) async throws {
        let place: Comment = "\(act), \(fault.error.code) at \(fault.operation), \(fault.occasion), durable: \(fault.isDurable)"
        let subject = try await act.prepare(bench)
        let before = try bench.state()
        bench.store.heal()
        bench.store.inject(fault)
        do {
            try await act.perform(bench, subject)
            // An unreadable index is rebuilt without an error.
            let isOfOneRecord = [.corrupt, .keyMismatch, .newerFormat].contains(fault.error.code)
            #expect(fault.operation == .record && isOfOneRecord, "the injected fault was not reported: \(place)")
            bench.store.heal()
            // A token that could not be read after it was sent is sent again.
            if act == .updateToken { try await act.perform(bench, subject) }
            return try await act.checkDone(bench, place)
        } catch let error as StoreError {
            #expect(error == fault.error, place)
        } catch let error as AuthenticatorError where error.code == .registeredNotStored {
            #expect(error.storeError == fault.error, place)
        }
        bench.store.heal()
        let state = try bench.state()
        #expect(!state.hasOrphans, place)
        if fault.isDurable, !act.isNote(fault.occasion) {
            try await act.checkDone(bench, place)
        } else {
            #expect(state == before || act.isPartOf(fault.occasion), place)
        }
        do {
            try await act.perform(bench, subject)
        } catch let error as AuthenticatorError {
            // A durable commit has taken effect, whatever error was reported.
            #expect(fault.isDurable && error.code == act.refusalWhenDone, place)
        }
        try await act.checkDone(bench, place)
        let shown = bench.shown.all
        #expect(Set(shown).count == shown.count, place)
    }

    @Test("A counter is never given twice, whatever store call fails between", arguments: [false, true])
    func neverReusesCounterAfterStoreError(isDurable: Bool) async throws {
        let bench = try FaultyBench()
        let subject = try await Act.code.prepare(bench)
        for round in 0..<60 {
            let operation = StoreCall.Operation.allCases[round % StoreCall.Operation.allCases.count]
            if round % 3 > 0 {
                bench.store.inject(StoreFault(.failed, at: operation, isDurable: isDurable && operation == .commit))
            }
            try? await Act.code.perform(bench, subject)
            bench.store.heal()
        }
        let shown = bench.shown.all
        #expect(shown.count >= 20)
        #expect(Set(shown).count == shown.count)
        // A counter is skipped only if a commit failed and was durable.
        let next = try await Act.nextCounter(bench)
        #expect(isDurable ? next > 7 + UInt64(shown.count) : next == 7 + UInt64(shown.count))
    }

    @Test("A counter is never given twice to 100 concurrent callers when a third of the commits fail")
    func neverReusesCounterUnderConcurrentFaults() async throws {
        let bench = try FaultyBench()
        let subject = try await Act.code.prepare(bench)
        bench.store.inject(StoreFault(.failed, at: .commit, .when { $0.number % 6 == 0 }))
        bench.store.inject(StoreFault(.failed, at: .commit, .when { $0.number % 6 == 3 }, isDurable: true))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try? await Act.code.perform(bench, subject) } }
        }
        let shown = bench.shown.all
        #expect(shown.count == 67)
        #expect(Set(shown).count == shown.count)
    }
}
