public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A clock that follows a server's time: this machine's clock, corrected by the `Date` headers of the server's responses.
///
/// The header has a resolution of one second and is already old when it arrives. A difference of at most half the round trip plus
/// half a second therefore counts as zero. A difference of more than a day is ignored, because its cause is not an inaccurate
/// clock.
public final class ServerClock: WallClock {
    /// The largest accepted difference in seconds.
    ///
    /// Larger ones are ignored.
    public static let bound: TimeInterval = PushNotification.maxClockOffset

    private let clock: any WallClock
    private let difference = Mutex<TimeInterval?>(nil)

    /// Creates the clock of a server that has not responded yet: `clock` without a correction.
    public init(_ clock: any WallClock) {
        self.clock = clock
    }

    /// The server's time.
    public var now: Date { clock.now.addingTimeInterval(offset ?? 0) }

    /// The time by which the server is ahead of this machine, in seconds; nil until a response has told it.
    public var offset: TimeInterval? { difference.withLock { $0 } }

    /// Updates the clock from a response.
    /// - Parameters:
    ///   - header: The `Date` header of the response. A header that cannot be parsed is ignored.
    ///   - sent: The time at which the request was sent, by this machine's clock.
    ///   - received: The time at which the response arrived, by this machine's clock.
    public func learn(_ header: String?, sent: Date, received: Date) {
        guard let header, let date = HTTPDate.date(from: header), received >= sent else { return }
        let halfTrip = received.timeIntervalSince(sent) / 2
        let found = date.addingTimeInterval(0.5).timeIntervalSince(sent.addingTimeInterval(halfTrip))
        guard abs(found) <= Self.bound else { return }
        difference.withLock { $0 = abs(found) <= halfTrip + 0.5 ? 0 : found }
    }
}

/// The clocks of the servers that this process has contacted.
package final class ServerClocks: Sendable {
    private struct Origin: Hashable {
        let scheme: String
        let host: String
        let port: Int

        init(_ endpoint: Endpoint) { (scheme, host, port) = (endpoint.scheme, endpoint.host, endpoint.port) }
    }

    private let clock: any WallClock
    private let servers = Mutex<[Origin: ServerClock]>([:])

    /// Creates the clocks, each a correction of `clock`.
    package init(_ clock: any WallClock) {
        self.clock = clock
    }

    /// Returns the clock of the server at an address.
    package func clock(of server: Endpoint) -> ServerClock {
        servers.withLock { servers in
            let origin = Origin(server)
            if let known = servers[origin] { return known }
            let new = ServerClock(clock)
            servers[origin] = new
            return new
        }
    }

    /// Runs a request, and updates the server's clock from the response.
    func timed(_ server: Endpoint, _ request: () async throws -> HTTPResponse) async throws -> HTTPResponse {
        let sent = clock.now
        let response = try await request()
        clock(of: server).learn(response.headers["Date"], sent: sent, received: clock.now)
        return response
    }
}
