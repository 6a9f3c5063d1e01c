import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet at OpenID providers other than AM")
struct ProviderLoginTests {
    // MARK: Without a settings file

    @Test(
        "K6: signet login --issuer needs no settings file, and the login is complete",
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
                64, "OpenID provider", "without journeys", "--browser", "--device")
            try await cli.signet("token").fails(77, "no user is logged in here")
            let login = try await cli.logInWithBrowser(url, "--client", "app", "--json").succeeds()
            #expect(login.json["subject"]?.string == "alice")
            #expect(try await cli.signet("token", "--refresh").succeeds().line.hasPrefix("access-"))
            try await cli.signet("logout").succeeds()
        }
    }

    private static let app = FakeProvider.Answer.page("200 OK", "<!doctype html><title>Sign in</title><div id=root></div>")
    private static let redirect = FakeProvider.Answer(status: "302 Found", headers: ["Location: /welcome"], body: "")
    private static let notFound = FakeProvider.Answer.error("404 Not Found", "not_found", "There is nothing here.")

    /// The answers of a provider's front end to a request of a journey, and at the address of an AM's discovery document.
    static let frontEnds: [(journey: FakeProvider.Answer, unknown: FakeProvider.Answer)] = [
        (app, app), (redirect, redirect), (app, .page("403 Forbidden", "<p>No")),
        (.error("403 Forbidden", "no", "No."), notFound),
        (.error("405 Method Not Allowed", "no", "No."), app), (.page("501 Not Implemented", "<p>No"), notFound),
        (.page("401 Unauthorized", "<p>No"), FakeProvider.Answer(body: "{}")),
    ]

    @Test(
        "K6: A provider is recognized when its front end answers AM's addresses with a page or another status",
        arguments: frontEnds)
    func recognizesFrontEnd(journey: FakeProvider.Answer, unknown: FakeProvider.Answer) async throws {
        let provider = try FakeProvider { behavior in
            behavior.journeyAnswer = journey
            behavior.unknownAnswer = unknown
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", provider.url, "--client", "app").fails(
                64, "OpenID provider", "without journeys", "--browser", "--device")
            let login = try await cli.logInWithBrowser(provider.url, "--client", "app", "--json").succeeds()
            #expect(login.json["subject"]?.string == "alice")
        }
    }

    @Test(
        "K6: A server that fails at AM's address, and the document of another issuer behind a page, are not taken for a provider")
    func keepsErrorOfFailingServer() async throws {
        let failing = try FakeProvider { behavior in
            behavior.journeyAnswer = Self.app
            behavior.unknownAnswer = .page("503 Service Unavailable", "<p>Later")
        }
        let other = try FakeProvider { behavior in
            behavior.unknownAnswer = Self.app
            behavior.namedIssuer = "https://id.example.com/realms/other"
        }
        try await CommandLineFixture.with { cli in
            let login = try await cli.signet("login", failing.url, "--client", "app")
            login.fails(76, "the answer is not JSON")
            #expect(!login.errors.contains("OpenID provider"))
            try await cli.signet("login", other.url, "--client", "app").fails(65, "discovery.issuer")
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("K6: A login at an address that is neither that of an AM nor that of a provider keeps its error")
    func keepsErrorElsewhere() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let elsewhere = provider.url.replacing("/realms/staff", with: "/other")
            // The way to log in at another provider is named.
            try await cli.signet("login", elsewhere, "--client", "app").fails(
                76, "no discovery document", "signet login --issuer")
            let browser = try await cli.logInWithBrowser(elsewhere, "--client", "app")
            browser.fails(76, "404", "no discovery document", "signet login --issuer URL", elsewhere)
            #expect(!browser.errors.contains("Open this address"))
            let issuer = try await cli.signet("login", "--issuer", elsewhere, "--client", "app", "--device")
            issuer.fails(76, "404", "\(elsewhere)/.well-known/openid-configuration")
            #expect(!issuer.errors.contains("signet login --issuer"))
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
        "K6: The option --issuer without a way to log in, without a client or beside another address is a usage error",
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

    // MARK: Logout

    @Test("K1: A logout that a page confirms exits with 0, says what the page is, and opens no browser")
    func describesLogoutPage() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            let words = try await cli.signet("logout").succeeds()
            #expect(words.output.contains("a page without a question") && words.output.contains("client.signOutRedirectUri"))
            #expect(!words.errors.contains("browser") && !words.output.contains("<"))
            try await cli.signet("token").fails(77, "no user is logged in here")

            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            let logout = try await cli.signet("logout", "--json").succeeds().json
            #expect(logout["openIDSession"]?.string == "showedPage" && logout["complete"]?.bool == false)
            #expect(logout["local"]?.string == "done" && logout["tokens"]?.string == "done")
        }
    }

    @Test("K1: With client.signOutRedirectUri the logout is complete without a page")
    func confirmsLogoutByRedirect() async throws {
        let bye = "https://app.example.com/bye"
        let provider = try FakeProvider {
            $0.endSessionAnswer = .init(status: "302 Found", headers: ["Location: \(bye)"], body: "")
        }
        try await CommandLineFixture.with { cli in
            let settings = try cli.write(#"{"client":{"signOutRedirectUri":"\#(bye)"}}"#.utf8, to: "settings.json")
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app", "--settings", settings).succeeds()
            let logout = try await cli.signet("logout", "--json").succeeds().json
            #expect(logout["openIDSession"]?.string == "done" && logout["complete"]?.bool == true)
        }
        let help = try await CommandLineFixture.with(vault: false) { try await $0.signet("logout", "--help").succeeds().output }
        #expect(help.contains("client.signOutRedirectUri"))
    }

    @Test(
        "K4: A server without a revocation endpoint is not an error of logout, of a second login or of a login with other scopes")
    func acceptsMissingRevocation() async throws {
        let provider = try FakeProvider { $0.hasRevocation = false }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            let second = try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            #expect(second.errors.contains("The earlier login, tokens at the server: the server cannot revoke them"))
            let end = try await cli.signet("token", "--json").succeeds().json["expiresAt"]?.string ?? "?"
            let logout = try await cli.signet("logout").succeeds()
            #expect(
                logout.output.contains("the access token is valid until \(end), and the refresh token until the server ends it"))

            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            let json = try await cli.signet("logout", "--json").succeeds().json
            #expect(json["tokens"]?.string == "notOffered" && json["tokensExpireAt"]?.string?.hasSuffix("Z") == true)
            #expect(json["local"]?.string == "done" && json["complete"]?.bool == false)
        }
        let server = try FakeProvider(isAM: true) { $0.hasRevocation = false }
        try await CommandLineFixture.with { cli in
            let discovery = "\(server.url)/oauth2/realms/root/.well-known/openid-configuration"
            let settings = try cli.write(#"{"endpoints":{"discovery":"\#(discovery)"}}"#.utf8, to: "settings.json")
            try await cli.signet("login", server.url, "--client", "app", "--settings", settings).succeeds()
            let token = try await cli.signet("token").succeeds().line
            let changed = try await cli.signet("login", "--scope", "openid", "--scope", "profile").succeeds()
            #expect(changed.errors.contains("The earlier tokens at the server: the server cannot revoke them"))
            #expect(try await cli.signet("token").succeeds().line != token)
        }
    }

    // MARK: Tokens and userinfo

    @Test("K2: signet token --refresh says that the token can't be renewed and until when it is good")
    func describesTokenWithoutRefresh() async throws {
        let provider = try FakeProvider { $0.issuesRefreshTokens = false }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            let token = try await cli.signet("token", "--json").succeeds().json
            let end = token["expiresAt"]?.string ?? "?"
            let refused = try await cli.signet("token", "--refresh")
            refused.fails(77, "cannot be renewed", "valid until \(end)", "--browser")
            #expect(!refused.errors.contains("has ended"))
            let error = try await cli.signet("token", "--refresh", "--json").jsonError
            #expect(error?["code"]?.string == "token.notRenewable")
            #expect(try await cli.signet("token").succeeds().line == token["accessToken"]?.string)
        }
    }

    @Test("K5: A refusal in WWW-Authenticate with an empty body is told with its words and exits with 77")
    func describesRefusedToken() async throws {
        let field =
            #"WWW-Authenticate: Bearer realm="staff", error="invalid_token", error_description="Token verification failed""#
        let provider = try FakeProvider { $0.userInfoAnswer = .init(status: "401 Unauthorized", headers: [field], body: "") }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            try await cli.signet("userinfo").fails(77, "invalid_token", "Token verification failed")
        }
    }

    @Test("K5: Signed userinfo is printed when it is valid, and refused with 76 when it is for another client")
    func printsSignedUserInfo() async throws {
        let provider = try FakeProvider { $0.signedUserInfo = ["name": .string("Alice")] }
        try await CommandLineFixture.with { cli in
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app").succeeds()
            #expect(try await cli.signet("userinfo", "--json").succeeds().json["name"]?.string == "Alice")
            provider.change { $0.signedUserInfo = ["aud": .string("other")] }
            try await cli.signet("userinfo").fails(76, "signed userinfo", "audience")
            provider.change {
                $0.signedUserInfo = nil
                $0.userInfoAnswer = FakeProvider.Answer(body: #"{"sub":"mallory"}"#)
            }
            let other = try await cli.signet("userinfo")
            other.fails(76, "the userinfo was refused: subject")
            #expect(!other.errors.contains("id_token"))
        }
    }

    @Test("A login whose id_token lacks the requested acr names acr_values and the setting that accepts it")
    func namesSettingForMissingACR() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let strict = try cli.write(#"{"client":{"parameters":{"acr_values":"gold"}}}"#.utf8, to: "strict.json")
            let refused = try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app", "--settings", strict)
            refused.fails(76, "acr_values", "acr is missing", "client.requiresACR: false")
            let lenient = try cli.write(
                #"{"client":{"parameters":{"acr_values":"gold"},"requiresACR":false}}"#.utf8, to: "lenient.json")
            try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app", "--settings", lenient).succeeds()
        }
    }

    // MARK: Another device

    @Test("K3: signet login --device proves with a code verifier that it began the login")
    func provesDeviceLogin() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            // The provider wants a code challenge, and the right verifier of it.
            let login = try await cli.signet("login", "--issuer", provider.url, "--client", "app", "--device", "--json")
                .succeeds()
            #expect(login.json["subject"]?.string == "alice" && login.errors.contains("WDJB-MJHT"))
        }
    }
}
