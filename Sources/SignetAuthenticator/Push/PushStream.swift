import SignetCore
import SignetNetwork

/// The progress of a listener, which continues from one connection to the next.
struct PushStreamProgress: Sendable {
    var lastEventID: String?
    /// The messages that have arrived, on earlier connections too.
    var received = ReceivedMessages()
    private var failures = 0

    /// Returns the pause before the next connection: half a second, doubled with every consecutive failure, up to 30 seconds.
    mutating func nextPause() -> Duration {
        defer { failures += 1 }
        return .milliseconds(min(30_000, 500 << min(failures, 6)))
    }

    mutating func succeeded() {
        failures = 0
    }
}

/// One connection to a push stream.
///
/// It parses the received bytes into events and remembers the last processed event.
final class PushStream: Sendable {
    private let state: Mutex<(parser: ServerSentEvent.Parser, progress: PushStreamProgress, isOpen: Bool)>
    private let start = ContinuousClock.now

    /// The duration after which a connection counts as successful, even without a message.
    private static let minStableDuration = Duration.seconds(30)

    init(_ progress: PushStreamProgress) {
        state = Mutex((ServerSentEvent.Parser(), progress, false))
    }

    /// The current progress of the listener.
    var progress: PushStreamProgress {
        var progress = state.withLock { $0.progress }
        if ContinuousClock.now - start > Self.minStableDuration { progress.succeeded() }
        return progress
    }

    /// Parses a piece of the stream.
    ///
    /// Returns the events that it completes, and a flag that is true for the first piece.
    func feed(_ piece: [UInt8], from server: Endpoint) throws(TransportError) -> (isFirst: Bool, events: [ServerSentEvent]) {
        let outcome = state.withLock { state in
            defer { state.isOpen = true }
            let isFirst = !state.isOpen
            return Result { (isFirst, try state.parser.feed(piece)) }
        }
        do {
            return try outcome.get()
        } catch {
            throw TransportError(.tooLarge, host: server.host, "the push stream sent an event that is too large")
        }
    }

    /// Records a message that was stored.
    func received(_ notification: PushNotification) { state.withLock { $0.progress.received.add(notification) } }

    /// Returns the ids of the records whose messages the server does not list any more, each once.
    func ended(except waiting: Set<String>) -> [String] {
        state.withLock { $0.progress.received.removeAll(except: waiting) }
    }

    /// Records that an event has been processed, so that the server need not send it again.
    func took(_ event: ServerSentEvent) {
        state.withLock { state in
            if let id = event.id { state.progress.lastEventID = id }
            state.progress.succeeded()
        }
    }
}

/// The `WWW-Authenticate` header in which a push stream or push gateway sends a nonce to sign.
enum PushStreamChallenge {
    /// Returns the nonce for proofs of one scheme.
    ///
    /// Nonces of another scheme are ignored, because a push gateway could pass on the nonce of a server's push stream to obtain a
    /// valid proof.
    static func nonce(in headers: HTTPHeaders, scheme: String) -> String? {
        for challenge in headers.all("WWW-Authenticate") {
            let parts = challenge.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == scheme.lowercased() else { continue }
            for parameter in parts[1].split(separator: ",") {
                let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
                if pair.count == 2, pair[0] == "nonce" { return pair[1].filter { $0 != "\"" } }
            }
        }
        return nil
    }
}

/// The endpoint that delivers the messages of a mechanism, and the credentials for it.
struct PushStreamCredentials: Sendable {
    let endpoint: Endpoint
    private let inbox: PushInbox?
    private let mechanismUID: String
    private let secret: Secret

    /// Creates the credentials for the server's own push stream, or for the push gateway that was named at enrollment.
    ///
    /// Returns nil when there is neither.
    init?(_ push: PushSettings, mechanismUID: String) throws {
        guard let endpoint = push.streamEndpoint ?? push.gatewayEndpoint else { return nil }
        self.endpoint = endpoint
        inbox = push.streamEndpoint == nil ? try PushInbox(of: push.secret) : nil
        self.mechanismUID = mechanismUID
        secret = push.secret
    }

    var scheme: String { inbox == nil ? PushStreamProof.scheme : PushInbox.scheme }

    /// Returns the value of the `Authorization` header in response to a nonce.
    func authorization(_ nonce: String) throws -> String {
        let proof = PushStreamProof(mechanismUid: mechanismUID, nonce: nonce)
        return "\(scheme) \(try inbox?.proof(nonce) ?? CompactJWS.sign(JSON.encode(proof), with: secret))"
    }
}
