import FRAuthenticator
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

@Suite("Completion callbacks and concurrent calls")
struct CallbackTests {
    /// Counts callbacks and waits for them.
    private final class Outcome: Sendable {
        let successes = Tally()
        let failures = Tally()
        private let codes = Mutex<Set<Int>>([])
        private let (calls, called) = AsyncStream<Void>.makeStream()

        var failureCodes: Set<Int> { codes.withLock { $0 } }

        func succeeded() {
            successes.add()
            called.yield()
        }

        func failed(_ error: any Error) {
            failures.add()
            codes.withLock { _ = $0.insert((error as? any CodedFRError)?.code ?? 0) }
            called.yield()
        }

        /// Waits for `count` calls, and a moment longer to notice calls in excess.
        func wait(for count: Int) async {
            var iterator = calls.makeAsyncIterator()
            for _ in 0..<count { _ = await iterator.next() }
            for _ in 0..<100 { await Task.yield() }
        }
    }

    @Test("100 concurrent enrollments call back once each, and only one succeeds")
    func callsBackOncePerConcurrentEnrollment() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try fixture.client.registerForRemoteNotifications("token-1")
        let uri = try #require(URL(string: Sample.combined))
        let outcome = Outcome()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    fixture.client.createMechanismFromUri(
                        uri: uri, onSuccess: { _ in outcome.succeeded() }, onError: { outcome.failed($0) })
                }
            }
        }
        await outcome.wait(for: 100)
        #expect(outcome.successes.value == 1)
        #expect(outcome.failures.value == 99)
        #expect(outcome.failureCodes == [6_000_004])
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
        let outcome = Outcome()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let object = index.isMultiple(of: 2) ? notification : other
                    if index.isMultiple(of: 3) {
                        object.deny(onSuccess: { outcome.succeeded() }, onError: { outcome.failed($0) })
                    } else {
                        object.accept(onSuccess: { outcome.succeeded() }, onError: { outcome.failed($0) })
                    }
                }
            }
        }
        await outcome.wait(for: 100)
        #expect(outcome.successes.value == 1)
        #expect(outcome.failures.value == 99)
        #expect(outcome.failureCodes == [1_100_001])
        #expect(fixture.transport.requests.count == before + 1)
    }

    @Test("100 concurrent device token updates call back once each")
    func callsBackOncePerConcurrentTokenUpdate() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let outcome = Outcome()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    fixture.client.updateDeviceToken(
                        "token-\(index % 3)",
                        FRAListener(onSuccess: { outcome.succeeded() }, onFailure: { outcome.failed($0) }))
                }
            }
        }
        await outcome.wait(for: 100)
        #expect(outcome.successes.value == 100)
    }

    @Test("Callbacks run on Swift's global executor, not on the main thread or the caller's executor")
    @MainActor func callsBackOnGlobalExecutor() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let (places, place) = AsyncStream<[Bool]>.makeStream()
        let record: @Sendable () -> Void = {
            place.yield([
                Thread.isMainThread, withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil },
            ])
        }
        let uri = try #require(URL(string: Sample.totp))
        await withTaskExecutorPreference(Blocking.executor) {
            fixture.client.createMechanismFromUri(uri: uri, onSuccess: { _ in record() }, onError: { _ in record() })
            fixture.client.updateDeviceToken("token", FRAListener(onSuccess: { record() }, onFailure: { _ in record() }))
        }
        var iterator = places.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == [false, true]) }
    }

    @Test("The error callback is called for an error that occurs before any suspension")
    func callsBackForImmediateError() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        let outcome = Outcome()
        notification.accept(
            challengeResponse: "34", onSuccess: { outcome.succeeded() }, onError: { outcome.failed($0) })
        notification.accept(
            title: "title", allowDeviceCredentials: true, onSuccess: { outcome.succeeded() }, onError: { outcome.failed($0) })
        await outcome.wait(for: 2)
        #expect(outcome.failures.value == 2)
        #expect(outcome.successes.value == 0)
        #expect(outcome.failureCodes == [6_000_003])
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
