import FRAuthenticator
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

@Suite("Completion callbacks and concurrent calls", .timeLimit(.minutes(1)))
struct CallbackTests {
    /// The number of callbacks, and the codes of the errors.
    private struct Outcome {
        var successes = 0
        var failures = 0
        var codes: Set<Int> = []

        /// Runs work with callbacks, and waits until all callbacks are released, so that none can be called any more.
        static func of(_ work: (Calls) async -> Void) async -> Outcome {
            let (calls, call) = AsyncStream<(any Error)?>.makeStream()
            await work(Calls(call))
            var outcome = Outcome()
            for await error in calls {
                guard let error else {
                    outcome.successes += 1
                    continue
                }
                outcome.failures += 1
                outcome.codes.insert((error as? any CodedFRError)?.code ?? 0)
            }
            return outcome
        }
    }

    /// The callbacks of a test, which end the stream of their calls when the last one is released.
    private final class Calls: Sendable {
        private let calls: AsyncStream<(any Error)?>.Continuation

        init(_ calls: AsyncStream<(any Error)?>.Continuation) { self.calls = calls }

        deinit { calls.finish() }

        func succeeded() { calls.yield(nil) }

        func failed(_ error: any Error) { calls.yield(error) }
    }

    @Test("100 concurrent enrollments call back once each, and only one succeeds")
    func callsBackOncePerConcurrentEnrollment() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try fixture.client.registerForRemoteNotifications("token-1")
        let uri = try #require(URL(string: Sample.combined))
        let outcome = await Outcome.of { calls in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        fixture.client.createMechanismFromUri(
                            uri: uri, onSuccess: { _ in calls.succeeded() }, onError: { calls.failed($0) })
                    }
                }
            }
        }
        #expect(outcome.successes == 1)
        #expect(outcome.failures == 99)
        #expect(outcome.codes == [6_000_004])
        #expect(fixture.client.getAllAccounts().count == 1)
        #expect(fixture.client.getAllAccounts().first?.mechanisms.count == 2)
    }

    @Test("100 concurrent answers to one notification call back once each, and one answer is sent")
    func callsBackOncePerConcurrentAnswer() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        let other = try #require(fixture.client.getNotification(identifier: notification.identifier))
        let before = fixture.transport.requests.count
        let outcome = await Outcome.of { calls in
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let object = index.isMultiple(of: 2) ? notification : other
                        if index.isMultiple(of: 3) {
                            object.deny(onSuccess: { calls.succeeded() }, onError: { calls.failed($0) })
                        } else {
                            object.accept(onSuccess: { calls.succeeded() }, onError: { calls.failed($0) })
                        }
                    }
                }
            }
        }
        #expect(outcome.successes == 1)
        #expect(outcome.failures == 99)
        #expect(outcome.codes == [1_100_001])
        #expect(fixture.transport.requests.count == before + 1)
    }

    @Test("100 concurrent device token updates call back once each")
    func callsBackOncePerConcurrentTokenUpdate() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let outcome = await Outcome.of { calls in
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        fixture.client.updateDeviceToken(
                            "token-\(index % 3)",
                            FRAListener(onSuccess: { calls.succeeded() }, onFailure: { calls.failed($0) }))
                    }
                }
            }
        }
        #expect(outcome.successes == 100 && outcome.failures == 0)
    }

    @Test("Callbacks run on Swift's global executor, not on the main thread or the caller's executor")
    @MainActor func callsBackOnGlobalExecutor() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let (results, continuation) = AsyncStream<[Bool]>.makeStream()
        let record: @Sendable () -> Void = {
            continuation.yield([
                Thread.isMainThread, withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil },
            ])
        }
        let uri = try #require(URL(string: Sample.totp))
        await withTaskExecutorPreference(Blocking.executor) {
            fixture.client.createMechanismFromUri(uri: uri, onSuccess: { _ in record() }, onError: { _ in record() })
            fixture.client.updateDeviceToken("token", FRAListener(onSuccess: { record() }, onFailure: { _ in record() }))
        }
        var iterator = results.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == [false, true]) }
    }

    @Test("The error callback is called for an error that occurs before any suspension")
    func callsBackForImmediateError() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        let outcome = await Outcome.of { calls in
            notification.accept(
                challengeResponse: "34", onSuccess: { calls.succeeded() }, onError: { calls.failed($0) })
            notification.accept(
                title: "title", allowDeviceCredentials: true, onSuccess: { calls.succeeded() }, onError: { calls.failed($0) })
        }
        #expect(outcome.failures == 2)
        #expect(outcome.successes == 0)
        #expect(outcome.codes == [6_000_003])
    }

    @Test(
        "1000 concurrent callers of several objects for one mechanism never get the same HOTP code twice",
        arguments: [false, true])
    func neverReturnsSameHOTPCodeTwice(withFaults: Bool) async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        let hotp = try #require(try await fixture.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism)
        let others = (0..<3).compactMap { _ in fixture.client.getMechanismByUUID(hotp.mechanismUUID) as? HOTPMechanism }
        let objects = others + [hotp]
        recording.begin(withFaults ? .change(13) : nil)
        let codes = await withTaskGroup(of: String?.self) { group in
            for index in 0..<1000 { group.addTask { try? objects[index % objects.count].generateCode().code } }
            return await group.reduce(into: [String]()) { codes, code in if let code { codes.append(code) } }
        }
        #expect(codes.count == (withFaults ? 999 : 1000))
        let stored = try #require(fixture.client.getMechanismByUUID(hotp.mechanismUUID) as? HOTPMechanism)
        #expect(stored.counter == UInt64(7 + codes.count))
        let expected = try (7..<stored.counter).map { counter in
            OATHSettings(
                secret: Secret(try Base32.decode(Sample.oathSecret)), factor: .counter(next: counter)
            ).code(at: Sample.start).digits
        }
        #expect(codes.sorted() == expected.sorted())
    }
}
