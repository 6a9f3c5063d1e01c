import Synchronization

/// What two transports have in common: one client for each set of keys that requests insist on, so that the connections of one are
/// never used for the requests of another; and what a stream's receiver throws.
final class PinnedClients<Client: Sendable>: Sendable {
    private let make: @Sendable (Set<PublicKeyPin>) -> Client
    private let state = Mutex(State())

    private struct State {
        var open: [Set<PublicKeyPin>: Client] = [:]
        var isClosed = false
    }

    init(_ make: @escaping @Sendable (_ pins: Set<PublicKeyPin>) -> Client) { self.make = make }

    /// The client for a request.
    /// - Throws: ``TransportError/Code/cannotPin`` for a request with pins and without https, ``TransportError/Code/cancelled`` once
    ///   the transport is closed.
    func client(for request: HTTPRequest) throws(TransportError) -> Client {
        let pins = request.pins
        guard pins.isEmpty || request.url.lowercased().hasPrefix("https://") else {
            throw TransportError(
                .cannotPin, host: TransportError.host(of: request.url), "without https a server shows no key to insist on")
        }
        let client = state.withLock { state -> Client? in
            if state.isClosed { return nil }
            if let client = state.open[pins] { return client }
            let client = make(pins)
            state.open[pins] = client
            return client
        }
        guard let client else {
            throw TransportError(.cancelled, host: TransportError.host(of: request.url), "the transport was closed")
        }
        return client
    }

    /// No client is given out any more.
    /// - Returns: those that were, to be ended.
    func close() -> [Client] {
        state.withLock { state in
            state.isClosed = true
            defer { state.open = [:] }
            return Array(state.open.values)
        }
    }
}

/// What the receiver of a stream threw: the caller's own, and no failure on the way.
struct ReceiverError: Error {
    let cause: any Error

    /// Hands a piece over.
    static func guarding(_ body: () async throws -> Void) async throws(ReceiverError) {
        do { try await body() } catch { throw ReceiverError(cause: error) }
    }
}
