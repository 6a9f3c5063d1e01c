import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// The authorization endpoint and the device grant as OpenAM 16.0.5 answers.
@Suite("signet at the OAuth 2.0 endpoints of OpenAM")
struct AuthorizationTests {
    /// A page of the authorization endpoint with status 400, and the words that signet says.
    static let pages: [(page: String, words: [String])] = [
        (
            FakeProvider.openAMPage,
            ["redirect_uri_mismatch", "The redirection URI provided does not match a pre-registered value.", "--redirect"]
        ),
        (
            #"<script>pageData = { error: { description: "Client authentication failed", message: "invalid_client" } }</script>"#,
            ["invalid_client", "Client authentication failed", "--client"]
        ),
        ("<title>Error 400</title><h1>pageData</h1>", ["the server refused the client or the redirect address: Error 400"]),
        (
            #"<script>x = { error: { description: "a\x1b[31mb\u202ec\r\nd", message: "invalid_request" } }</script>"#,
            ["invalid_request", "a[31mbcd"]
        ),
    ]

    @Test("C11: An HTML page of the authorization endpoint is told in words, exits with 77, and is not quoted", arguments: pages)
    func describesAuthorizePage(page: String, words: [String]) async throws {
        let server = try FakeProvider(isAM: true) { $0.authorizeAnswer = .page("400 Bad Request", page) }
        try await CommandLineFixture.with { cli in
            let login = try await cli.signet("login", server.url, "--client", "app")
            login.fails(77, "HTTP 400", "nothing was kept")
            for word in words { #expect(login.errors.contains(word), "\(login.errors)") }
            for raw in ["<", "pageData", "Loading", "\u{1B}", "\u{202E}"] { #expect(!login.errors.contains(raw)) }
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("C12: The wait for a browser that shows an error page ends and says what to register; a fixed port works")
    func endsWaitForBrowser() async throws {
        // OpenAM compares the port too, and the port must be the same in the login.
        let port = try ReservedPort()
        let redirect = "http://127.0.0.1:\(port.number)/callback"
        let server = try FakeProvider(isAM: true) { $0.redirectURI = redirect }
        try await CommandLineFixture.with { cli in
            let login = try await cli.logInWithBrowser(server.url, "--client", "app", "--timeout", "1")
            login.fails(69, "not finished within 1 seconds", "register http://127.0.0.1:", "fixed", "--redirect", "--timeout")
            try await cli.signet("token").fails(77, "no user is logged in here")

            let fixed = try await cli.logInWithBrowser(server.url, "--client", "app", "--redirect", redirect, "--json").succeeds()
            #expect(fixed.json["subject"]?.string == "alice")
            // The login keeps its redirect address.
            try await cli.logInWithBrowser().succeeds()
            try await cli.signet("token", "--refresh").succeeds()
        }
    }

    @Test("C6: signet login --device sends response_type, and takes tokens that come without scope and id_token")
    func sendsResponseTypeInDeviceLogin() async throws {
        let server = try FakeProvider(isAM: true) { $0.issuesIDTokenToDevice = false }
        try await CommandLineFixture.with { cli in
            let login = try await cli.signet("login", server.url, "--client", "app", "--device", "--json").succeeds()
            #expect(login.json["scope"]?.string == "openid" && login.json["subject"] == nil)
            #expect(login.errors.contains("WDJB-MJHT"))
            #expect(try await cli.signet("token").succeeds().line.hasPrefix("access-"))
        }
    }

    @Test("C13: signet login --device waits while the login is pending, and authorization_declined exits with 77")
    func endsDeclinedDeviceLogin() async throws {
        let pending = "The user has not yet completed authorization"
        let server = try FakeProvider(isAM: true) {
            $0.devicePolls = [
                .error("403 Forbidden", "authorization_pending", pending),
                .error("400 Bad Request", "authorization_pending", pending),
                .error("403 Forbidden", "authorization_declined", "The user has declined authorization"),
            ]
        }
        try await CommandLineFixture.with { cli in
            let login = try await cli.signet("login", server.url, "--client", "app", "--device")
            login.fails(77, "authorization_declined", "The user has declined authorization")
            let polls = server.paths.filter { $0.hasSuffix("/access_token") }.count
            #expect(polls == 3)
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }
}
