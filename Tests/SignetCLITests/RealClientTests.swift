#if os(Linux)
import TestSupport
import Testing

/// The scenarios of `Tests/RealClients`: a sample, or all of them with `SIGNET_CLIENTS=all` (`make peers`).
@Suite(
    "Clients that know nothing of Signet at signet serve", .timeLimit(.minutes(10)),
    .enabled(if: RealClients.havePython, "Authlib is not installed: scripts/setup test installs it"))
struct RealClientTests {
    private static let tokenFaults = [
        "wrong-issuer", "wrong-audience", "expired-id-token", "unknown-key", "alg-none", "wrong-nonce", "wrong-signature",
    ]

    /// The scenarios that also run in `make test`.
    private static let sample = ["authlib-code", "joserfc-verifies", "oauthlib-code", "admin-session", "apache-code"]

    private static let others =
        ["authlib-public-client", "authlib-tokens", "authlib-logout"] + tokenFaults.map { "authlib-\($0)" }
        + tokenFaults.map { "joserfc-\($0)" }
        + ["oauthlib-wrong-state", "oauthlib-expired-code", "oauthlib-lost-refresh", "oauthlib-slow-body"]
        + ["admin-client", "admin-journey", "reload", "apache-refresh", "apache-bearer", "apache-logout"]
        + (tokenFaults + ["wrong-state", "expired-code"]).map { "apache-\($0)" }

    private static let names = (sample + (RealClients.runAll ? others : []))
        .filter { RealClients.haveApache || !$0.hasPrefix("apache-") }

    @Test("A scenario with a real client passes", .tags(.slow), arguments: names)
    func scenarioPasses(name: String) async throws {
        let outcome = try await RealClients.run(name)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test("The table of scenarios names each one of Tests/RealClients")
    func tableIsComplete() async throws {
        #expect(try await RealClients.names().sorted() == (Self.sample + Self.others).sorted())
    }
}
#endif
