import SignetCore

/// The port and the URLs of a server, which are known when its socket listens.
final class ServerAddress: Sendable {
    private let configuration: ServerConfiguration
    private let current: Mutex<(port: Int, baseURL: String)>

    /// Creates an address with the configured port.
    init(_ configuration: ServerConfiguration) {
        self.configuration = configuration
        current = Mutex((configuration.port, configuration.baseURL(port: configuration.port)))
    }

    /// The address at which clients reach the server, with the context path.
    var baseURL: String { current.withLock { $0.baseURL } }

    /// The address at which programs on this machine reach the server.
    ///
    /// Addresses that only local programs may open use it, even when clients are told another address.
    var localURL: String { configuration.localURL(port: current.withLock { $0.port }) }

    /// Records the port that the socket got.
    func bound(to port: Int) { current.withLock { $0 = (port, configuration.baseURL(port: port)) } }
}
