public import SignetCore
import SignetNetwork
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server's time, as far as its answers tell: a clock that is corrected by their `Date` headers.
///
/// The header counts whole seconds and is some way old when it comes, so a difference that half the round trip and half a
/// second explain is none. One of more than a day is not believed: then something else is wrong than a clock.
public final class ServerClock: WallClock {
    /// Differences beyond this are not believed, in seconds.
    public static let bound: TimeInterval = PushNotification.greatestClockOffset

    private let clock: any WallClock
    private let difference = Mutex<TimeInterval?>(nil)

    /// The clock of a server that has not answered yet: `clock`, uncorrected.
    public init(_ clock: any WallClock) {
        self.clock = clock
    }

    /// The server's time.
    public var now: Date { clock.now.addingTimeInterval(offset ?? 0) }

    /// How far the server is ahead of this machine, in seconds; nil before its first answer that tells.
    public var offset: TimeInterval? { difference.withLock { $0 } }

    /// Takes the time of an answer.
    /// - Parameters:
    ///   - header: The answer's `Date`. One that cannot be read says nothing.
    ///   - sent: When the request was sent, by this machine.
    ///   - received: When the answer came, by this machine.
    public func learn(_ header: String?, sent: Date, received: Date) {
        guard let header, let date = HTTPDate.date(from: header), received >= sent else { return }
        let halfTrip = received.timeIntervalSince(sent) / 2
        let found = date.addingTimeInterval(0.5).timeIntervalSince(sent.addingTimeInterval(halfTrip))
        guard abs(found) <= Self.bound else { return }
        difference.withLock { $0 = abs(found) <= halfTrip + 0.5 ? 0 : found }
    }
}

/// The clock of each server that was talked to.
final class ServerClocks: Sendable {
    private struct Origin: Hashable {
        let scheme: String
        let host: String
        let port: Int

        init(_ endpoint: Endpoint) { (scheme, host, port) = (endpoint.scheme, endpoint.host, endpoint.port) }
    }

    private let clock: any WallClock
    private let servers = Mutex<[Origin: ServerClock]>([:])

    init(_ clock: any WallClock) {
        self.clock = clock
    }

    /// The clock of the server at an address.
    func clock(of server: Endpoint) -> ServerClock {
        servers.withLock { servers in
            let origin = Origin(server)
            if let known = servers[origin] { return known }
            let new = ServerClock(clock)
            servers[origin] = new
            return new
        }
    }

    /// Makes a request, and takes the time of its answer.
    func timed(
        _ server: Endpoint, _ request: () async throws(TransportError) -> HTTPResponse
    ) async throws(TransportError) -> HTTPResponse {
        let sent = clock.now
        let response = try await request()
        clock(of: server).learn(response.headers["Date"], sent: sent, received: clock.now)
        return response
    }
}
