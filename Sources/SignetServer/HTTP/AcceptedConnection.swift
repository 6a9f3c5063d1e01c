import HummingbirdCore
import NIOCore
import SignetCore

/// A connection that was accepted, from its setup until the server handles it.
///
/// A server that stops may drop a connection that it has just accepted. SwiftNIO ends the process when the writer of such a
/// connection is released before it was finished; this class finishes it and closes the connection instead.
final class AcceptedConnection: ServerChildChannelValue {
    private let http: HTTP1Channel.Value
    private let isHandled = Latch()

    init(_ http: HTTP1Channel.Value) {
        self.http = http
    }

    var channel: any Channel { http.channel }

    /// Returns the connection for the one call that handles it.
    func take() -> HTTP1Channel.Value {
        isHandled.set()
        return http
    }

    deinit {
        guard !isHandled.isSet else { return }
        Task { [http] in
            // The only error is that the connection is closed already.
            try? await http.executeThenClose { _, _ in }
        }
    }
}
