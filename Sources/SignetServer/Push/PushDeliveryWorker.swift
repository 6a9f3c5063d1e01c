import Foundation
import Logging
import ServiceLifecycle
import SignetCore

/// The service that delivers messages to SNS.
///
/// By default a login waits for the delivery of its message (``ServerContext/deliver(_:)``), and the worker delivers only what a
/// server that stopped has left. With ``SNSConfiguration/waitsForDelivery`` false, it delivers all messages after their logins
/// have been answered, so a slow SNS does not delay a login.
///
/// The worker retries a few times after a transient error, with the growing ``pauses``, as long as the message can be answered. If
/// SNS accepted a message but its response was lost, the message is sent twice. Devices recognize the duplicate by its id.
///
/// Waiting messages are kept in the state, so a worker that starts finds those that an earlier worker left. Each of the servers
/// that share a state has a worker. A worker claims a message for a limited time before it delivers it. When the claim expires,
/// another worker can take over the message.
///
/// A message that cannot be delivered is logged, and the console and ``DevServer/pushes(to:realm:)`` show it.
struct PushDeliveryWorker: Service {
    let server: ServerContext
    let sns: SNSClient

    /// The pauses before the retries.
    static let pauses: [Duration] = [.milliseconds(200), .milliseconds(800), .seconds(2)]
    /// The maximum number of messages that are delivered at the same time.
    static let maxConcurrentDeliveries = 64
    /// The interval at which the worker looks for unclaimed messages in the state.
    static let round: Duration = .seconds(10)

    func run() async throws {
        let (ids, number) = server.deliveryQueue.join()
        defer { server.deliveryQueue.leave(number) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await queueUnclaimed() }
            var running = 0
            for await id in ids.cancelOnGracefulShutdown() {
                if running >= Self.maxConcurrentDeliveries { await group.next() } else { running += 1 }
                server.deliveryQueue.dequeue(id)
                group.addTask { await deliver(id) }
            }
            // Deliveries in progress are canceled, so that the shutdown does not wait for SNS.
            group.cancelAll()
        }
    }

    /// Queues the unclaimed messages in the state at intervals of ``round``.
    ///
    /// A server that ran earlier, or another server that has stopped, can have left them.
    private func queueUnclaimed() async {
        repeat {
            do {
                try await server.queueUnclaimedMessages()
            } catch {
                server.logger.error("the push messages that wait for SNS cannot be read", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.round)) != nil
    }

    /// Delivers a message and stores the outcome.
    func deliver(_ messageID: String) async {
        let holder = RandomID.token()
        do {
            switch try await publish(messageID, holder) {
            case .notClaimed: break
            case .interrupted:
                // Release the message, so that the next worker delivers it again.
                try await server.store.write { tx in try tx.dispatches.release(messageID, by: holder) }
            case .outcome(let outcome):
                try await server.store.write { tx in try tx.finish(messageID, outcome) }
                guard case .failed(let reason) = outcome else { return }
                server.logger.warning(
                    "a push message could not be delivered", metadata: ["message": "\(messageID)", "reason": "\(reason)"])
            }
        } catch {
            // The claim expires, and a later ``queueUnclaimed()`` queues the message again.
            server.logger.error(
                "the result of a push delivery cannot be stored", metadata: ["message": "\(messageID)", "error": "\(error)"])
        }
    }

    /// The result of a delivery.
    enum Delivery: Sendable, Hashable {
        case outcome(PushDispatch.State)
        /// The message is finished or gone, another worker has it, or the task was canceled before the claim.
        case notClaimed
        /// The task was canceled after the claim, so the outcome is unknown, and the message may still be claimed.
        case interrupted
    }

    /// Claims and publishes a message, with the retries after transient errors.
    func publish(_ messageID: String, _ holder: String) async throws -> Delivery {
        guard !Task.isCancelled else { return .notClaimed }
        var pauses = Self.pauses.makeIterator()
        repeat {
            guard let (dispatch, now) = try await claim(messageID, holder) else { return .notClaimed }
            guard now < dispatch.deadline else { return .outcome(.failed("the message expired before it could be sent")) }
            let failure: SNSFailure
            do {
                let id = try await sns.publish(
                    dispatch.envelope, subject: dispatch.subject, to: dispatch.endpoint, token: dispatch.token)
                return .outcome(.sent(id))
            } catch {
                failure = error
            }
            guard !Task.isCancelled else { break }
            guard failure.isRetryable, let pause = pauses.next() else { return .outcome(.failed(failure.description)) }
            try? await Task.sleep(for: pause)
        } while !Task.isCancelled
        return .interrupted
    }

    private func claim(_ messageID: String, _ holder: String) async throws -> (PushDispatch, Date)? {
        let machine = server.machineClock.now
        // The claim covers one attempt, which makes up to three requests, and the pause after it.
        let length = Double(3 * max(1, sns.configuration.timeout) + 15)
        let claim = DispatchClaim(holder: holder, end: machine.addingTimeInterval(length))
        return try await server.store.write { tx in
            try tx.dispatches.claim(messageID, claim, machine: machine).map { ($0, tx.now) }
        }
    }
}

extension ServerContext {
    /// Delivers the messages that a transaction has stored for SNS, unless the worker does it after the login's answer.
    ///
    /// When the server shuts down, a message that SNS has not answered for stays in the state for the next worker.
    /// - Parameter messageIDs: The ids of the messages (``ServerTransaction/dispatched``).
    /// - Throws: ``APIError/authenticationError`` when SNS does not accept a message.
    func deliver(_ messageIDs: [String]) async throws {
        guard let sns, sns.configuration.waitsForDelivery else { return }
        for id in messageIDs {
            await cancelWhenGracefulShutdown { await PushDeliveryWorker(server: self, sns: sns).deliver(id) }
            let outcome = try await store.read { tx in try tx.dispatches[id]?.state }
            if case .failed = outcome { throw APIError.authenticationError }
        }
    }
}

/// The queue between transactions and the delivery worker.
///
/// It does not store messages: while no worker runs, they wait in the state, and the worker reads them from there when it starts.
final class PushDeliveryQueue: Sendable {
    private struct State: Sendable {
        var workers: [(number: Int, ids: AsyncStream<String>.Continuation)] = []
        /// The ids that were passed to a worker and not taken yet.
        ///
        /// An id in this set is not passed again.
        var queued: Set<String> = []
        var count = 0
    }

    private let state = Mutex(State())

    func add(_ ids: [String]) {
        state.withLock { state in
            guard let worker = state.workers.first else { return }
            for id in ids where state.queued.insert(id).inserted { worker.ids.yield(id) }
        }
    }

    func dequeue(_ id: String) { state.withLock { _ = $0.queued.remove(id) } }

    func join() -> (ids: AsyncStream<String>, number: Int) {
        let (ids, continuation) = AsyncStream.makeStream(of: String.self)
        let number = state.withLock { state in
            state.count += 1
            state.workers.append((state.count, continuation))
            return state.count
        }
        return (ids, number)
    }

    func leave(_ number: Int) {
        state.withLock { state in
            state.workers.first { $0.number == number }?.ids.finish()
            state.workers.removeAll { $0.number == number }
            state.queued = []
        }
    }
}
