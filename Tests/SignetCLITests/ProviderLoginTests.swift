import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet at OpenID providers that are no AM")
struct ProviderLoginTests {
    // MARK: Without a settings file

    @Test(
        "K6: login --issuer needs no settings file, and the login is complete",
        arguments: ["", "/.well-known/openid-configuration"])
    func logsInAtIssuer(suffix: String) async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let login = try await cli.logInWithBrowser("--issuer", provider.url + suffix, "--client", "app", "--json").succeeds()
            #expect(login.json["server"]?.string == provider.url && login.json["subject"]?.string == "alice")
            let token = try await cli.signet("token").succeeds().line
            #expect(try await cli.signet("token", "--refresh").succeeds().line != token)
            #expect(try await cli.signet("userinfo", "--json").succeeds().json["name"]?.string == "Alice")
            // The stored login knows that there is no journey.
            try await cli.signet("login").fails(64, "OpenID provider", "--browser", "--device")
            try await cli.logInWithBrowser().succeeds()
            let logout = try await cli.signet("logout", "--json").succeeds()
            #expect(logout.json["tokens"]?.string == "done" && provider.revoked.count == 2)
            let journeys = provider.paths.filter { $0.contains("/json/") }
            #expect(journeys.isEmpty)
        }
    }

    @Test("K6: The address of an OpenID provider is recognized, also with a slash at its end", arguments: ["", "/"])
    func recognizesProvider(end: String) async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let url = provider.url + end
            try await cli.signet("login", url, "--client", "app").fails(
                64, "OpenID provider", "no journey", "--browser", "--device")
            try await cli.signet("token").fails(77, "no user is logged in here")
            let login = try await cli.logInWithBrowser(url, "--client", "app", "--json").succeeds()
            #expect(login.json["subject"]?.string == "alice")
            #expect(try await cli.signet("token", "--refresh").succeeds().line.hasPrefix("access-"))
            try await cli.signet("logout").succeeds()
        }
    }

    @Test("K6: A login at an address that is neither that of an AM nor that of a provider keeps its error")
    func keepsErrorElsewhere() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let elsewhere = provider.url.replacing("/realms/staff", with: "/other")
            try await cli.signet("login", elsewhere, "--client", "app").fails(76)
            let browser = try await cli.logInWithBrowser(elsewhere, "--client", "app")
            browser.fails(76, "404")
            #expect(!browser.errors.contains("Open this address"))
            try await cli.signet("login", "--issuer", elsewhere, "--client", "app", "--device").fails(76, "404")
        }
    }

    @Test("K6: The discovery document of another issuer is refused, and no browser opens")
    func refusesOtherIssuer() async throws {
        let provider = try FakeProvider { $0.namedIssuer = "https://id.example.com/realms/other" }
        try await CommandLineFixture.with { cli in
            let named = try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app")
            named.fails(76, "issuerMismatch", "https://id.example.com/realms/other")
            let found = try await cli.logInWithBrowser(provider.url, "--client", "app")
            found.fails(65, "discovery.issuer", "use the address that the provider gives")
            for outcome in [named, found] { #expect(!outcome.errors.contains("Open this address")) }
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test(
        "K6: --issuer without a way to log in, without a client or beside another address is a usage error",
        arguments: [
            ["--client", "app"], ["--browser"], ["--client", "app", "--browser", "--realm", "alpha"],
            ["--client", "app", "--device", "https://am.example.com/am"], ["--client", "app", "--browser", "--journey", "Login"],
        ])
    func refusesArguments(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let login = try cli.start(["login", "--issuer", "https://id.example.com"] + arguments)
            await login.end().fails(64)
        }
    }

    // MARK: Tokens and userinfo

    @Test("K5: A refusal in WWW-Authenticate with an empty body is told with its words and exits with 77")
    func tellsRefusedToken() async throws {
        let field =
            #"WWW-Authenticate: Bearer realm="staff", error="invalid_token", error_description="Token verification failed""#
        let provider = try FakeProvider { $0.userInfoAnswer = .init(status: "401 Unauthorized", headers: [field], body: "") }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            try await cli.signet("userinfo").fails(77, "invalid_token", "Token verification failed")
        }
    }

    @Test("K5: Signed userinfo is printed when it is valid, and refused with 76 when it is for another client")
    func readsSignedUserInfo() async throws {
        let provider = try FakeProvider { $0.signedUserInfo = ["name": .string("Alice")] }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            #expect(try await cli.signet("userinfo", "--json").succeeds().json["name"]?.string == "Alice")
            provider.change { $0.signedUserInfo = ["aud": .string("other")] }
            try await cli.signet("userinfo").fails(76, "signed userinfo", "audience")
        }
    }
}
