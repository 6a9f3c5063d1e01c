public import SignetCore
import SignetNetwork
import SignetStorage

/// A listener for the messages of one mechanism.
///
/// It connects to the server's push stream, or to the push gateway of a server without one, and receives messages as they arrive
/// (docs/protocol/push-stream.md, docs/guides/push.md). It asks a privacyIDEA server for messages every five seconds
/// (docs/protocol/privacyidea-push.md).
///
/// When a connection ends, the listener connects again after a growing pause and continues after the last processed message. No
/// message is lost while the network or the device is unavailable, except those of privacyIDEA that expire in the meantime.
public struct PushStreamListener: Sendable {
    private let authenticator: Authenticator
    private let mechanismUID: String
    private let pollInterval: Duration

    /// An event that a listener reports.
    public enum Event: Sendable {
        /// The server has accepted the proof; messages arrive from now on.
        case connected
        /// A message arrived, and was verified and stored. It may be a message that was already stored.
        case received(PushNotification)
        /// A message arrived and was not stored: it was rejected, or a damaged record is in its place.
        case refused(any Error)
        /// The connection ended or could not be established, or the store was busy. The listener tries again after `pause` and
        /// continues after the last processed message.
        case disconnected(any Error, pause: Duration)
    }

    /// Creates a listener for one push mechanism.
    public init(_ authenticator: Authenticator, mechanismUID: String) {
        self.init(authenticator, mechanismUID: mechanismUID, pollInterval: .seconds(5))
    }

    /// Creates a listener for one push mechanism.
    /// - Parameters:
    ///   - authenticator: The authenticator that stores the messages.
    ///   - mechanismUID: The id of the mechanism.
    ///   - pollInterval: The pause between two requests to a server that has to be asked for messages.
    package init(_ authenticator: Authenticator, mechanismUID: String, pollInterval: Duration) {
        self.authenticator = authenticator
        self.mechanismUID = mechanismUID
        self.pollInterval = pollInterval
    }

    /// Listens until the task is canceled.
    /// - Throws: ``AuthenticatorError/Code/noPushStream`` when the mechanism has neither a push stream nor a push gateway,
    ///   ``AuthenticatorError/Code/refusedByServer`` when the server does not accept the proof, `CancellationError` when the task
    ///   is canceled, and the errors of `handle`.
    public func run(_ handle: @Sendable (Event) async throws -> Void) async throws {
        try await run(ended: { _ in }, handle)
    }

    /// Listens until the task is canceled, and reports the messages that have ended at the server.
    ///
    /// A message has ended when it was answered, by another device or by this one, when its login has ended without an answer, and
    /// when it has expired by the server's clock. The push stream of `signet serve` says so at once, and the next answer of
    /// privacyIDEA has the message no more. AM does not say so, nor does a push gateway. The stored message is not changed, because
    /// what the server says is not signed.
    /// - Parameters:
    ///   - ended: Gets the id of the record of each message that this listener has received and that has ended. The stored message
    ///     tells whether this device has answered it.
    ///   - handle: Gets the other events.
    /// - Throws: The errors of ``run(_:)``, and those of `ended`.
    public func run(
        ended: @Sendable (_ id: String) async throws -> Void, _ handle: @Sendable (Event) async throws -> Void
    ) async throws {
        do {
            try await listen { report in
                do {
                    switch report {
                    case .event(let event): try await handle(event)
                    case .ended(let id): try await ended(id)
                    }
                } catch {
                    throw HandlerFailure(error: error)
                }
            }
        } catch let failure as HandlerFailure {
            throw failure.error
        }
    }

    /// A report of a listener to the app.
    enum Report: Sendable {
        case event(Event)
        /// The message of a record has ended at the server.
        case ended(id: String)
    }

    /// A wrapper for an error of the app's handlers.
    ///
    /// It distinguishes such an error from a failure of the connection or a rejected message.
    private struct HandlerFailure: Error {
        let error: any Error
    }

    private func listen(_ report: @Sendable (Report) async throws -> Void) async throws {
        let mechanism = try await authenticator.mechanism(mechanismUID)
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        if let platform = (try? authenticator.platforms.named(push.platform)) as? any PolledPushPlatform {
            let poll = PushPoll(authenticator: authenticator, platform: platform, mechanism: mechanism, push: push)
            return try await ask(poll, report)
        }
        guard let credentials = try PushStreamCredentials(push, mechanismUID: mechanismUID) else {
            throw AuthenticatorError(
                .noPushStream,
                "\(push.registrationEndpoint.host) has no push stream for desktops; enroll again with a push gateway"
            )
        }
        var progress = PushStreamProgress()
        while true {
            do {
                try await connect(with: credentials, &progress, report)
                throw TransportError(.interrupted, host: credentials.endpoint.host, "the push stream ended the connection")
            } catch let error where error.mayReconnect {
                try Task.checkCancellation()
                let pause = progress.nextPause()
                try await report(.event(.disconnected(error, pause: pause)))
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Asks a server for messages until the task is canceled.
    private func ask(_ poll: PushPoll, _ report: @Sendable (Report) async throws -> Void) async throws {
        var progress = PushPollProgress()
        while true {
            do {
                try await poll.once(&progress, report)
                try await Task.sleep(for: pollInterval)
            } catch let error where error.mayReconnect {
                try Task.checkCancellation()
                let pause = max(progress.nextPause(), pollInterval)
                try await report(.event(.disconnected(error, pause: pause)))
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Connects once, and receives messages until the connection ends.
    private func connect(
        with credentials: PushStreamCredentials, _ progress: inout PushStreamProgress,
        _ report: @Sendable (Report) async throws -> Void
    ) async throws {
        let server = credentials.endpoint
        var request = HTTPRequest("GET", server.url, headers: ["Accept": "text/event-stream"])
        request.headers.append("Authorization", try await authorization(credentials))
        if let last = progress.lastEventID { request.headers.append("Last-Event-ID", last) }

        let stream = PushStream(progress)
        defer { progress = stream.progress }
        let response = try await authenticator.pipeline.stream(request, for: .pushStream) { piece in
            let (isFirst, events) = try stream.feed(piece, from: server)
            if isFirst { try await report(.event(.connected)) }
            for event in events {
                try await take(event, of: stream, report)
                stream.took(event)
            }
        }
        guard (200..<300).contains(response.status) else {
            throw AuthenticatorError.refusal(by: server, status: response.status)
        }
    }

    /// Takes one event; one with an unknown name is ignored.
    private func take(
        _ event: ServerSentEvent, of stream: PushStream, _ report: @Sendable (Report) async throws -> Void
    ) async throws {
        switch event.name {
        case PushStreamProof.eventName:
            do {
                guard let delivery = try? JSON.decode(PushDelivery.self, from: event.data.utf8) else {
                    throw PushMessageError.form
                }
                let notification = try await authenticator.receive(delivery)
                stream.received(notification)
                try await report(.event(.received(notification)))
            } catch let error where error.concernsOneMessage {
                try await report(.event(.refused(error)))
            }
        case WaitingPushMessages.eventName:
            // A list that cannot be read says nothing about any message.
            guard let waiting = try? JSON.decode(WaitingPushMessages.self, from: event.data.utf8) else { return }
            for id in stream.ended(except: waiting.messageIDs) { try await report(.ended(id: id)) }
        default: break
        }
    }

    /// Sends a request without a proof to get a nonce, and returns the value of the `Authorization` header for it.
    private func authorization(_ credentials: PushStreamCredentials) async throws -> String {
        let (server, scheme) = (credentials.endpoint, credentials.scheme)
        let response = try await authenticator.pipeline.send(HTTPRequest("GET", server.url), for: .pushStream, to: server)
        guard response.status == 401, let nonce = PushStreamChallenge.nonce(in: response.headers, scheme: scheme) else {
            throw AuthenticatorError.refusal(by: server, status: response.status)
        }
        return try credentials.authorization(nonce)
    }
}

extension AuthenticatorError {
    fileprivate static func refusal(by server: Endpoint, status: Int) -> AuthenticatorError {
        (400..<500).contains(status)
            ? AuthenticatorError(.refusedByServer, "\(server.host) does not know this mechanism", status: status)
            : AuthenticatorError(.serverMisbehaved, "the push stream of \(server.host) failed", status: status)
    }
}

extension Error {
    /// True when the listener should connect again.
    ///
    /// Failures of the network and the server and a busy store may be temporary. A rejection by the server, a permanent failure
    /// of the store and the cancellation of the task are not.
    fileprivate var mayReconnect: Bool {
        (self as? any RetryableError)?.isRetryable ?? false
    }

    /// True when a message was rejected, or when its record or its mechanism is damaged.
    ///
    /// The next message may nevertheless be stored.
    var concernsOneMessage: Bool {
        self is PushMessageError || self is AuthenticatorError || (self as? StoreError)?.isRecordScoped ?? false
    }
}
