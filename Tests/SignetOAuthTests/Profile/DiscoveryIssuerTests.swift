import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("The issuer of a discovery document")
struct DiscoveryIssuerTests {
    /// Returns the issuer after discovery with a document that names `issuer`.
    private func discovered(_ issuer: String, at address: String, configured: String? = nil) async throws -> String? {
        let members: [String: JSONValue] = [
            "issuer": .string(issuer), "authorization_endpoint": .string("https://other.example.test/authorize"),
            "token_endpoint": .string("https://other.example.test/token"),
        ]
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: JSON.encode(.object(members))) }
        let profile = try ServerProfile(url: "https://am.example.test/am", policy: .secure) { $0.issuer = configured }
        return try await profile.discovering(at: address, over: transport).issuer
    }

    private static let am = "https://am.example.test/am/oauth2"
    private static let wellKnown = "/.well-known/openid-configuration"

    @Test(
        "The issuer is the address of the document without the well-known part, or a form of the same AM realm",
        arguments: [
            ("https://op.example.test/\(wellKnown.dropFirst())", "https://op.example.test"),
            ("https://op.example.test/realms/a\(wellKnown)", "https://op.example.test/realms/a"),
            ("https://op.example.test:8443/api/oidc\(wellKnown)", "https://op.example.test:8443/api/oidc"),
            // A client removes one slash at the end of the issuer before it appends the well-known part, as for Auth0.
            ("https://tenant.example.test\(wellKnown)", "https://tenant.example.test/"),
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test/a/"), ("\(am)/alpha\(wellKnown)", "\(am)/alpha/"),
            ("https://op.example.test/a/\(wellKnown)", "https://op.example.test/a/"),
            ("https://op.example.test/.well-known/oauth-authorization-server", "https://op.example.test"),
            ("https://op.example.test/.well-known/oauth-authorization-server/a/b", "https://op.example.test/a/b"),
            ("\(am)\(wellKnown)", am), ("\(am)/realms/root\(wellKnown)", am), ("\(am)\(wellKnown)", "\(am)/realms/root"),
            ("\(am)/realms/root/realms/alpha\(wellKnown)", "\(am)/realms/root/realms/alpha"),
            ("\(am)/alpha\(wellKnown)", "\(am)/realms/root/realms/alpha"),
            ("\(am)/realms/alpha\(wellKnown)", "\(am)/realms/root/realms/alpha"),
            ("\(am)/realms/root/realms/alpha\(wellKnown)", "\(am)/alpha"),
            ("\(am)/alpha/beta\(wellKnown)", "\(am)/realms/root/realms/alpha/realms/beta"),
            ("\(am)\(wellKnown)?realm=/alpha", "\(am)/realms/root/realms/alpha"),
            ("\(am)\(wellKnown)?realm=%2F", am),
            ("\(am)/alpha\(wellKnown)", "https://am.example.test:443/am/oauth2/alpha"),
            ("https://am.example.test:443/am/oauth2/alpha\(wellKnown)", "\(am)/alpha"),
            ("http://127.0.0.1:80/am/oauth2\(wellKnown)", "http://127.0.0.1/am/oauth2"),
            ("https://[::1]:443/am/oauth2\(wellKnown)", "https://[::1]/am/oauth2"),
        ] as [(String, String)])
    func acceptsOwnIssuer(address: String, issuer: String) async throws {
        #expect(try await discovered(issuer, at: address) == issuer)
    }

    @Test(
        "A document that names another tenant, realm, deployment or server as its issuer is refused",
        arguments: [
            // Another tenant of the same host.
            ("https://op.example.test/mallory\(wellKnown)", "https://op.example.test/alice"),
            ("https://op.example.test/mallory\(wellKnown)", "https://op.example.test"),
            ("https://op.example.test/realms/mallory\(wellKnown)", "https://op.example.test/realms/alice"),
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test/a/b"),
            ("https://op.example.test/.well-known/oauth-authorization-server/a", "https://op.example.test/b"),
            // Another spelling isn't the same name, except for AM.
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test/a//"),
            ("https://op.example.test\(wellKnown)", "https://op.example.test//"),
            ("https://op.example.test/a/\(wellKnown)", "https://op.example.test/a"),
            ("https://op.example.test/.well-known/oauth-authorization-server/a", "https://op.example.test/a/"),
            ("https://op.example.test/.well-known/oauth-authorization-server", "https://op.example.test/"),
            ("https://op.example.test/mallory\(wellKnown)", "https://op.example.test/"),
            ("https://op.example.test/mallory\(wellKnown)", "https://op.example.test/alice/"),
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test/A"),
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test/%61"),
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test:443/a"),
            ("https://op.example.test/a\(wellKnown)", "https://OP.example.test/a"),
            ("https://op.example.test/realms/a\(wellKnown)", "https://op.example.test/a"),
            // Another server.
            ("https://op.example.test/a\(wellKnown)", "https://op.example.test.evil.test/a"),
            ("http://127.0.0.1/a\(wellKnown)", "https://127.0.0.1/a"),
            // Another realm of AM.
            ("\(am)/mallory\(wellKnown)", "\(am)/alice"), ("\(am)/mallory\(wellKnown)", am), ("\(am)\(wellKnown)", "\(am)/alpha"),
            ("\(am)/realms/root/realms/alpha\(wellKnown)", "\(am)/realms/root/realms/alpha/realms/beta"),
            ("\(am)/realms/root/realms/alpha\(wellKnown)", "\(am)/realms/root/realms/Alpha"),
            ("\(am)/alpha\(wellKnown)", "\(am)//alpha"), ("\(am)/alpha\(wellKnown)", "\(am)/root/alpha"),
            ("\(am)/alpha\(wellKnown)", "\(am)/alpha?x=1"),
            ("\(am)/alpha\(wellKnown)", "\(am)/beta/../alpha"), ("\(am)/alpha\(wellKnown)", "\(am)/realms/alpha/beta"),
            // Another deployment, port or scheme of AM.
            ("\(am)/alpha\(wellKnown)", "https://am.example.test/other/oauth2/alpha"),
            ("\(am)/alpha\(wellKnown)", "https://am.example.test/oauth2/alpha"),
            ("\(am)/alpha\(wellKnown)", "https://am.example.test:8443/am/oauth2/alpha"),
            ("\(am)/alpha\(wellKnown)", "https://am.example.test:80/am/oauth2/alpha"),
            ("http://127.0.0.1/am/oauth2\(wellKnown)", "http://127.0.0.1:443/am/oauth2"),
            // The realm in the query.
            ("\(am)\(wellKnown)?realm=/mallory", "\(am)/alice"), ("\(am)\(wellKnown)?realm=/mallory", am),
            ("\(am)\(wellKnown)?realm=/mallory&realm=/alice", "\(am)/alice"),
            ("\(am)\(wellKnown)?x=1&realm=/alice", "\(am)/alice"),
            ("\(am)/mallory\(wellKnown)?realm=/alice", "\(am)/alice"),
            ("\(am)/mallory\(wellKnown)?realm=/alice", "\(am)/mallory"),
            ("https://op.example.test/a\(wellKnown)?x=1", "https://op.example.test/a"),
            // No well-known part, and a part that only resembles it.
            ("https://op.example.test/a/discovery", "https://op.example.test/a"),
            ("https://op.example.test/a/x.well-known/openid-configuration", "https://op.example.test/a"),
            ("https://op.example.test/a/.well-known/openid-configuration/b", "https://op.example.test/a/b"),
        ] as [(String, String)])
    func refusesForeignIssuer(address: String, issuer: String) async throws {
        let failure = await outcome { try await discovered(issuer, at: address) }
        guard case .failure(let error as ProfileError) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(error.key == "discovery.issuer" && error.fault.code == .issuer && !error.isRetryable)
        #expect(error.description.contains("is \(issuer), "))
    }

    @Test(
        "A configured issuer is compared byte for byte, also for AM and at any address",
        arguments: [
            ("\(am)/alpha\(wellKnown)", "\(am)/realms/root/realms/alpha", "\(am)/alpha"),
            ("\(am)/alpha\(wellKnown)", "\(am)/alpha", "https://am.example.test:443/am/oauth2/alpha"),
            ("\(am)/alpha\(wellKnown)", "\(am)/alpha", "\(am)/alpha/"),
            ("https://op.example.test/a/discovery", "https://op.example.test/a", "https://op.example.test/b"),
        ] as [(String, String, String)])
    func comparesConfiguredIssuer(address: String, configured: String, other: String) async throws {
        #expect(try await discovered(configured, at: address, configured: configured) == configured)
        let failure = await outcome { try await discovered(other, at: address, configured: configured) }
        guard case .failure(let error as ProfileError) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(error.fault == .issuer(expected: configured, received: other))
        #expect(error.description.contains(configured) && error.description.contains(other))
    }

    @Test("No browser is opened and no endpoint is used when the document names another issuer", arguments: [true, false])
    func stopsBeforeBrowserOpens(isConfigured: Bool) async throws {
        let client = OAuthClient(clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid"])
        let endpoints = TokenSourceFixture.Addresses.from {
            OAuthEndpoints(issuer: isConfigured ? $0.url : nil, discovery: $0.discoveryAddress)
        }
        try await TokenSourceFixture.with(
            endpoints: endpoints, client: client,
            .set { $0.changes["discovery"] = { $0.replacing("\",\"auth", with: "/x\",\"auth") } }
        ) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { _ in Issue.record("a browser was opened") }
            let device = DeviceLogin(fixture.tokens) { _ in }
            for failure in [
                await outcome { try await login.logIn() }.tokenError,
                await outcome { try await fixture.tokens.token() }.tokenError,
                await outcome { try await device.begin() }.tokenError,
            ] {
                guard case .server(let error)? = failure?.cause else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(error.code == .issuerMismatch && failure?.code == .refused && failure?.isRetryable == false)
                let url = fixture.provider.url
                #expect(error.description.contains("\(url)/x") && error.description.contains("\(url) was expected"))
            }
            #expect(Set(fixture.provider.now.counts.keys) == ["discovery"])
        }
    }
}
