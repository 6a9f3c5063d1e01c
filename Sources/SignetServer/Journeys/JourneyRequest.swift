/// The present request, as the nodes of a journey read it.
///
/// It is a value of one transaction and is never stored.
struct JourneyRequest: Sendable, Hashable {
    /// The IP address of the client; empty for a socket without an address, nil for a client in this process.
    var address: String?
}

extension StateStore {
    /// Runs a transaction for a request that may run a journey (``write(_:)``).
    func write<R: Sendable>(
        for client: ClientConnection, _ body: @escaping @Sendable (inout ServerTransaction) throws -> R
    ) async throws -> R {
        let request = JourneyRequest(address: client.address)
        return try await write { tx in
            tx.request = request
            return try body(&tx)
        }
    }
}
