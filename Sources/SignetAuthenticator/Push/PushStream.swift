import SignetCore
import SignetNetwork
import Synchronization

/// How far a listener has come, kept from one connection to the next.
struct PushStreamPosition: Sendable {
    var lastEventID: String?
    private var failures = 0

    /// The pause before the next connection: half a second, doubled with every failure in a row up to 30 seconds.
    mutating func nextPause() -> Duration {
        defer { failures += 1 }
        return .milliseconds(min(30_000, 500 << min(failures, 6)))
    }

    mutating func succeeded() {
        failures = 0
    }
}

/// One connection to a desk: turns its bytes into events and remembers the last one that was taken.
final class PushStream: Sendable {
    private let state: Mutex<(parser: ServerSentEvent.Parser, progress: PushStreamPosition, isOpen: Bool)>
    private let start = ContinuousClock.now

    /// A connection that lasted so long was a good one, even if no message came.
    private static let goodLength = Duration.seconds(30)

    init(_ progress: PushStreamPosition) {
        state = Mutex((ServerSentEvent.Parser(), progress, false))
    }

    /// How far the listener has come, as of now.
    var progress: PushStreamPosition {
        var progress = state.withLock { $0.progress }
        if ContinuousClock.now - start > Self.goodLength { progress.succeeded() }
        return progress
    }

    /// The events that a piece completes, and whether it is the stream's first.
    func feed(_ piece: [UInt8], from server: Endpoint) throws(TransportError) -> (isFirst: Bool, events: [ServerSentEvent]) {
        let outcome = state.withLock { state in
            defer { state.isOpen = true }
            let isFirst = !state.isOpen
            return Result { (isFirst, try state.parser.feed(piece)) }
        }
        do {
            return try outcome.get()
        } catch {
            throw TransportError(.tooLarge, host: server.host, "the desk sent an event that is too large")
        }
    }

    /// Notes that an event has been dealt with: it need not come again.
    func took(_ event: ServerSentEvent) {
        state.withLock { state in
            if let id = event.id { state.progress.lastEventID = id }
            state.progress.succeeded()
        }
    }
}

/// The `WWW-Authenticate` header by which a desk says what to sign.
enum PushStreamChallenge {
    /// The nonce for proofs of one scheme. What another scheme would have signed is never signed: a front could be asking for a desk.
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

/// Where messages of a mechanism are handed out, and how it shows there that it may have them.
struct PushStreamCredentials: Sendable {
    let endpoint: Endpoint
    private let mailbox: PushMailbox?
    private let mechanismUID: String
    private let secret: Secret

    /// The server's own desk, or else the push front that the device was registered with; nil when there is neither.
    init?(_ push: PushSettings, mechanismUID: String) throws {
        guard let endpoint = push.streamEndpoint ?? push.gatewayEndpoint else { return nil }
        self.endpoint = endpoint
        mailbox = push.streamEndpoint == nil ? try PushMailbox(of: push.secret) : nil
        self.mechanismUID = mechanismUID
        secret = push.secret
    }

    var scheme: String { mailbox == nil ? PushStreamProof.scheme : PushMailbox.scheme }

    /// The value of the `Authorization` header that answers a nonce.
    func authorization(_ nonce: String) throws -> String {
        let proof = PushStreamProof(mechanismUid: mechanismUID, nonce: nonce)
        return "\(scheme) \(try mailbox?.proof(nonce) ?? CompactJWS.sign(JSON.encode(proof), with: secret))"
    }
}
