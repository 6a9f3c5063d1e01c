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
/// It is in memory: an email that waits when the server stops is not delivered later, and stays marked as queued.
final class EmailQueue: Sendable {
    /// The maximum number of emails that wait; the oldest one is dropped.
    static let size = 1000

    /// The maximum number of dropped emails whose results wait to be stored.
    private static let maxDropped = 10_000

    private struct State: Sendable {
        var waiting: [EmailDelivery] = []
        var dropped: [Dropped] = []
        var worker: AsyncStream<EmailDelivery>.Continuation?
    }

    /// An email that the full queue has dropped.
    struct Dropped: Sendable, Hashable {
        let id: String
        let key: EmailKey
    }

    private let state = Mutex(State())

    /// Adds an email.
    ///
    /// Returns the id of the email that the full queue has dropped for it; nil for none.
    @discardableResult
    func add(_ email: EmailDelivery) -> String? {
        state.withLock { state in
            var oldest: EmailDelivery?
            if let worker = state.worker {
                if case .dropped(let email) = worker.yield(email) { oldest = email }
            } else {
                state.waiting.append(email)
                if state.waiting.count > Self.size { oldest = state.waiting.removeFirst() }
            }
            guard let oldest else { return nil }
            state.dropped.append(Dropped(id: oldest.id, key: oldest.key))
            if state.dropped.count > Self.maxDropped { state.dropped.removeFirst() }
            return oldest.id
        }
    }

    /// Returns the dropped emails since the last call.
    func takeDropped() -> [Dropped] {
        state.withLock { state in
            let dropped = state.dropped
            state.dropped = []
            return dropped
        }
    }

    /// Returns the emails for a worker, which replaces an earlier one.
    func join() -> AsyncStream<EmailDelivery> {
        let (emails, continuation) = AsyncStream.makeStream(of: EmailDelivery.self, bufferingPolicy: .bufferingNewest(Self.size))
        state.withLock { state in
            state.worker?.finish()
            state.worker = continuation
            for email in state.waiting { continuation.yield(email) }
            state.waiting = []
        }
        return emails
    }

    /// Ends the emails of the worker.
    func leave() {
        state.withLock { state in
            state.worker?.finish()
            state.worker = nil
        }
    }
}

/// The service that delivers emails over SMTP.
///
/// A login does not wait for it. Each email is tried once: a failure is in the log, and `/admin/emails` has each result.
struct EmailDeliveryWorker: Service {
    /// The maximum number of emails that are delivered at the same time.
    static let maxConcurrentDeliveries = 8

    let server: ServerContext
    let client: SMTPClient

    func run() async throws {
        let emails = server.emailQueue.join()
        defer { server.emailQueue.leave() }
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
        await markDropped()
        guard let result = await attempt(email) else { return }
        if case .failed(let reason) = result {
            server.logger.warning("an email could not be delivered", metadata: ["email": "\(email.id)", "reason": "\(reason)"])
        }
        server.telemetry.count([.email(result == .delivered ? .delivered : .failed)])
        do {
            try await server.store.write { tx in try tx.emails.complete(email.id, of: email.key, result) }
        } catch {
            server.logger.error(
                "the result of an email's delivery cannot be stored", metadata: ["email": "\(email.id)", "error": "\(error)"])
        }
    }

    /// Stores that the emails that the queue has dropped are not delivered.
    private func markDropped() async {
        let dropped = server.emailQueue.takeDropped()
        guard !dropped.isEmpty else { return }
        do {
            try await server.store.write { tx in
                for email in dropped { try tx.emails.complete(email.id, of: email.key, .failed("too many emails were waiting")) }
            }
        } catch {
            server.logger.error("the results of dropped emails cannot be stored", metadata: ["error": "\(error)"])
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
