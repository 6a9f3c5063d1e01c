import Logging
import ServiceLifecycle
import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Carries messages to SNS, after the logins that sent them have been answered: however slow SNS is, no login hangs on it.
///
/// A failure that may pass is tried again, with growing pauses, a few times and for as long as the message can be answered. A message
/// that SNS took without our hearing of it is then sent twice; devices know it by its id.
///
/// What waits is in the state: a courier that starts finds what another one left. Several servers of one state have a courier each; who
/// carries a message claims it first, for a while, and what is left when the claim ends another one carries.
///
/// What cannot be delivered is logged, shown by the console and by ``DevServer/pushes(to:realm:)``; the login goes on waiting, as AM's
/// does.
struct PushDeliveryWorker: Service {
    let server: ServerContext

    /// How long to wait before each further try.
    static let pauses: [Duration] = [.milliseconds(200), .milliseconds(800), .seconds(2)]
    /// How many messages are on their way at once.
    static let mostAtOnce = 64
    /// How often to look for messages that nobody carries.
    static let round: Duration = .seconds(10)

    func run() async throws {
        let (ids, number) = server.line.join()
        defer { server.line.leave(number) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await lookAround() }
            var running = 0
            for await id in ids.cancelOnGracefulShutdown() {
                if running >= Self.mostAtOnce { await group.next() } else { running += 1 }
                server.line.took(id)
                group.addTask { await carry(id) }
            }
            // What is on its way is given up: who is asked to end does not wait for SNS.
            group.cancelAll()
        }
    }

    /// Lines up what waits in the state and nobody carries: what a server before this one left, or one beside it that is gone.
    private func lookAround() async {
        repeat {
            do {
                try await server.lineUp()
            } catch {
                server.logger.error("what waits for SNS cannot be read", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.round)) != nil
    }

    private func carry(_ messageID: String) async {
        let holder = RandomID.token()
        do {
            if try await isSettled(messageID, holder) { return }
            // The server ends, and nothing is known of the message: the next one carries it again.
            try await server.transact { state, moment in state.dispatches.release(messageID, by: holder, at: moment.now) }
        } catch {
            // The claim ends, and then somebody looks around.
            server.logger.error(
                "the state of a push message cannot be kept", metadata: ["message": "\(messageID)", "error": "\(error)"])
        }
    }

    /// Carries a message. False when the server ends before it is known what became of it.
    private func isSettled(_ messageID: String, _ holder: String) async throws -> Bool {
        for pause in Self.pauses + [nil] {
            guard !Task.isCancelled else { return false }
            guard let (dispatch, now) = try await claim(messageID, holder) else { return true }
            guard now < dispatch.deadline else {
                try await settle(dispatch, .failed("it was over before it could be sent"))
                return true
            }
            let failure: SNSFailure
            do {
                let id = try await publish(dispatch)
                try await settle(dispatch, .sent(id))
                return true
            } catch let error as SNSFailure {
                failure = error
            }
            guard !Task.isCancelled else { return false }
            guard failure.isRetryable, let pause else {
                try await settle(dispatch, .failed(failure.description))
                return true
            }
            guard (try? await Task.sleep(for: pause)) != nil else { return false }
        }
        return true
    }

    private func claim(_ messageID: String, _ holder: String) async throws -> (PushDispatch, Date)? {
        let machine = server.machineClock.now
        // As long as a try can take, with its three requests, and the pause behind it.
        let length = Double(3 * max(1, server.sns?.configuration.timeout ?? 1) + 15)
        let claim = DispatchClaim(holder: holder, end: machine.addingTimeInterval(length))
        return try await server.transact { state, moment in
            state.dispatches.claim(messageID, claim, at: moment.now, machine: machine).map { ($0, moment.now) }
        }
    }

    private func publish(_ dispatch: PushDispatch) async throws(SNSFailure) -> String {
        guard let sns = server.sns else { throw .notConfigured("there is no SNS in the configuration any more") }
        return try await sns.publish(
            dispatch.envelope, subject: dispatch.subject, to: dispatch.endpoint, token: dispatch.token)
    }

    private func settle(_ dispatch: PushDispatch, _ state: PushDispatch.State) async throws {
        try await server.transact { tx, moment in tx.settle(dispatch, state, at: moment.now) }
        guard case .failed(let reason) = state else { return }
        server.logger.warning(
            "a push message could not be delivered", metadata: ["message": "\(dispatch.messageID)", "reason": "\(reason)"])
    }
}

/// The way from a transaction to the courier. Nothing is kept here: while no courier runs, messages wait in the state, where it looks
/// when it comes.
final class PushDeliveryQueue: Sendable {
    private struct Line: Sendable {
        var couriers: [(number: Int, ids: AsyncStream<String>.Continuation)] = []
        /// What was told and not taken yet: it is not told twice.
        var told: Set<String> = []
        var count = 0
    }

    private let line = Mutex(Line())

    func add(_ ids: [String]) {
        line.withLock { line in
            guard let courier = line.couriers.first else { return }
            for id in ids where line.told.insert(id).inserted { courier.ids.yield(id) }
        }
    }

    func took(_ id: String) { line.withLock { _ = $0.told.remove(id) } }

    func join() -> (ids: AsyncStream<String>, number: Int) {
        let (ids, continuation) = AsyncStream.makeStream(of: String.self)
        let number = line.withLock { line in
            line.count += 1
            line.couriers.append((line.count, continuation))
            return line.count
        }
        return (ids, number)
    }

    func leave(_ number: Int) {
        line.withLock { line in
            line.couriers.first { $0.number == number }?.ids.finish()
            line.couriers.removeAll { $0.number == number }
            line.told = []
        }
    }
}
