import SignetCore
import SignetNetwork
import Synchronization

/// How far a listener has come, kept from one connection to the next.
struct DeskProgress: Sendable {
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

/// One connection to a desk: turns its bytes into events and remembers the last one.
final class DeskStream: Sendable {
    private let state: Mutex<(parser: ServerSentEvent.Parser, progress: DeskProgress, isOpen: Bool)>

    /// What a piece of the stream brought.
    enum Event {
        /// The first piece came.
        case opened
        case message(ServerSentEvent)
    }

    init(_ progress: DeskProgress) {
        state = Mutex((ServerSentEvent.Parser(), progress, false))
    }

    var progress: DeskProgress { state.withLock { $0.progress } }

    func feed(_ piece: [UInt8]) throws -> [Event] {
        try state.withLock { state in
            let events = try state.parser.feed(piece)
            if let id = events.last(where: { $0.id != nil })?.id { state.progress.lastEventID = id }
            let opening: [Event] = state.isOpen ? [] : [.opened]
            state.isOpen = true
            state.progress.succeeded()
            return opening + events.map(Event.message)
        }
    }
}

/// The `WWW-Authenticate` header by which a desk says what to sign.
enum DeskChallenge {
    static func nonce(in headers: HTTPHeaders) -> String? {
        for challenge in headers.all("WWW-Authenticate") {
            let parts = challenge.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == DeskProof.scheme.lowercased() else { continue }
            for parameter in parts[1].split(separator: ",") {
                let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
                if pair.count == 2, pair[0] == "nonce" { return pair[1].filter { $0 != "\"" } }
            }
        }
        return nil
    }
}
