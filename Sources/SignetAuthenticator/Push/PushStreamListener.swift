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
        let mechanism = try await authenticator.mechanism(mechanismUID)
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        if let platform = (try? authenticator.platforms.named(push.platform)) as? any PolledPushPlatform {
            let poll = PushPoll(authenticator: authenticator, platform: platform, mechanism: mechanism, push: push)
            return try await run(poll, handle)
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
                try await connect(with: credentials, &progress) { event in
                    do {
                        try await handle(event)
                    } catch {
                        throw HandlerFailure(error: error)
                    }
                }
                throw TransportError(.interrupted, host: credentials.endpoint.host, "the push stream ended the connection")
            } catch let failure as HandlerFailure {
                throw failure.error
            } catch let error where error.mayReconnect {
                try Task.checkCancellation()
                let pause = progress.nextPause()
                try await handle(.disconnected(error, pause: pause))
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Asks a server for messages until the task is canceled.
    private func run(_ poll: PushPoll, _ handle: @Sendable (Event) async throws -> Void) async throws {
        var progress = PushPollProgress()
        while true {
            do {
                try await poll.once(&progress) { event in
                    do {
                        try await handle(event)
                    } catch {
                        throw HandlerFailure(error: error)
                    }
                }
                try await Task.sleep(for: pollInterval)
            } catch let failure as HandlerFailure {
                throw failure.error
            } catch let error where error.mayReconnect {
                try Task.checkCancellation()
                let pause = max(progress.nextPause(), pollInterval)
                try await handle(.disconnected(error, pause: pause))
                try await Task.sleep(for: pause)
            }
        }
    }

    /// A wrapper for an error of the app's handler.
    ///
    /// It distinguishes such an error from a failure of the connection or a rejected message.
    private struct HandlerFailure: Error {
        let error: any Error
    }

    /// Connects once, and receives messages until the connection ends.
    private func connect(
        with credentials: PushStreamCredentials, _ progress: inout PushStreamProgress,
        _ handle: @Sendable (Event) async throws -> Void
    ) async throws {
        let server = credentials.endpoint
        var request = HTTPRequest("GET", server.url, headers: ["Accept": "text/event-stream"])
        request.headers.append("Authorization", try await authorization(credentials))
        if let last = progress.lastEventID { request.headers.append("Last-Event-ID", last) }

        let stream = PushStream(progress)
        defer { progress = stream.progress }
        let response = try await authenticator.pipeline.stream(request, for: .pushStream) { piece in
            let (isFirst, events) = try stream.feed(piece, from: server)
            if isFirst { try await handle(.connected) }
            for event in events {
                if event.name == PushStreamProof.eventName {
                    do {
                        guard let delivery = try? JSON.decode(PushDelivery.self, from: event.data.utf8) else {
                            throw PushMessageError.form
                        }
                        try await handle(.received(authenticator.receive(delivery)))
                    } catch let error where error.concernsOneMessage {
                        try await handle(.refused(error))
                    }
                }
                stream.took(event)
            }
        }
        guard (200..<300).contains(response.status) else {
            throw AuthenticatorError.refusal(by: server, status: response.status)
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
