public import SignetCore
import SignetNetwork
import SignetStorage

/// Listens at a server's desk, or at the push front of a server that has none, for the messages of one mechanism, and takes them in as
/// they come (docs/desk.md, docs/push.md).
///
/// A connection that ends is made again, after a growing pause, from the last message that was seen: nothing is lost while
/// the line is down or the device is away.
public struct PushStreamListener: Sendable {
    private let authenticator: Authenticator
    private let mechanismUID: String

    /// What a listener tells while it listens.
    public enum Event: Sendable {
        /// The desk has accepted the proof; messages come from now on.
        case connected
        /// A message came, was verified and stored. It may be one that was known.
        case received(PushNotification)
        /// A message came and was refused, or stands in the place of a damaged record; nothing was stored.
        case refused(any Error)
        /// The connection ended or could not be made, or the store was busy; it is tried again after `pause`, from the last message
        /// that was taken in.
        case disconnected(any Error, pause: Duration)
    }

    /// A listener for one push mechanism.
    public init(_ authenticator: Authenticator, mechanismUID: String) {
        self.authenticator = authenticator
        self.mechanismUID = mechanismUID
    }

    /// Listens until the task is cancelled.
    /// - Throws: ``AuthenticatorError/Code/noPushStream`` when the mechanism's server has none,
    ///   ``AuthenticatorError/Code/refusedByServer`` when the desk does not accept the proof, `CancellationError` when the
    ///   task is cancelled, and what `handle` throws.
    public func run(_ handle: @Sendable (Event) async throws -> Void) async throws {
        guard let push = try await authenticator.mechanism(mechanismUID).push else {
            throw AuthenticatorError.noPush
        }
        guard let door = try PushStreamCredentials(push, mechanismUID: mechanismUID) else {
            throw AuthenticatorError(
                .noPushStream,
                "\(push.registrationEndpoint.host) hands out no push messages to desktops; enrol again with a push front"
            )
        }
        do {
            try await listen(at: door) { event in
                do {
                    try await handle(event)
                } catch {
                    throw HandlerFailure(error: error)
                }
            }
        } catch let failure as HandlerFailure {
            throw failure.error
        }
    }

    /// What the app's handler threw: in an envelope, so that it is not taken for a failure of the desk or of a message.
    private struct HandlerFailure: Error {
        let error: any Error
    }

    private func listen(at door: PushStreamCredentials, _ tell: @Sendable (Event) async throws -> Void) async throws {
        let server = door.endpoint
        var progress = PushStreamPosition()
        while true {
            do {
                try await connect(to: door, progress: &progress, tell)
                throw TransportError(.interrupted, host: server.host, "the desk ended the connection")
            } catch let error where error.isWorthAnotherTry {
                try Task.checkCancellation()
                let pause = progress.nextPause()
                try await tell(.disconnected(error, pause: pause))
                try await Task.sleep(for: pause)
            }
        }
    }

    private func connect(
        to door: PushStreamCredentials, progress: inout PushStreamPosition, _ tell: @Sendable (Event) async throws -> Void
    ) async throws {
        let server = door.endpoint
        var request = HTTPRequest("GET", server.url, headers: ["Accept": "text/event-stream"])
        request.headers.append("Authorization", try door.authorization(try await nonce(of: door)))
        if let last = progress.lastEventID { request.headers.append("Last-Event-ID", last) }

        let stream = PushStream(progress)
        defer { progress = stream.progress }
        let response = try await authenticator.transport.stream(request) { piece in
            let (isFirst, events) = try stream.feed(piece, from: server)
            if isFirst { try await tell(.connected) }
            for event in events {
                try await take(event, tell)
                stream.took(event)
            }
        }
        guard (200..<300).contains(response.status) else {
            throw AuthenticatorError.refusal(by: server, status: response.status)
        }
    }

    /// Asks without a proof, to be told what to sign.
    private func nonce(of door: PushStreamCredentials) async throws -> String {
        let server = door.endpoint
        let response = try await authenticator.wire.clocks.timed(server) { () async throws(TransportError) in
            try await authenticator.transport.send(HTTPRequest("GET", server.url))
        }
        guard response.status == 401, let nonce = PushStreamChallenge.nonce(in: response.headers, scheme: door.scheme) else {
            throw AuthenticatorError.refusal(by: server, status: response.status)
        }
        return nonce
    }

    private func take(_ event: ServerSentEvent, _ tell: @Sendable (Event) async throws -> Void) async throws {
        guard event.name == PushStreamProof.eventName else { return }
        guard let delivery = try? JSON.decode(PushDelivery.self, from: event.data.utf8) else {
            return try await tell(.refused(PushMessageError.form))
        }
        let notification: PushNotification
        do {
            notification = try await authenticator.receive(delivery)
        } catch let error where error is PushMessageError || error is AuthenticatorError {
            return try await tell(.refused(error))
        } catch let error as StoreError where error.isOfOneRecord {
            // What stands in its place, or its mechanism, is damaged. The next message may be taken in.
            return try await tell(.refused(error))
        }
        try await tell(.received(notification))
    }
}

extension AuthenticatorError {
    fileprivate static func refusal(by server: Endpoint, status: Int) -> AuthenticatorError {
        (400..<500).contains(status)
            ? AuthenticatorError(.refusedByServer, "the desk at \(server.host) does not know this mechanism", status: status)
            : AuthenticatorError(.serverMisbehaved, "the desk at \(server.host) is out of order", status: status)
    }
}

extension Error {
    /// Whether a listener should connect again: the network, the server and a store that is busy may recover; a refusal, a store
    /// that fails for good and a caller that has had enough will not.
    fileprivate var isWorthAnotherTry: Bool {
        switch self {
        case let error as TransportError: error.isRetryable
        case let error as AuthenticatorError: error.isRetryable
        // The message was not taken in: it comes again.
        case let error as StoreError: error.isRetryable
        default: false
        }
    }
}
