import SignetCore

/// The HTTP clients of a transport: one for each set of pinned keys, so that a connection is never reused for a request with
/// other pins.
///
/// Both transports use it.
final class PinnedClients<Client: Sendable>: Sendable {
    private let make: @Sendable (Set<PublicKeyPin>) -> Client
    private let state = Mutex(State())

    private struct State {
        var open: [Set<PublicKeyPin>: Client] = [:]
        var isClosed = false
    }

    init(_ make: @escaping @Sendable (_ pins: Set<PublicKeyPin>) -> Client) { self.make = make }

    /// Returns the client for a request.
    /// - Throws: ``TransportError/Code/cannotPin`` for a request with pins and without https, ``TransportError/Code/cancelled``
    ///   once the transport is closed.
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

    /// Closes the collection: afterwards ``client(for:)`` throws.
    /// - Returns: The clients that were in use, which the caller must shut down.
    func close() -> [Client] {
        state.withLock { state in
            state.isClosed = true
            defer { state.open = [:] }
            return Array(state.open.values)
        }
    }
}

/// An error that the caller's closure threw while it received a stream.
///
/// It is kept apart from the errors of the transport.
struct ReceiverError: Error {
    let cause: any Error

    /// Runs `body` and wraps its error.
    static func guarding(_ body: () async throws -> Void) async throws(ReceiverError) {
        do { try await body() } catch { throw ReceiverError(cause: error) }
    }
}
