import Foundation
import SignetCore
import SignetNetwork

/// The progress of a listener that asks for messages, which continues from one request to the next.
struct PushPollProgress: Sendable {
    /// True after a successful request, until one fails.
    var isConnected = false
    /// The messages of the last answer, which the server sends again as long as they can be answered.
    var seen: Set<String> = []
    /// The messages that have arrived.
    var received = ReceivedMessages()
    private var pauses = PushStreamProgress()

    /// Returns the pause after a failure, which grows with every consecutive one.
    mutating func nextPause() -> Duration {
        isConnected = false
        return pauses.nextPause()
    }

    /// Records a successful request.
    ///
    /// Returns true for the first one, and for the first one after a failure.
    mutating func succeeded() -> Bool {
        defer { isConnected = true }
        pauses.succeeded()
        return !isConnected
    }
}

/// The requests for the messages of one mechanism, whose server sends nothing by itself.
struct PushPoll: Sendable {
    let authenticator: Authenticator
    let platform: any PolledPushPlatform
    let mechanism: Mechanism
    let push: PushSettings

    /// The difference of two clocks, in seconds, above which a refusal may be due to the time in the request.
    private static let minClockChange: TimeInterval = 30

    /// Asks once, receives the messages that the last answer did not have, and reports those that the server does not list any
    /// more.
    ///
    /// A message is known by its whole text, so that a forged one does not hide the genuine one with the same id.
    /// - Throws: The errors of the request, of the store and of `report`.
    func once(
        _ progress: inout PushPollProgress, _ report: @Sendable (PushStreamListener.Report) async throws -> Void
    ) async throws {
        let (deliveries, isComplete) = try await openMessages()
        if progress.succeeded() { try await report(.event(.connected)) }
        progress.seen.formIntersection(deliveries.map(\.message))
        for delivery in deliveries where !progress.seen.contains(delivery.message) {
            do {
                let notification = try await authenticator.receive(delivery)
                progress.received.add(notification)
                try await report(.event(.received(notification)))
            } catch let error where error.concernsOneMessage {
                try await report(.event(.refused(error)))
            }
            progress.seen.insert(delivery.message)
        }
        guard isComplete else { return }
        for id in progress.received.removeAll(except: Set(deliveries.map(\.messageId))) { try await report(.ended(id: id)) }
    }

    /// Asks for the messages at the server's time.
    ///
    /// The first response tells how far the server's clock is from this machine's. When that is the reason of a refusal, the request
    /// is sent again.
    private func openMessages() async throws -> OpenPushMessages {
        let clock = authenticator.clock(of: push.authenticationEndpoint)
        let offset = clock.offset ?? 0
        do {
            return try await openMessages(at: clock.now)
        } catch let error as AuthenticatorError {
            guard error.code == .refusedByServer, abs((clock.offset ?? 0) - offset) > Self.minClockChange else { throw error }
            return try await openMessages(at: clock.now)
        }
    }

    private func openMessages(at time: Date) async throws -> OpenPushMessages {
        try await NotSent.unwrapped {
            try await platform.openMessages(for: mechanism, at: time, over: authenticator.pushTransport)
        }
    }
}
