import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet after a kill")
struct CrashTests {
    @Test("signet init killed at any moment leaves a whole vault, or can be run again")
    func survivesKilledInit() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            for round in 0..<30 {
                let environment = ["SIGNET_HOME": cli.directory.file("vault\(round)")]
                let child = try cli.start(["init", "--protect", "keyfile"], environment: environment)
                try await Task.sleep(for: Self.date(round))
                child.signal(SIGKILL)
                _ = await child.end()
                let second = try await cli.signet("init", "--protect", "keyfile", environment: environment)
                #expect(second.status == 0 || second.status == 73, "\(second.errors)")
                try await cli.signet("enroll", OATHSample.uri(), environment: environment).succeeds()
            }
        }
    }

    @Test("signet init replaces an empty key file, and refuses and keeps one with other content")
    func replacesEmptyKeyFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try #require(mkdir(cli.home, 0o700) == 0)
            let key = try cli.write([1, 2, 3], to: "vault/vault.key")
            try await cli.signet("init", "--protect", "keyfile").fails(78, "32 bytes")
            #expect(FileManager.default.contents(atPath: key) == Data([1, 2, 3]))
            #expect(try cli.vaultFiles().count == 1)
            _ = try cli.write([], to: "vault/vault.key")
            try await cli.signet("init", "--protect", "keyfile").succeeds()
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
        }
    }

    @Test("signet enroll killed at any moment has stored the whole account or nothing")
    func survivesKilledEnroll() async throws {
        try await CommandLineFixture.with { cli in
            let oath = OATHSettings(secret: try OATHSample.secret)
            let server = try FakePushServer()
            for round in 0..<30 {
                let uri = try PushInvitation.sample(port: server.port).uri(account: "person\(round)", oath: oath)
                let child = try cli.start(["enroll", uri])
                try await Task.sleep(for: Self.date(round))
                child.signal(SIGKILL)
                _ = await child.end()
            }
            let accounts = try await cli.accounts()
            for account in accounts {
                let types = account["mechanisms"]?.array?.compactMap { $0["type"]?.string }
                #expect(types?.sorted() == ["push", "totp"])
            }
        }
    }

    @Test("A killed signet demo takes its server with it")
    func stopsServerOfKilledDemo() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let demo = try cli.start(["demo"], ownGroup: true)
            try await demo.waitForOutput { output, _ in output.contains("make a vault") }
            demo.signal(SIGKILL)
            _ = await demo.end()
            let isGone = try await eventually { try ProcessGroup.members(of: demo.identifier).isEmpty }
            #expect(isGone)
        }
    }

    /// The time after which the nth run is killed.
    ///
    /// Fixed, because one run's duration among other tests does not predict the next: alone it takes about 25 ms, and on a busy
    /// machine the later rounds are the ones that hit.
    private static func date(_ round: Int) -> Duration { .milliseconds(5 * round) }
}
