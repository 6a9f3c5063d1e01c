import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("Server profiles")
struct ProfileTests {
    @Test(
        "A realm is read in every spelling and written for each kind of server",
        arguments: [
            ("", "/", "realms/root", "realms/root", ""), ("/", "/", "realms/root", "realms/root", ""),
            ("root", "/", "realms/root", "realms/root", ""), ("realms/root", "/", "realms/root", "realms/root", ""),
            ("alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("/alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            (" alpha ", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("root/alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("/root/alpha/", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("root/realms/alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("realms/root/realms/alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("realms/alpha", "/alpha", "realms/root/realms/alpha", "realms/alpha", "alpha"),
            ("root/realms/a/realms/b", "/a/b", "realms/root/realms/a/realms/b", "realms/a/realms/b", "a/b"),
            ("foo/bar", "/foo/bar", "realms/root/realms/foo/realms/bar", "realms/foo/realms/bar", "foo/bar"),
            ("Alpha", "/Alpha", "realms/root/realms/Alpha", "realms/Alpha", "Alpha"),
            ("a b?c", "/a b?c", "realms/root/realms/a%20b%3Fc", "realms/a%20b%3Fc", "a%20b%3Fc"),
            ("root/realms", "/realms", "realms/root/realms/realms", "realms/realms", "realms"),
        ])
    func readsRealmSpellings(written: String, printed: String, full: String, alias: String, legacy: String) {
        let realm = Realm(written)
        #expect(realm.description == printed)
        #expect(realm.path() == full)
        #expect(realm.path(.alias) == alias)
        #expect(realm.path(.legacy) == legacy)
        if !full.contains("%") { #expect(Realm(realm.path()) == realm) }
        #expect(Realm(realm.description) == realm)
    }

    @Test(
        "A profile has the default addresses of its server",
        arguments: [
            (.authenticate, "json/realms/root/realms/alpha/authenticate"), (.session, "json/realms/root/realms/alpha/sessions"),
            (.authorize, "oauth2/realms/root/realms/alpha/authorize"), (.token, "oauth2/realms/root/realms/alpha/access_token"),
            (.revoke, "oauth2/realms/root/realms/alpha/token/revoke"),
            (.userInfo, "oauth2/realms/root/realms/alpha/userinfo"),
            (.endSession, "oauth2/realms/root/realms/alpha/connect/endSession"),
            (.jwks, "oauth2/realms/root/realms/alpha/connect/jwk_uri"),
            (.deviceCode, "oauth2/realms/root/realms/alpha/device/code"),
            (.discovery, "oauth2/realms/root/realms/alpha/.well-known/openid-configuration"),
            (.users, "json/realms/root/realms/alpha/users"),
        ] as [(ServerEndpoint, String)])
    func defaultAddresses(endpoint: ServerEndpoint, path: String) throws {
        let profile = try ServerProfile(url: "https://am.example.test/am//", realm: "alpha")
        #expect(profile.address(of: endpoint) == "https://am.example.test/am/\(path)")
    }

    @Test("A realm is written as its server expects, also for a server without realms in addresses")
    func realmForms() throws {
        let url = "https://am.example.test:8443/am"
        let alias = try ServerProfile(url: url, realm: "alpha", realmForm: .alias)
        #expect(alias.address(of: .authenticate) == "\(url)/json/realms/alpha/authenticate")
        let legacy = try ServerProfile(url: url, realmForm: .legacy)
        #expect(legacy.address(of: .token) == "\(url)/oauth2/access_token")
    }

    @Test(
        "An override is resolved as a link relative to the server's address",
        arguments: [
            ("https://login.example.test/a/b?c=d", "https://login.example.test/a/b?c=d"),
            ("//login.example.test/x", "https://login.example.test/x"), ("/x/y", "https://am.example.test:8443/x/y"),
            ("x/y", "https://am.example.test:8443/am/x/y"), ("x", "https://am.example.test:8443/am/x"),
            (" x ", "https://am.example.test:8443/am/x"), ("x?a:b", "https://am.example.test:8443/am/x?a:b"),
            ("x/a:b", "https://am.example.test:8443/am/x/a:b"),
        ])
    func resolvesOverrides(written: String, address: String) throws {
        let profile = try ServerProfile(url: "https://am.example.test:8443/am", endpoints: [.authorize: written])
        #expect(profile.address(of: .authorize) == address)
        #expect(profile.address(of: .token) == "https://am.example.test:8443/am/oauth2/realms/root/access_token")
    }

    @Test(
        "An empty, malformed or unsafe override is refused by an error that names it",
        arguments: [
            ("http://am.example.test/x", .address(.plainHTTP(host: "am.example.test"))), ("", .empty), ("  ", .empty),
            ("ftp://am.example.test/x", .address(.notAWebAddress)), ("javascript:alert(1)", .address(.notAWebAddress)),
            ("https://u:p@am.example.test/x", .address(.carriesCredentials)), ("x y", .address(.notAWebAddress)),
            ("/x#y", .address(.notAWebAddress)),
        ] as [(String, ProfileError.Fault)])
    func refusesUnsafeOverrides(written: String, fault: ProfileError.Fault) {
        #expect {
            try ServerProfile(url: "https://am.example.test/am", endpoints: [.token: written])
        } throws: { error in
            (error as? ProfileError).map { $0.key == "endpoints.token" && $0.fault == fault } ?? false
        }
    }

    @Test("A profile has the documented defaults")
    func documentedDefaults() throws {
        let profile = try profile()
        #expect(profile.cookieName == "iPlanetDirectoryPro")
        #expect(profile.timeout == .seconds(30))
        #expect(profile.refreshThreshold == .seconds(60))
        #expect(profile.authenticationService == "Login")
        #expect(profile.registrationService == "Registration")
        #expect(profile.pins.isEmpty)
        #expect(profile.realm == .root)
    }

    private static let document = """
        {"url": "https://am.example.test/am", "realm": "root/alpha", "cookieName": "46b42b4229cd7a3", "timeout": 7.5,
         "refreshThreshold": "90", "pins": ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], "authenticationService": "In",
         "registrationService": "Up", "dialect": "openAM", "endpoints": {"revoke": "oauth2/revoke"}, "realmForm": "alias",
         "keepsCookies": false, "preferredLanguages": ["de-AT", "en"], "issuer": "https://am.example.test/am/oauth2",
         "client": {"id": "app", "redirectUri": "app://cb", "scopes": ["openid", "mail"], "signOutRedirectUri": "app://bye",
          "parameters": {"acr_values": "push & more", "prompt": "login"}}}
        """

    @Test("A document and the environment give the same profile")
    func readsDocumentAndEnvironment() throws {
        let profile = try ServerProfile(json: Self.document.utf8)
        #expect(profile.realm == "alpha")
        #expect(profile.cookieName == "46b42b4229cd7a3")
        #expect(profile.timeout == .milliseconds(7500))
        #expect(profile.refreshThreshold == .seconds(90))
        #expect(profile.pins.map(\.description) == ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
        #expect(profile.authenticationService == "In")
        #expect(profile.registrationService == "Up")
        #expect(profile.dialect == .openAM && profile.preferredLanguages == ["de-AT", "en"])
        #expect(profile.address(of: .revoke) == "https://am.example.test/am/oauth2/revoke")
        #expect(profile.address(of: .token) == "https://am.example.test/am/oauth2/realms/alpha/access_token")
        let same = try ServerProfile(environment: [
            "SIGNET_URL": "https://am.example.test/am", "SIGNET_REALM": "alpha", "SIGNET_COOKIE_NAME": "46b42b4229cd7a3",
            "SIGNET_TIMEOUT": "7.5", "SIGNET_REFRESH_THRESHOLD": "90",
            "SIGNET_PINS": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "SIGNET_AUTHENTICATION_SERVICE": "In",
            "SIGNET_REGISTRATION_SERVICE": "Up", "SIGNET_DIALECT": "openAM", "SIGNET_ENDPOINTS_REVOKE": "oauth2/revoke",
            "SIGNET_REALM_FORM": "alias", "SIGNET_REQUESTED_WITH": "", "PATH": "/bin", "SIGNET_KEEPS_COOKIES": "false",
            "SIGNET_PREFERRED_LANGUAGES": "de-AT en", "SIGNET_ISSUER": "https://am.example.test/am/oauth2",
            "SIGNET_CLIENT_ID": "app",
            "SIGNET_CLIENT_REDIRECT_URI": "app://cb", "SIGNET_CLIENT_SCOPES": "openid mail",
            "SIGNET_CLIENT_SIGN_OUT_REDIRECT_URI": "app://bye",
            "SIGNET_CLIENT_PARAMETERS": "acr_values=push+%26%20more&prompt=login",
        ])
        #expect(
            profile.client
                == OAuthClient(
                    clientID: "app", redirectURI: "app://cb", scopes: ["openid", "mail"], signOutRedirectURI: "app://bye",
                    authorizationParameters: ["acr_values": "push & more", "prompt": "login"]))
        #expect(!profile.keepsCookies)
        #expect(same == profile)
    }

    @Test(
        "The environment gives parameters only as a query, and each parameter name once",
        arguments: ["acr_values", "=push", "a=1&a=2", "a=1&&b=2", "a=1&"])
    func readsParametersFromEnvironment(text: String) {
        let client = ["SIGNET_URL": "https://a.test", "SIGNET_CLIENT_ID": "x", "SIGNET_CLIENT_REDIRECT_URI": "a:b"]
        #expect {
            try ServerProfile(environment: client.merging(["SIGNET_CLIENT_PARAMETERS": text]) { $1 })
        } throws: { ($0 as? ProfileError)?.key == "client.parameters" }
    }

    @Test(
        "An error names the invalid setting and its fault",
        arguments: [
            (#"{}"#, "url", .missing), (#"{"url":""}"#, "url", .missing), (#"{"url":7}"#, "url", .type(expected: "a string")),
            (#"{"url":"am.example.test"}"#, "url", .address(.notAWebAddress)),
            (#"{"url":"http://am.example.test"}"#, "url", .address(.plainHTTP(host: "am.example.test"))),
            (#"{"url":"https://am.example.test?x"}"#, "url", .address(.notAWebAddress)),
            (#"{"url":"https://a.test","timeout":"soon"}"#, "timeout", .type(expected: "a number of seconds")),
            (#"{"url":"https://a.test","timeout":1e300}"#, "timeout", .type(expected: "a number of seconds")),
            (
                #"{"url":"https://a.test","timeout":0}"#, "timeout",
                .value("must be more than 0 seconds and a day at most")
            ),
            (#"{"url":"https://a.test","cookiename":"x"}"#, "cookiename", .unknown),
            (#"{"url":"https://a.test","endpoints":{"login":"x"}}"#, "endpoints.login", .unknown),
            (#"{"url":"https://a.test","endpoints":"x"}"#, "endpoints", .type(expected: "an object")),
            (#"{"url":"https://a.test","endpoints":{"token":[]}}"#, "endpoints.token", .type(expected: "a string")),
            (
                #"{"url":"https://a.test","pins":["AAAA"]}"#, "pins",
                .value("a pin is the base64 of a SHA-256: 44 characters, the last of them =")
            ),
            (#"{"url":"https://a.test","keepsCookies":"perhaps"}"#, "keepsCookies", .type(expected: "true or false")),
            (#"{"url":"https://a.test","client":"x"}"#, "client", .type(expected: "an object")),
            (#"{"url":"https://a.test","client":{"secret":"x"}}"#, "client.secret", .unknown),
            (#"{"url":"https://a.test","client.id":"x"}"#, "client.id", .unknown),
            (#"{"url":"https://a.test","client":{"scopes":"openid"}}"#, "client.id", .missing),
            (#"{"url":"https://a.test","client":{"id":"x"}}"#, "client.redirectUri", .missing),
            (#"{"url":"https://a.test","client":{"id":"","redirectUri":"a:b"}}"#, "client.id", .empty),
            (
                #"{"url":"https://a.test","client":{"id":"x","redirectUri":"b"}}"#, "client.redirectUri",
                .value("must be an absolute address")
            ),
            (
                #"{"url":"https://a.test","client":{"id":"x","redirectUri":"a:b","parameters":{"n":1}}}"#, "client.parameters",
                .type(expected: "an object of strings, or a string such as acr_values=push&prompt=login")
            ),
            (#"{"url":"https://a.test","pins":[1]}"#, "pins", .type(expected: "an array of strings")),
            (#"{"url":"https://a.test","dialect":"sun"}"#, "dialect", .type(expected: "one of accessManager, openAM")),
            (
                #"{"url":"https://a.test","preferredLanguages":["de\r\nX: y"]}"#, "preferredLanguages",
                .value("must have language tags such as de-AT")
            ),
            (#"{"url":"https://a.test","cookieName":""}"#, "cookieName", .empty),
            (#"{"url":"https://a.test","authenticationService":""}"#, "authenticationService", .empty),
            (#"[]"#, "", .unreadable("is not an object")),
        ] as [(String, String, ProfileError.Fault)])
    func namesInvalidSettingAndFault(document: String, key: String, fault: ProfileError.Fault) {
        #expect {
            try ServerProfile(json: document.utf8)
        } throws: { error in
            (error as? ProfileError).map { $0.key == key && $0.fault == fault } ?? false
        }
    }

    @Test("An invalid cookie name is refused", arguments: ["a b", "a:b", "a\r\nX: y", "a=b", "ä"])
    func refusesInvalidCookieName(name: String) {
        #expect(throws: ProfileError.self) { try profile { $0.cookieName = name } }
    }
}

@Suite("OpenID discovery")
struct DiscoveryTests {
    private static let issuer = "https://am.example.test/am/oauth2/realms/root/realms/alpha"

    private func document(_ changes: [String: String?] = [:]) -> String {
        var members: [String: JSONValue] = [
            "issuer": .string(Self.issuer), "authorization_endpoint": .string("\(Self.issuer)/authorize"),
            "token_endpoint": .string("\(Self.issuer)/access_token"), "jwks_uri": .string("https://keys.example.test/jwks"),
            "userinfo_endpoint": .string("\(Self.issuer)/me"), "revocation_endpoint": .string("\(Self.issuer)/revoke"),
            "end_session_endpoint": .string("\(Self.issuer)/bye"), "scopes_supported": .array([.string("openid")]),
        ]
        for (name, value) in changes { members[name] = value.map { .string($0) } }
        return JSON.text(of: .object(members))
    }

    @Test("A discovery document completes a profile, and overrides take precedence")
    func completesProfile() async throws {
        let transport = answering((200, document()))
        let plain = try ServerProfile(url: "https://am.example.test/am", realm: "alpha", endpoints: [.userInfo: "who"])
        let profile = try await plain.discovering(over: transport)
        #expect(transport.requests.map(\.url) == ["\(Self.issuer)/.well-known/openid-configuration"])
        #expect(transport.requests.map(\.method) == ["GET"])
        #expect(profile.issuer == Self.issuer)
        #expect(profile.address(of: .userInfo) == "https://am.example.test/am/who")
        #expect(profile.address(of: .revoke) == "\(Self.issuer)/revoke")
        #expect(profile.address(of: .endSession) == "\(Self.issuer)/bye")
        #expect(profile.address(of: .jwks) == "https://keys.example.test/jwks")
        #expect(profile.address(of: .deviceCode) == plain.address(of: .deviceCode))
        #expect(profile.address(of: .authenticate) == plain.address(of: .authenticate))
        #expect(plain.issuer == nil)
    }

    @Test("The profile of an AM server is created from the document's address alone")
    func createsProfileFromAddress() async throws {
        let profile = try await ServerProfile.discovered(
            at: "\(Self.issuer)/.well-known/openid-configuration", over: answering((200, document()))
        ) { $0.cookieName = "c" }
        #expect(profile.url.url == "https://am.example.test/am")
        #expect(profile.realm == "alpha")
        #expect(profile.cookieName == "c")
        #expect(profile.address(of: .authenticate) == "https://am.example.test/am/json/realms/root/realms/alpha/authenticate")
    }

    @Test("The OAuth configuration gets the profile's and the discovered addresses, and no discovery address")
    func configuresOAuthEndpoints() async throws {
        let base = "https://am.example.test/am/oauth2/realms/root/realms/alpha"
        let plain = try ServerProfile(url: "https://am.example.test/am", realm: "alpha", endpoints: [.userInfo: "who"]) {
            $0.cookieName = "c"
            $0.timeout = .seconds(7)
            $0.keepsCookies = false
        }
        let endpoints = OAuthEndpoints(plain)
        #expect(endpoints.authorize == "\(base)/authorize" && endpoints.token == "\(base)/access_token")
        #expect(endpoints.revoke == "\(base)/token/revoke" && endpoints.userInfo == "https://am.example.test/am/who")
        #expect(endpoints.session == "https://am.example.test/am/json/realms/root/realms/alpha/sessions")
        #expect(endpoints.discovery == "\(base)/.well-known/openid-configuration" && endpoints.issuer == nil)
        #expect(endpoints.cookieName == "c" && endpoints.timeout == .seconds(7) && !endpoints.keepsCookies)

        let found = OAuthEndpoints(try await plain.discovering(over: answering((200, document()))))
        #expect(found.issuer == Self.issuer && found.jwks == "https://keys.example.test/jwks")
        #expect(found.revoke == "\(Self.issuer)/revoke" && found.userInfo == "https://am.example.test/am/who")
        #expect(found.deviceAuthorization == endpoints.deviceAuthorization && found.session == endpoints.session)

        let named = try ServerProfile(
            url: "https://am.example.test/am", realm: "alpha", endpoints: [.discovery: "/d", .userInfo: "who"])
        let toBeFound = OAuthEndpoints(named)
        #expect(toBeFound.discovery == "https://am.example.test/d" && toBeFound.userInfo == "https://am.example.test/am/who")
        #expect(toBeFound.authorize == nil && toBeFound.token == nil && toBeFound.revoke == nil && toBeFound.jwks == nil)
        #expect(toBeFound.session == endpoints.session)
    }

    @Test("Sessions end at Ping's own address unless a browser returns to the app")
    func choosesEndSessionAddress() async throws {
        let ping = "\(Self.issuer)/ping"
        for (signOut, override, expected) in [
            (nil, nil, ping), ("app://bye", nil, "\(Self.issuer)/bye"), (nil, "x", "https://am.example.test/am/x"),
        ] {
            let transport = answering((200, document(["ping_end_idp_session_endpoint": ping])))
            var endpoints: EndpointOverrides = [:]
            endpoints[.endSession] = override
            let profile = try ServerProfile(url: "https://am.example.test/am", realm: "alpha", endpoints: endpoints) {
                $0.client = OAuthClient(
                    clientID: "app", redirectURI: "app://cb", scopes: ["openid"], signOutRedirectURI: signOut)
            }
            #expect(OAuthEndpoints(try await profile.discovering(over: transport)).endSession == expected)
        }
    }

    @Test("OpenAM's discovered revocation address is ignored")
    func ignoresOpenAMRevocationAddress() async throws {
        let root = document(["issuer": "https://am.example.test/am/oauth2"])
        let profile = try await profile { $0.dialect = .openAM }.discovering(over: answering((200, root)))
        #expect(OAuthEndpoints(profile).revoke == profile.address(of: .revoke))
        #expect(profile.address(of: .revoke) == "https://am.example.test/am/oauth2/realms/root/token/revoke")
    }

    @Test(
        "An invalid discovery document is refused by the name of its fault",
        arguments: [
            (["issuer": nil], "discovery.issuer", .missing), (["token_endpoint": nil], "discovery.token_endpoint", .missing),
            (
                ["issuer": "https://evil.example.test/am"], "discovery.issuer",
                .issuer(expected: issuer, received: "https://evil.example.test/am")
            ),
            (
                ["token_endpoint": "http://am.example.test/t"], "discovery.token_endpoint",
                .address(.plainHTTP(host: "am.example.test"))
            ),
            (["jwks_uri": "keys"], "discovery.jwks_uri", .address(.notAWebAddress)),
            (
                ["issuer": "https://am.example.test/other"], "discovery.issuer",
                .issuer(expected: issuer, received: "https://am.example.test/other")
            ),
        ] as [([String: String?], String, ProfileError.Fault)])
    func namesInvalidDocumentMember(changes: [String: String?], key: String, fault: ProfileError.Fault) async throws {
        let transport = answering((200, document(changes)))
        await #expect {
            try await profile { $0.issuer = Self.issuer }.discovering(over: transport)
        } throws: { error in
            (error as? ProfileError).map { $0.key == key && $0.fault == fault } ?? false
        }
    }

    @Test(
        "A discovery response without success or without a JSON object is refused",
        arguments: [(404, "{}"), (200, "<html>"), (302, ""), (200, "[]"), (500, "")])
    func refusesOtherDiscoveryResponses(status: Int, body: String) async throws {
        let transport = answering((status, body))
        await #expect { try await profile().discovering(over: transport) } throws: { ($0 as? ProfileError)?.key == "discovery" }
    }
}
