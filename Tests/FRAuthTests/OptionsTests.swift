import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Tests of FROptions: protocol/journey.md sections 5.1 to 5.4.
@Suite("Settings in FROptions")
struct OptionsTests {
    private static var documented: FROptions {
        FROptions(
            url: "https://tenant.forgeblocks.com/am", realm: "alpha", cookieName: "46b42b4229cd7a3", oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample", oauthScope: "openid profile email address",
            authServiceName: "Login", registrationServiceName: "Register")
    }

    @Test("FROptions accepts its arguments in the ForgeRock documentation's order and in the ForgeRock SDK's order")
    func acceptsBothArgumentOrders() {
        let original = FROptions(
            url: "https://tenant.forgeblocks.com/am", realm: "alpha", cookieName: "46b42b4229cd7a3", authServiceName: "Login",
            registrationServiceName: "Register", oauthClientId: "iosClient",
            oauthRedirectUri: "frauth://com.forgerock.ios.frexample", oauthScope: "openid profile email address")
        #expect(original == Self.documented)
        #expect(FROptions(url: "u", realm: "r") == FROptions(url: "u", realm: "r", timeout: "60"))
    }

    @Test("FROptions has the ForgeRock SDK's defaults")
    func hasDefaultsOfForgeRockSDK() {
        let options = FROptions(url: "u", realm: "r")
        #expect(options.enableCookie && options.cookieName == "iPlanetDirectoryPro" && options.timeout == "60")
        #expect(options.authServiceName == "Login" && options.registrationServiceName == "Registration")
        #expect(options.oauthThreshold == nil && options.oauthClientId == nil && options.sslPinningPublicKeyHashes == nil)
        #expect(FROptions(config: [:]) == FROptions(url: "", realm: ""))
    }

    @Test("FROptions keeps every setting in a round trip through its dictionary")
    func keepsSettingsInDictionary() throws {
        let options = FROptions(
            url: "u", realm: "r", enableCookie: false, cookieName: "c", timeout: "7", authorizeEndpoint: "a", tokenEndpoint: "t",
            revokeEndpoint: "v", userinfoEndpoint: "i", sessionEndpoint: "s", endSessionEndpoint: "e", oauthThreshold: "9",
            oauthClientId: "id", oauthRedirectUri: "x:y", oauthSignoutRedirectUri: "z:w", oauthScope: "openid",
            authServiceName: "In", registrationServiceName: "Up", keychainAccessGroup: "g", sslPinningPublicKeyHashes: ["h"])
        options.authenticateEndpoint = "n"
        let dictionary = try #require(options.optionsDictionary())
        #expect(dictionary.count == 21)
        #expect(FROptions(config: dictionary) == options)
        #expect(dictionary["forgerock_oauth_sign_out_redirect_uri"] as? String == "z:w")
        #expect(FROptions(url: "u", realm: "r").optionsDictionary()?.count == 7)
    }

    @Test("FROptions reads numbers for text settings, and ignores values of other types")
    func readsNumbersForTextSettings() {
        let options = FROptions(config: [
            "forgerock_timeout": 30, "forgerock_oauth_threshold": 10, "forgerock_url": ["x"], "forgerock_enable_cookie": "no",
            "other": 1,
        ])
        #expect(options.timeout == "30" && options.oauthThreshold == "10" && options.url.isEmpty && options.enableCookie)
    }

    @Test("FROptions converts to the engine's profile")
    func convertsToProfile() throws {
        let options = Self.documented
        options.authorizeEndpoint = "/custom/authorize"
        options.tokenEndpoint = "custom/token"
        options.revokeEndpoint = "https://other.example.test/revoke"
        options.sslPinningPublicKeyHashes = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        options.oauthThreshold = "10"
        let profile = try options.profile()
        #expect(profile.address(of: .authorize) == "https://tenant.forgeblocks.com/am/custom/authorize")
        #expect(profile.address(of: .token) == "https://tenant.forgeblocks.com/am/custom/token")
        #expect(profile.address(of: .revoke) == "https://other.example.test/revoke")
        #expect(
            profile.address(of: .authenticate) == "https://tenant.forgeblocks.com/am/json/realms/root/realms/alpha/authenticate")
        #expect(profile.cookieName == "46b42b4229cd7a3" && profile.timeout == .seconds(60))
        #expect(profile.refreshThreshold == .seconds(10) && profile.pins.count == 1)
        #expect(profile.registrationService == "Register" && profile.requestedWith == "forgerock-sdk")
    }

    @Test(
        "An invalid setting in FROptions fails with an error that names its key",
        arguments: [
            (Change { $0.url = "" }, "forgerock_url"), (Change { $0.url = "http://am.example.test" }, "forgerock_url"),
            (Change { $0.timeout = "soon" }, "forgerock_timeout"), (Change { $0.timeout = "0" }, "forgerock_timeout"),
            (Change { $0.oauthThreshold = "-1" }, "forgerock_oauth_threshold"),
            (Change { $0.cookieName = "" }, "forgerock_cookie_name"),
            (Change { $0.sslPinningPublicKeyHashes = ["x"] }, "forgerock_ssl_pinning_public_key_hashes"),
            (Change { $0.tokenEndpoint = "ftp://x/y" }, "forgerock_token_endpoint"),
        ] as [(Change, String)])
    func namesInvalidSetting(change: Change, key: String) {
        var options = Self.documented
        change.apply(&options)
        #expect {
            try options.profile()
        } throws: { error in
            (error as? ConfigError).map { $0.code == 2_000_001 && $0.description.contains(key) } ?? false
        }
    }

    @Test(
        "A change ends the session only for the six settings that the ForgeRock documentation names",
        arguments: [
            (Change { $0.url += "x" }, true), (Change { $0.realm = "beta" }, true), (Change { $0.cookieName = "c" }, true),
            (Change { $0.oauthClientId = "c" }, true), (Change { $0.oauthRedirectUri = nil }, true),
            (Change { $0.oauthScope = "openid" }, true),
            (Change { $0.url = "https://tenant.forgeblocks.com:8443/am" }, true),
            (Change { $0.url = "http://tenant.forgeblocks.com:443/am" }, true),
            (Change { $0.url = "https://tenant.forgeblocks.com/AM" }, true),
            (Change { $0.url = "https://Tenant.ForgeBlocks.com:443/am/" }, false),
            (Change { $0.url += "/" }, false), (Change { $0.realm = "/alpha" }, false), (Change { $0.timeout = "1" }, false),
            (Change { $0.enableCookie = false }, false), (Change { $0.authServiceName = "x" }, false),
            (Change { $0.tokenEndpoint = "x" }, false),
            (Change { $0.oauthThreshold = "1" }, false), (Change { $0.sslPinningPublicKeyHashes = [] }, false),
            (Change { _ in }, false),
        ] as [(Change, Bool)])
    func endsSessionOnlyForNamedSettings(change: Change, ends: Bool) {
        var options = Self.documented
        change.apply(&options)
        #expect(options.endsSessions(of: Self.documented) == ends)
    }

    @Test("Discovery fills in missing endpoints, with Ping's logout endpoint unless a sign-out redirect is set")
    func completesSettingsByDiscovery() async throws {
        let issuer = "https://tenant.forgeblocks.com/am/oauth2/realms/root/realms/alpha"
        let transport = ScriptedTransport { _ in
            HTTPResponse(
                status: 200,
                body: Array(
                    #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/a","token_endpoint":"\#(issuer)/t","end_session_endpoint":"\#(issuer)/e","ping_end_idp_session_endpoint":"\#(issuer)/p"}"#
                        .utf8))
        }
        let address = "\(issuer)/.well-known/openid-configuration"
        let options = Self.documented
        options.tokenEndpoint = "mine"
        let found = try await options.discover(discoveryURL: address, transport: transport)
        #expect(found === options)
        #expect(found.authorizeEndpoint == "\(issuer)/a" && found.tokenEndpoint == "\(issuer)/t")
        #expect(found.endSessionEndpoint == "\(issuer)/p")
        options.oauthSignoutRedirectUri = "frauth://out"
        try await options.discover(discoveryURL: address, transport: transport)
        #expect(options.endSessionEndpoint == "\(issuer)/e")
        let all = FROptions(url: "", realm: "")
        try await all.discover(discoveryURL: address, transport: transport)
        #expect(all.url == "https://tenant.forgeblocks.com/am" && all.realm == "/alpha")
        #expect(try all.profile().address(of: .discovery) == address)
        func failure(of options: FROptions, at url: String) async -> (any Error)? {
            do {
                try await options.discover(discoveryURL: url, transport: transport)
                return nil
            } catch {
                return error
            }
        }
        for text in ["", "this is not an address"] {
            let nothing = FROptions(url: "", realm: "")
            let error = await failure(of: nothing, at: text)
            #expect((error as? OAuth2Error)?.code == 1_500_098 && nothing == FROptions(url: "", realm: ""))
        }
        // The document of one realm poses as another realm of the same host.
        let other = address.replacing("alpha", with: "bravo")
        for options in [options, FROptions(url: "", realm: "")] {
            let text = "\(await failure(of: options, at: other) as Any)"
            #expect(text.contains(issuer) && text.contains(issuer.replacing("alpha", with: "bravo")))
        }
        // The pinned keys of the settings apply to this request too.
        let pinned = FROptions(url: "", realm: "")
        pinned.sslPinningPublicKeyHashes = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
        let unpinned = await failure(of: pinned, at: address)
        #expect(unpinned is NetworkError)
    }
}

@Suite("FROptions as an object")
struct OptionsObjectTests {
    @Test("FROptions are equal when all values are, and are read and written as JSON with the keys of FRAuthConfig")
    func comparesAndEncodes() throws {
        let changes: [(FROptions) -> Void] = [
            { $0.url = "other" }, { $0.realm = "bravo" }, { $0.oauthClientId = "other" }, { $0.keychainAccessGroup = "group" },
            { $0.timeout = "1" },
        ]
        let options = FROptions(url: "u", realm: "r", authenticateEndpoint: "a", oauthClientId: "c")
        #expect(options == FROptions(url: "u", realm: "r", authenticateEndpoint: "a", oauthClientId: "c"))
        for change in changes {
            let other = FROptions(config: options.optionsDictionary() ?? [:])
            #expect(other == options)
            change(other)
            #expect(other != options)
        }
        let json = try JSONEncoder().encode(options)
        #expect(try JSONDecoder().decode(FROptions.self, from: json) == options)
        #expect(String(decoding: json, as: UTF8.self).contains(#""forgerock_authenticate_endpoint":"a""#))
        #expect(throws: ConfigError.self) { try JSONDecoder().decode(FROptions.self, from: Data(#"{"forgerock_url":[]}"#.utf8)) }
    }

    @Test("FROptions gives the endpoints that are set, and the server's own ones otherwise")
    func givesEndpoints() {
        let options = FROptions(url: "https://am.example.com/am", realm: "alpha")
        let realm = "realms/root/realms/alpha"
        let defaults = [
            options.getAuthenticateEndpoint(), options.getAuthorizeEndpoint(), options.getTokenEndpoint(),
            options.getRevokeEndpoint(),
            options.getUserinfoEndpoint(), options.getSessionEndpoint(), options.getEndSessionEndpoint(),
        ]
        #expect(
            defaults == [
                "/json/\(realm)/authenticate", "/oauth2/\(realm)/authorize", "/oauth2/\(realm)/access_token",
                "/oauth2/\(realm)/token/revoke", "/oauth2/\(realm)/userinfo", "/json/\(realm)/sessions",
                "/oauth2/\(realm)/connect/endSession",
            ])
        options.tokenEndpoint = "mine"
        #expect(options.getTokenEndpoint() == "mine")
    }

    @Test("Discovery without a URL takes the issuer of a provider other than AM")
    func discoversAnyProvider() async throws {
        for issuer in ["https://gitlab.example.com", "https://auth.example.com/02fb4743/as", "https://id.example.com/oauth2x"] {
            let transport = ScriptedTransport { _ in
                HTTPResponse(
                    status: 200,
                    body: Array(
                        #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/oauth/authorize","token_endpoint":"\#(issuer)/t","userinfo_endpoint":"\#(issuer)/u","revocation_endpoint":"\#(issuer)/r"}"#
                            .utf8))
            }
            let given = [
                "oauth_client_id": "client", "oauth_redirect_uri": "app://cb", "oauth_sign_out_redirect_uri": "app://bye",
            ]
            let replaced = ["authorize", "token", "revoke", "userinfo", "endsession"].map { ("\($0)_endpoint", "test") }
            let config = given.merging(replaced) { $1 }.map { ("forgerock_\($0.key)", $0.value) }
            let options = FROptions(config: Dictionary(config) { $1 })
            try await options.discover(discoveryURL: "\(issuer)/.well-known/openid-configuration", transport: transport)
            #expect(options.url == issuer && options.realm.isEmpty && options.oauthClientId == "client")
            #expect(options.authorizeEndpoint == "\(issuer)/oauth/authorize" && options.tokenEndpoint == "\(issuer)/t")
            #expect(options.userinfoEndpoint == "\(issuer)/u" && options.revokeEndpoint == "\(issuer)/r")
            #expect(options.oauthRedirectUri == "app://cb" && options.oauthSignoutRedirectUri == "app://bye")
        }
    }

    /// An interceptor of the process that poses as another program.
    private struct LegacyDisguise: FRCore.RequestInterceptor {
        func intercept(request: Request, action: Action) -> Request {
            let headers = ["x-requested-with": "other", "X-Requested-Platform": "other"]
            return Request(url: request.url, method: request.method, headers: request.headers.merging(headers) { $1 })
        }
    }

    @Test("The requests of discovery and of a journey without a started SDK identify the SDK, whatever an interceptor sets")
    func identifiesSDKBeforeStart() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 500) }
        let core = FRCoreProcess()
        try await FRCoreProcess.$current.withValue(core) {
            try await FRAuthProcess.$current.withValue(FRAuthProcess(LegacyAuthSettings(), core: core)) {
                RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [LegacyDisguise()])
                let address = "https://am.example.test/am/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"
                for url in ["", "https://am.example.test/am"] {
                    await #expect(throws: (any Error).self) {
                        _ = try await FROptions(url: url, realm: "alpha").discover(discoveryURL: address, transport: transport)
                    }
                }
                let service = try AuthService(
                    name: "Login", options: FROptions(url: "https://am.example.test/am", realm: "alpha"), transport: transport,
                    interceptors: [Disguise()])
                await #expect(throws: (any Error).self) { _ = try await service.next(Token.self) }
            }
        }
        #expect(transport.requests.count == 3)
        for request in transport.requests {
            #expect(request.headers.all("x-requested-with") == ["forgerock-sdk"])
            #expect(request.headers.all("x-requested-platform") == ["ios"])
        }
    }

    @Test("The pinned keys of the settings apply to the requests of RestClient, until a start without keys")
    func pinsRequestsOfRestClient() async throws {
        let memory = MemoryStore()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let settings = LegacyAuthSettings {
                $0.keychain = VaultProvider { () throws(StoreError) in memory }
                $0.lockFile = directory.file("lock")
            }
            let core = FRCoreProcess()
            try await FRCoreProcess.$current.withValue(core) {
                try await FRAuthProcess.$current.withValue(FRAuthProcess(settings, core: core)) {
                    for canPin in [true, false] {
                        let transport = ScriptedTransport(canPin: canPin) { _ in HTTPResponse(status: 200) }
                        FRAuth.setTransport(transport)
                        for hashes in [nil, ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="], []] as [[String]?] {
                            let options = FROptions(url: "https://am.example.test/am", realm: "alpha")
                            options.sslPinningPublicKeyHashes = hashes
                            try FRAuth.start(options: options)
                            let isDone = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
                                RestClient.shared.invoke(request: Request(url: "https://any.example.test", method: .GET)) {
                                    if case .success = $0 { done.resume(returning: true) } else { done.resume(returning: false) }
                                }
                            }
                            // A transport that can't check keys sends no request that has some.
                            let isPinned = hashes?.isEmpty == false
                            #expect(isDone == (canPin || !isPinned))
                        }
                        #expect(transport.requests.map(\.pins.count) == (canPin ? [0, 1, 0] : [0, 0]))
                    }
                }
            }
        }
    }

    @Test("Plain http is refused with the name of the setting, which allows hosts by name")
    func allowsPlainHTTPByName() async throws {
        let memory = MemoryStore()
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let settings = LegacyAuthSettings {
                $0.transport = ScriptedTransport { _ in HTTPResponse(status: 500) }
                $0.keychain = VaultProvider { () throws(StoreError) in memory }
                $0.lockFile = directory.file("lock")
            }
            try FRAuthProcess.$current.withValue(FRAuthProcess(settings, core: FRCoreProcess())) {
                let options = FROptions(url: "http://am.example.test/am", realm: "alpha")
                let error = #expect(throws: ConfigError.self) { try FRAuth.start(options: options) }
                #expect(error?.description.contains("FRAuth.allowPlainHTTP(to:)") == true)
                FRAuth.allowPlainHTTP(to: ["other.example.test"])
                #expect(throws: ConfigError.self) { try FRAuth.start(options: options) }
                FRAuth.allowPlainHTTP(to: ["am.example.test"])
                try FRAuth.start(options: options)
                #expect(FRAuth.shared?.options == options)
                FRAuth.shared = nil
                #expect(FRAuth.shared == nil)
            }
        }
    }
}

@Suite("Start of the SDK by FRAuth.start")
struct StartTests {
    private func with(folders: [String] = [], _ body: () async throws -> Void) async throws {
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let memory = MemoryStore()
            let settings = LegacyAuthSettings {
                $0.folders = folders
                $0.transport = ScriptedTransport { _ in HTTPResponse(status: 500) }
                $0.keychain = VaultProvider { () throws(StoreError) in memory }
                $0.lockFile = directory.file("lock")
            }
            try await FRAuthProcess.$current.withValue(FRAuthProcess(settings, core: FRCoreProcess())) { try await body() }
        }
    }

    private static var options: FROptions { FROptions(url: "https://am.example.test/am", realm: "alpha") }

    @Test("FRAuth.start with invalid settings fails and keeps the earlier settings")
    func keepsSettingsAfterInvalidStart() async throws {
        try await with {
            #expect(FRAuth.shared == nil)
            try FRAuth.start(options: Self.options)
            let broken = Self.options
            broken.url = "http://am.example.test/am"
            #expect(throws: ConfigError.self) { try FRAuth.start(options: broken) }
            #expect(FRAuth.shared?.options == Self.options)
        }
    }

    @Test("FRAuth.start reads FRAuthConfig.plist, or FRAuthConfig.json where there is no property list")
    func readsPropertyListOrJSON() async throws {
        try await TemporaryDirectory.with { directory in
            try await with(folders: [directory.path]) {
                #expect(throws: ConfigError.emptyConfiguration) { try FRAuth.start() }
                let json = #"{"forgerock_url":"https://json.example.test/am","forgerock_realm":"alpha","forgerock_timeout":12}"#
                try Data(json.utf8).write(to: URL(filePath: directory.file("FRAuthConfig.json")))
                try FRAuth.start()
                #expect(FRAuth.shared?.options?.url == "https://json.example.test/am")
                #expect(FRAuth.shared?.options?.timeout == "12")
                let plist: [String: Any] = [
                    "forgerock_url": "https://plist.example.test/am", "forgerock_realm": "", "forgerock_enable_cookie": false,
                    "forgerock_ssl_pinning_public_key_hashes": ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
                ]
                let bytes = try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
                try bytes.write(to: URL(filePath: directory.file("FRAuthConfig.plist")))
                try FRAuth.start()
                let options = try #require(FRAuth.shared?.options)
                #expect(options.url == "https://plist.example.test/am" && !options.enableCookie)
                #expect(options.sslPinningPublicKeyHashes?.count == 1)
                FRAuth.configPlistFileName = "Other"
                #expect(throws: ConfigError.emptyConfiguration) { try FRAuth.start() }
            }
        }
    }

    @Test(
        "FRAuth.start with an invalid configuration file fails with an error that names the fault",
        arguments: [
            ("FRAuthConfig.json", "{", "not JSON"), ("FRAuthConfig.plist", "<plist>", "not a property list"),
            ("FRAuthConfig.json", "[]", "not a dictionary"), ("FRAuthConfig.json", #"{"forgerock_url":[]}"#, "forgerock_url"),
            ("FRAuthConfig.json", #"{"forgerock_enable_cookie":"yes"}"#, "forgerock_enable_cookie"),
            ("FRAuthConfig.json", #"{"forgerock_ssl_pinning_public_key_hashes":"x"}"#, "hashes"),
        ])
    func reportsInvalidConfigurationFile(name: String, content: String, words: String) async throws {
        try await TemporaryDirectory.with { directory in
            try await with(folders: [directory.path]) {
                try Data(content.utf8).write(to: URL(filePath: directory.file(name)))
                #expect { try FRAuth.start() } throws: { ($0 as? ConfigError)?.description.contains(words) ?? false }
            }
        }
    }
}
