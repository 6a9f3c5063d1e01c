#if os(Linux)
import Foundation
import Glibc
import SignetNetwork

/// An OpenID provider that nobody here wrote, running for one test: in a directory of its own, at a port of its own, with one
/// person, `alice`, and one public client, `app`.
public struct OpenIDProvider: Sendable {
    /// The provider's address.
    public let url: String
    /// Who it says it is.
    public let issuer: String
    /// The cookie that carries a person's session.
    public let cookieName: String
    /// The value of that cookie, for `alice`, who has logged in and consented.
    public let session: String
    /// The client's redirect address.
    public let redirectURI: String
    /// Where the client sends a browser that has logged out.
    public let signOutRedirectURI: String

    /// Why it cannot be started here, or what went wrong.
    public struct Unavailable: Error, Sendable, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// Runs a server and what is done with it, and ends it afterwards.
    static func running<R>(
        _ server: TestProcess, at address: String, _ body: () async throws -> R
    ) async throws -> R {
        do {
            try await waitUntilUp(server, address)
            let result = try await body()
            await stop(server)
            return result
        } catch {
            let said = server.soFar
            await stop(server)
            if error is Unavailable { throw Unavailable(description: "\(error); it said: \(said.output)\(said.errors)") }
            throw error
        }
    }

    private static func stop(_ server: TestProcess) async {
        server.signal(SIGTERM, group: true)
        _ = await server.end(within: .seconds(10))
    }

    private static func waitUntilUp(_ server: TestProcess, _ address: String) async throws {
        let end = ContinuousClock.now + Patience.usual
        try await AsyncHTTPTransport().use { transport in
            while !server.hasEnded, ContinuousClock.now < end {
                if (try? await transport.send(HTTPRequest("GET", address, timeout: .seconds(2)))) != nil { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            throw Unavailable(description: "the provider did not start")
        }
    }

    /// A port at which nobody listens now.
    static func freePort() throws -> Int {
        let closed = try ClosedPort()
        return closed.port
    }

    /// The value of a cookie that a response sets.
    static func cookie(_ name: String, in response: HTTPResponse) -> String? {
        response.headers.all("Set-Cookie").compactMap { line in
            line.hasPrefix("\(name)=") ? String(line.dropFirst(name.count + 1).prefix { $0 != ";" }) : nil
        }.last
    }
}
#endif
