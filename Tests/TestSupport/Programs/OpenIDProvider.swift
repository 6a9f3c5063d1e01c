#if os(Linux)
import Foundation
import Glibc
import SignetNetwork
import SignetTesting

/// An independent OpenID provider that runs for one test, in its own directory and at its own port, with one user, `alice`, and
/// one public client, `app`.
package struct OpenIDProvider: Sendable {
    /// The provider's address.
    package let url: String
    /// The issuer identifier of the provider.
    package let issuer: String
    /// The name of the session cookie.
    package let cookieName: String
    /// The value of the session cookie for `alice`, after login and consent.
    package let session: String
    /// The redirect URI of the client.
    package let redirectURI: String
    /// The address to which the provider redirects a browser after logout.
    package let signOutRedirectURI: String
    /// The ports of the provider and of the redirect URI, which stay reserved while the provider runs.
    let ports: [ReservedPort]

    /// An error that reports that the provider cannot be started or has failed.
    package struct Unavailable: Error, Sendable, CustomStringConvertible {
        /// The reason.
        package let description: String
    }

    /// Waits until a server answers, runs `body`, and ends the server afterwards.
    static func running<R>(
        _ server: TestProcess, at address: String, _ body: () async throws -> R
    ) async throws -> R {
        do {
            try await waitUntilUp(server, address)
            let result = try await body()
            await stop(server)
            return result
        } catch {
            let outcome = server.soFar
            await stop(server)
            if error is Unavailable { throw Unavailable(description: "\(error); it said: \(outcome.output)\(outcome.errors)") }
            throw error
        }
    }

    private static func stop(_ server: TestProcess) async {
        server.signal(SIGTERM, group: true)
        _ = await server.end(within: .seconds(10))
    }

    private static func waitUntilUp(_ server: TestProcess, _ address: String) async throws {
        let end = ContinuousClock.now + TestTimeout.default
        try await AsyncHTTPTransport().use { transport in
            while !server.hasEnded, ContinuousClock.now < end {
                if (try? await transport.send(HTTPRequest("GET", address, timeout: .seconds(2)))) != nil { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            throw Unavailable(description: "the provider did not start")
        }
    }

    /// Returns the value of a cookie that a response sets.
    static func cookie(_ name: String, in response: HTTPResponse) -> String? {
        response.headers.all("Set-Cookie").compactMap { line in
            line.hasPrefix("\(name)=") ? String(line.dropFirst(name.count + 1).prefix { $0 != ";" }) : nil
        }.last
    }
}
#endif
