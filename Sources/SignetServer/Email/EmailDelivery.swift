import Foundation
import Logging
import ServiceLifecycle
import SignetCore

/// An email that waits for its delivery over SMTP.
struct EmailDelivery: Sendable, Hashable {
    let id: String
    /// The key under which the email is kept.
    let key: EmailKey
    let to: String
    let sentAt: Date
    let subject: String
    let text: String
    let html: String

    init(_ message: SentEmail, to recipient: EmailRecipient) {
        (id, sentAt) = (message.id, message.sentAt)
        key = EmailKey(recipient)
        to = message.to ?? ""
        (subject, text, html) = (message.subject, message.text, message.html)
    }
}

/// The queue of the emails that wait for the worker of this process.
///
/// It is in memory: an email that waits when the server stops is not delivered later (``EmailDeliveryWorker``).
final class EmailQueue: Sendable {
    /// The maximum number of emails that wait; the oldest one is dropped.
    static let size = 1000

    /// The maximum number of dropped emails whose results wait to be stored.
    private static let maxDropped = 10_000

    private struct State: Sendable {
        var waiting: [EmailDelivery] = []
        var dropped: [Unsent] = []
        /// The keys of the emails without a result by id: those that wait, and those that are being delivered.
        var unfinished: [String: EmailKey] = [:]
        var worker: AsyncStream<EmailDelivery>.Continuation?
        var drops: AsyncStream<Void>.Continuation?

        mutating func end() {
            worker?.finish()
            drops?.finish()
            (worker, drops) = (nil, nil)
        }
    }

    /// An email that is not delivered, because the full queue has dropped it or the server stops.
    struct Unsent: Sendable, Hashable {
        let id: String
        let key: EmailKey
    }

    /// The work of a worker.
    struct Work: Sendable {
        let emails: AsyncStream<EmailDelivery>
        /// A signal after emails were dropped.
        let drops: AsyncStream<Void>
    }

    private let state = Mutex(State())

    /// Adds an email.
    ///
    /// Returns the id of the email that the full queue has dropped for it; nil for none.
    @discardableResult
    func add(_ email: EmailDelivery) -> String? {
        state.withLock { state in
            var oldest: EmailDelivery?
            state.unfinished[email.id] = email.key
            if let worker = state.worker {
                if case .dropped(let email) = worker.yield(email) { oldest = email }
            } else {
                state.waiting.append(email)
                if state.waiting.count > Self.size { oldest = state.waiting.removeFirst() }
            }
            guard let oldest else { return nil }
            state.unfinished[oldest.id] = nil
            state.dropped.append(Unsent(id: oldest.id, key: oldest.key))
            if state.dropped.count > Self.maxDropped { state.dropped.removeFirst() }
            state.drops?.yield()
            return oldest.id
        }
    }

    /// Returns the dropped emails since the last call.
    func takeDropped() -> [Unsent] {
        state.withLock { state in
            let dropped = state.dropped
            state.dropped = []
            return dropped
        }
    }

    /// Returns true for an email that waits or is being delivered.
    func isUnfinished(_ id: String) -> Bool { state.withLock { $0.unfinished[id] != nil } }

    /// Removes an email whose delivery has a result.
    func finish(_ id: String) { state.withLock { $0.unfinished[id] = nil } }

    /// Returns the work for a worker, which replaces an earlier one.
    func join() -> Work {
        let (emails, continuation) = AsyncStream.makeStream(of: EmailDelivery.self, bufferingPolicy: .bufferingNewest(Self.size))
        let (drops, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.end()
            (state.worker, state.drops) = (continuation, signal)
            for email in state.waiting { continuation.yield(email) }
            state.waiting = []
            // Emails may have been dropped before there was a worker.
            signal.yield()
        }
        return Work(emails: emails, drops: drops)
    }

    /// Ends the work of the worker.
    ///
    /// Returns the emails that it has not finished.
    func leave() -> [Unsent] {
        state.withLock { state in
            state.end()
            let unsent = state.unfinished.map { Unsent(id: $0.key, key: $0.value) }
            state.unfinished = [:]
            return unsent
        }
    }
}

/// The service that delivers emails over SMTP.
///
/// A login does not wait for it. Each email is tried once: a failure is in the log, and `/admin/emails` has each result. An email
/// that a full queue drops has its result at once, and one that is not delivered when the server stops has it then, or after the
/// next start.
struct EmailDeliveryWorker: Service {
    /// The maximum number of emails that are delivered at the same time.
    static let maxConcurrentDeliveries = 8

    private static let droppedReason = "too many emails were waiting"
    private static let stoppedReason = "the server stopped before the mail server had accepted it"

    let server: ServerContext
    let client: SMTPClient

    func run() async throws {
        let work = server.emailQueue.join()
        await markInterrupted()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in work.drops { await mark(server.emailQueue.takeDropped(), Self.droppedReason) } }
            await deliver(work.emails)
            // Now the other task ends, because leaving ends the signals.
            await mark(server.emailQueue.leave(), Self.stoppedReason)
        }
    }

    /// Delivers emails until the server stops.
    private func deliver(_ emails: AsyncStream<EmailDelivery>) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await email in emails.cancelOnGracefulShutdown() {
                if running >= Self.maxConcurrentDeliveries { await group.next() } else { running += 1 }
                group.addTask { await deliver(email) }
            }
            // Deliveries in progress are canceled, so that the shutdown does not wait for a mail server.
            group.cancelAll()
        }
    }

    /// Delivers an email and stores the result.
    private func deliver(_ email: EmailDelivery) async {
        guard let result = await attempt(email) else { return }
        if case .failed(let reason) = result {
            server.logger.warning("an email could not be delivered", metadata: ["email": "\(email.id)", "reason": "\(reason)"])
        }
        server.telemetry.count([.email(result == .delivered ? .delivered : .failed)])
        server.emailQueue.finish(email.id)
        do {
            try await server.store.write { tx in try tx.emails.complete(email.id, of: email.key, result) }
        } catch {
            server.logger.error(
                "the result of an email's delivery cannot be stored", metadata: ["email": "\(email.id)", "error": "\(error)"])
        }
    }

    /// Stores that emails are not delivered.
    private func mark(_ emails: [EmailQueue.Unsent], _ reason: String) async {
        guard !emails.isEmpty else { return }
        do {
            try await server.store.write { tx in
                for email in emails { try tx.emails.complete(email.id, of: email.key, .failed(reason)) }
            }
        } catch {
            server.logger.error("the results of emails cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Stores that the emails are not delivered that another process of the server had in its queue, which was killed.
    ///
    /// In a shared state they may be in the queue of another server.
    private func markInterrupted() async {
        guard !server.configuration.state.isShared else { return }
        do {
            try await server.store.write { [queue = server.emailQueue] tx in
                try tx.emails.failQueued(among: ConsoleFacts.rows, Self.stoppedReason) { !queue.isUnfinished($0) }
            }
        } catch {
            server.logger.error("the results of emails cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Delivers an email; nil when the task was canceled.
    private func attempt(_ email: EmailDelivery) async -> SentEmail.Delivery? {
        do {
            try await client.deliver(email)
            return .delivered
        } catch let failure as SMTPFailure {
            return .failed(failure.description)
        } catch {
            return nil
        }
    }
}
