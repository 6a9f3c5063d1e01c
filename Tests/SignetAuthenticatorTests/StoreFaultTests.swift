import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// Every error at every operation of the store, at every call that an act of the authenticator makes.
@Suite("An authenticator whose store fails")
struct StoreFaultTests {
    @Test("has all of an act or nothing, and can do it again", arguments: Act.allCases, StoreError.Code.allCases)
    func everyFault(act: Act, code: StoreError.Code) async throws {
        for call in try await act.calls() {
            try await check(act, StoreFault(code, at: call.operation, .call(call.number)), FaultyBench())
            guard call.operation == .commit else { continue }
            try await check(act, StoreFault(code, at: .commit, .call(call.number), isDurable: true), FaultyBench())
        }
    }

    @Test("has all of an act or nothing also in a vault", arguments: Act.allCases)
    func inVault(act: Act) async throws {
        try await TemporaryDirectory.with(inMemory: true) { directory in
            for (number, call) in try await act.calls().enumerated() {
                for isDurable in call.operation == .commit ? [false, true] : [false] {
                    let key = try KeyFile.create(path: directory.file("key\(number)\(isDurable)"))
                    let bench = try FaultyBench { try AccountRecords(Vault.create(in: $0, custodian: key)) }
                    try await check(
                        act, StoreFault(.full, at: call.operation, .call(call.number), isDurable: isDurable), bench)
                }
            }
        }
    }

    /// Has one call fail during an act, and looks at what is left.
    private func check(_ act: Act, _ fault: StoreFault, _ bench: FaultyBench) async throws {
        let place: Comment = "\(act), \(fault.error.code) at \(fault.operation), \(fault.occasion), durable: \(fault.isDurable)"
        let subject = try await act.prepare(bench)
        let before = try await bench.state()
        bench.store.heal()
        bench.store.inject(fault)
        do {
            try await act.perform(bench, subject)
            Issue.record("the fault did not show: \(place)")
        } catch let error as StoreError {
            #expect(error == fault.error, place)
        }
        bench.store.heal()
        if fault.isDurable {
            try await act.checkDone(bench, place)
        } else {
            #expect(try await bench.state() == before, place)
        }
        do {
            try await act.perform(bench, subject)
        } catch let error as AuthenticatorError {
            // What is durable is done, whatever was said of it.
            #expect(fault.isDurable && error.code == act.refusalWhenDone, place)
        }
        try await act.checkDone(bench, place)
        let shown = bench.shown.all
        #expect(Set(shown).count == shown.count, place)
    }

    @Test("never gives a counter twice, whatever fails between", arguments: [false, true])
    func counters(isDurable: Bool) async throws {
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
        // A counter is skipped only where a commit failed and was durable.
        let next = try await Act.nextCounter(bench)
        #expect(isDurable ? next > 7 + UInt64(shown.count) : next == 7 + UInt64(shown.count))
    }

    @Test("never gives a counter twice to 100 callers, a third of whom fail")
    func countersAtOnce() async throws {
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

/// What a person has the authenticator do.
enum Act: String, CaseIterable, CustomTestStringConvertible {
    case enroll, enrollPush, code, receive, approve, deny

    var testDescription: String { rawValue }

    /// What the act answers when it was done before.
    var refusalWhenDone: AuthenticatorError.Code? {
        switch self {
        case .enroll, .enrollPush: .duplicateMechanism
        case .approve, .deny: .alreadyAnswered
        case .code, .receive: nil
        }
    }

    /// What an act is about.
    struct Subject: Sendable {
        var mechanism = ""
        var delivery: PushDelivery?
        var notification = ""
    }

    /// What the act calls in its store when nothing fails.
    func calls() async throws -> [StoreCall] {
        let bench = try FaultyBench()
        let subject = try await prepare(bench)
        bench.store.heal()
        try await perform(bench, subject)
        return bench.store.calls
    }

    func prepare(_ bench: FaultyBench) async throws -> Subject {
        switch self {
        case .enroll: return Subject()
        case .enrollPush, .code:
            return Subject(mechanism: try await bench.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid)
        case .receive: return Subject(delivery: try bench.bench.delivery(to: try await bench.bench.enrollPush()))
        case .approve, .deny:
            let delivery = try bench.bench.delivery(to: try await bench.bench.enrollPush())
            return Subject(notification: try await bench.authenticator.receive(delivery).id)
        }
    }

    func perform(_ bench: FaultyBench, _ subject: Subject) async throws {
        switch self {
        case .enroll: _ = try await bench.authenticator.enroll(uri: Sample.combined)
        case .enrollPush: _ = try await bench.bench.enrollPush()
        case .code:
            let code = try await bench.authenticator.code(for: subject.mechanism)
            bench.shown.note(code)
        case .receive: _ = try await bench.authenticator.receive(try #require(subject.delivery))
        case .approve: _ = try await bench.authenticator.approve(subject.notification)
        case .deny: _ = try await bench.authenticator.deny(subject.notification)
        }
    }

    /// Expects the act to be there, once and whole.
    func checkDone(_ bench: FaultyBench, _ place: Comment) async throws {
        let state = try await bench.state()
        #expect(state.accounts.count == 1, place)
        let kinds = state.accounts.flatMap(\.mechanisms).map(\.kindName)
        switch self {
        case .enroll: #expect(kinds == [.push, .totp], place)
        case .enrollPush: #expect(kinds == [.hotp, .push], place)
        case .code: #expect(try await Self.nextCounter(bench) > 7, place)
        case .receive: #expect(state.notifications.map(\.decision) == [nil], place)
        case .approve: #expect(state.notifications.map(\.decision) == [.approved], place)
        case .deny: #expect(state.notifications.map(\.decision) == [.denied], place)
        }
    }

    /// The counter that the next code will be made from.
    static func nextCounter(_ bench: FaultyBench) async throws -> UInt64 {
        let mechanism = try await bench.state().accounts.flatMap(\.mechanisms).first { $0.kindName == .hotp }
        guard case .counter(let next)? = mechanism?.oath?.factor else { return 0 }
        return next
    }
}

/// An authenticator over a store that can fail.
struct FaultyBench: Sendable {
    struct State: Equatable {
        let accounts: [EnrolledAccount]
        let notifications: [PushNotification]
    }

    let store = FaultyStore(MemoryStore())
    let bench: Bench
    /// The counters whose codes were given out.
    let shown = ShownCounters()

    init(_ records: (FaultyStore) throws -> AccountRecords = { AccountRecords(unsealed: $0) }) throws {
        bench = Bench(store: try records(store))
    }

    var authenticator: Authenticator { bench.authenticator }

    func state() async throws -> State {
        State(accounts: try await authenticator.accounts(), notifications: try await authenticator.notifications())
    }
}

/// The counters whose codes were given out, in order.
final class ShownCounters: Sendable {
    private let counters = Mutex<[OneTimeCode.Basis]>([])

    var all: [OneTimeCode.Basis] { counters.withLock { $0 } }

    func note(_ code: OneTimeCode) {
        counters.withLock { $0.append(code.basis) }
    }
}
