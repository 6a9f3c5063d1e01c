#if os(Linux)
import SignetCore
import SignetNetwork
import SignetTesting
import Testing
import TestSupport

@testable import SignetServer

/// Deliveries of one message that a test starts and cancels, on a server without a worker of its own.
@Suite("Delivery of a push message", .timeLimit(.minutes(5)))
struct PushDeliveryWorkerTests {
    /// Runs `body` with a worker, the id of a message that waits, and the number of responses of SNS.
    private func run(
        _ sns: StandInSNS, _ body: @Sendable (PushDeliveryWorker, _ id: String, _ responses: Counter) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            _ = try await server.registeredPhone()
            let context = server.devServer.context
            let id = try await context.store.write { tx in
                let device = try #require(try tx.devices.pushDevice(of: UserKey(realm: .root, name: "mira")))
                let push = PushMessageRecord(PushPrompt(kind: .tap, text: "Hello"), to: device, tx.time)
                tx.dispatches.store(
                    PushDispatch(push, text: "Hello", endpoint: StandInSNS.endpoint, token: "token", until: push.deadline))
                return push.messageID
            }
            try await AsyncHTTPTransport().use { transport in
                let responses = Counter()
                var client = SNSClient(configuration: sns.configuration, transport: transport, clock: SystemWallClock())
                client.observer = { _, _, _ in responses.add() }
                try await body(PushDeliveryWorker(server: context, sns: client), id, responses)
            }
        }
    }

    /// Starts a delivery, waits, changes its message, which is claimed by then, and cancels the delivery.
    /// - Returns: The message before and after the cancellation.
    private func interrupt(
        _ worker: PushDeliveryWorker, _ id: String, when isReached: @Sendable () -> Bool,
        _ change: @escaping @Sendable (inout PushDispatch) -> Void = { _ in }
    ) async throws -> (before: PushDispatch, after: PushDispatch) {
        let delivery = Task { await worker.deliver(id) }
        let isInterruptible = try await eventually { isReached() }
        #expect(isInterruptible)
        let before = try await worker.server.store.write { tx in
            var dispatch = try #require(try tx.dispatches[id])
            #expect(dispatch.claim != nil)
            change(&dispatch)
            tx.dispatches.store(dispatch)
            return dispatch
        }
        delivery.cancel()
        await delivery.value
        return (before, try await dispatch(id, worker))
    }

    private func dispatch(_ id: String, _ worker: PushDeliveryWorker) async throws -> PushDispatch {
        let dispatch = try await worker.server.store.read { tx in try tx.dispatches[id] }
        return try #require(dispatch)
    }

    @Test(
        "A delivery that is canceled while SNS is silent, or in the pause before a retry, releases its message",
        arguments: [false, true])
    func canceledDeliveryReleasesMessage(isInPause: Bool) async throws {
        let fault = StandInSNS.Answer.error("InternalFailure", "oh", status: "503 Oh")
        let sns = try StandInSNS { _, before in isInPause && before == 0 ? fault : .silence }
        try await run(sns) { worker, id, responses in
            let (_, after) = try await interrupt(worker, id, when: { isInPause ? responses.count > 0 : !sns.actions.isEmpty })
            #expect(after.state == .waiting && after.claim == nil)
        }
    }

    @Test(
        "A canceled delivery does not release a message that is finished or that another worker has claimed",
        arguments: [true, false])
    func canceledDeliveryLeavesMessageOfOthers(isFinished: Bool) async throws {
        let sns = try StandInSNS { _, _ in .silence }
        try await run(sns) { worker, id, _ in
            let (before, after) = try await interrupt(worker, id, when: { !sns.actions.isEmpty }) { dispatch in
                if isFinished {
                    dispatch.state = .sent("1")
                } else {
                    dispatch.claim = DispatchClaim(holder: "other", end: dispatch.deadline)
                }
            }
            #expect(after.state == before.state && after.claim?.holder == before.claim?.holder)
        }
    }

    @Test("A message is not published when it is finished or gone, or when the delivery is canceled before its claim")
    func publishesClaimedMessagesOnly() async throws {
        let sns = try StandInSNS()
        try await run(sns) { worker, id, _ in
            let canceled = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await worker.publish(id, "holder")
            }
            canceled.cancel()
            let delivery = try await canceled.value
            let unclaimed = try await dispatch(id, worker)
            #expect(delivery == .notClaimed && unclaimed.claim == nil)
            await worker.deliver(id)
            let sent = try await dispatch(id, worker)
            #expect(sent.state == .sent("sns-1"))
            let finished = try await worker.publish(id, "holder")
            let unknown = try await worker.publish("unknown", "holder")
            #expect(finished == .notClaimed && unknown == .notClaimed)
            #expect(sns.actions == ["Publish"])
        }
    }
}
#endif
