import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import Testing

import class FRAuth.AccessToken
import class SignetOAuth.SessionStore

@Suite("Login, tokens and logout of FRUser")
struct UserTests {
    @Test("A user logs in, reads the user info, renews the token and logs out locally and at the server")
    func completesLifeOfUser() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                let token = try #require(user.token)
                #expect(token.scope == "openid profile email address" && token.tokenType == "Bearer" && !token.isExpired)
                #expect(token.expiresIn == 3600 && token.refreshToken != nil && token.idToken != nil)
                #expect(token.expiration.timeIntervalSince(token.authenticatedTimestamp) == 3600)
                #expect(token.sessionToken == FRSession.currentSession?.sessionToken?.value)
                #expect(user.buildAuthHeader() == "Bearer \(token.value.text)")
                #expect(!"\(token)".contains(token.value.text))

                let info = try await user.getUserInfo()
                #expect(info.sub?.isEmpty == false && info.name == "Demo Person" && info.userInfo["sub"] as? String == info.sub)

                try await user.refresh()
                let renewed = try #require(user.token)
                #expect(renewed.value != token.value && renewed.refreshToken != nil)
                try await user.getAccessToken()
                #expect(user.token == renewed)

                let session = try #require(FRSession.currentSession?.sessionToken)
                let leaving = user.logout()
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil && user.token == nil)
                #expect(await leaving.value.isComplete)
                #expect(try await !fixture.takes(renewed))
                #expect(try await !fixture.knows(session))
            }
        }
    }

    @Test("FRUser sends the ForgeRock SDK's requests under the SDK's action names")
    func sendsRequestsOfForgeRockSDK() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                _ = try await user.getUserInfo()
                _ = await user.logout().value
            }
            let names = fixture.requests.names.filter { !["WELL_KNOWN", "KEYS"].contains($0) }
            #expect(names.prefix(5) == ["START_AUTHENTICATE", "AUTHENTICATE", "AUTHORIZE", "EXCHANGE_TOKEN", "USER_INFO"])
            #expect(names.dropFirst(5).sorted() == ["LOGOUT", "REVOKE_TOKEN"])
        }
    }

    @Test("FRUser's completion handlers are called once, and its synchronous calls return on a thread")
    func callsCompletionHandlersOnce() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                func result<Value: Sendable>(
                    _ ask: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
                ) async throws -> Value {
                    try await withCheckedThrowingContinuation { done in
                        ask { value, error in done.resume(with: value.map { .success($0) } ?? .failure(error ?? Unexpected())) }
                    }
                }
                let first = user.token
                _ = try await result { user.getAccessToken(completion: $0) }
                #expect(user.token == first)
                _ = try await result { user.refresh(completion: $0) }
                #expect(user.token != first)
                let info: UserInfo = try await result { user.getUserInfo(completion: $0) }
                #expect(info.name == "Demo Person")

                let second = user.token
                let isTheSame = try await onThread { try user.getAccessToken().token == second }
                #expect(isTheSame)
                let isAnother = try await onThread { try user.refreshSync().token != second }
                #expect(isAnother)

                _ = try await result { user.revokeAccessToken(completion: $0) } as FRUser
                #expect(user.token == nil && FRSession.currentSession != nil)
                await #expect(throws: TokenError.nullToken) { try await user.refresh() }
            }
        }
    }

    /// Runs `body` on a thread that may block.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let process = FRAuthProcess.current
        return try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread {
                FRAuthProcess.$current.withValue(process) { done.resume(with: Swift.Result(catching: body)) }
            }
        }
    }

    @Test("FRUser.login and register run the configured journeys, and fail for a logged-in user")
    func rejectsSecondLogin() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await withCheckedThrowingContinuation { (done: CheckedContinuation<FRUser, any Error>) in
                    FRUser.login { (_: FRUser?, node, error) in
                        guard let node else { return done.resume(throwing: error ?? Unexpected()) }
                        fill(node)
                        node.next { (user: FRUser?, _, error) in
                            done.resume(with: user.map { .success($0) } ?? .failure(error ?? Unexpected()))
                        }
                    }
                }
                #expect(user.token != nil)
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { _ = try await FRUser.login() }
                try await user.revokeAccessToken()
                await #expect(throws: AuthError.userAlreadyAuthenticated(false)) { _ = try await FRUser.register() }
                let error = await withCheckedContinuation { (done: CheckedContinuation<(any Error)?, Never>) in
                    FRUser.register { (_: FRUser?, _, error) in done.resume(returning: error) }
                }
                #expect((error as? AuthError)?.code == 1_000_020)
                // A journey can begin as soon as the logout is requested, before the server has answered it.
                user.logout()
                _ = try? await FRUser.register()
                #expect(fixture.requests.last("START_AUTHENTICATE")?.urlParams["authIndexValue"] == "Register")
            }
        }
    }

    @Test("A journey returns the type that the caller asks for: a session or an access token")
    func returnsRequestedType() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let token = try await logInForSession()
                #expect(FRSession.currentSession?.sessionToken == token)
                #expect(FRUser.currentUser?.token == nil && FRUser.currentUser != nil)
                _ = await FRSession.currentSession?.logout().value
                #expect(try await !fixture.knows(token))
                guard case .node(let node) = try await FRSession.authenticate(AccessToken.self, authIndexValue: "Login") else {
                    throw Unexpected()
                }
                fill(node)
                guard case .success(let access?) = try await node.next(AccessToken.self) else { throw Unexpected() }
                #expect(try await fixture.takes(access))
            }
        }
    }

    @Test("Without an OAuth 2.0 client FRUser has no tokens, and an incomplete client names the missing setting")
    func logsInWithoutOAuthClient() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                try FRAuth.start(options: FROptions(url: fixture.url, realm: "alpha"))
                let token = try await logInForSession()
                let user = try #require(FRUser.currentUser)
                await #expect(throws: ConfigError.invalidSDKState) { try await user.getAccessToken() }
                _ = await user.logout().value
                #expect(try await !fixture.knows(token))
                guard case .node(let node) = try await FRSession.authenticate(AccessToken.self, authIndexValue: "Login") else {
                    throw Unexpected()
                }
                fill(node)
                await #expect(throws: AuthError.invalidOAuth2Client) { _ = try await node.next(AccessToken.self) }
                _ = await FRUser.currentUser?.logout().value
                guard case .node(let second) = try await FRSession.authenticate(FRUser.self, authIndexValue: "Login") else {
                    throw Unexpected()
                }
                fill(second)
                await #expect(throws: AuthError.invalidOAuth2Client) { _ = try await second.next(FRUser.self) }
                let half = fixture.options
                half.oauthScope = nil
                try FRAuth.start(options: half)
                #expect(FRUser.browser() == nil)
                await #expect {
                    _ = try await user.getUserInfo()
                } throws: { ($0 as? ConfigError)?.description.contains("forgerock_oauth_scope") ?? false }
            }
        }
    }

    @Test("Calls before the start, or without a logged-in user, fail with the ForgeRock SDK's errors")
    func failsWithoutUser() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                await #expect(throws: ConfigError.invalidSDKState) { _ = try await FRUser.login() }
                try FRAuth.start(options: fixture.options)
                let user = try await logIn()
                _ = await user.logout().value
                await #expect(throws: TokenError.nullToken) { try await user.refresh() }
                await #expect(throws: TokenError.nullToken) { _ = try await user.getUserInfo() }
                #expect(await user.logout().value.isComplete)
            }
        }
    }

    @Test("A session that has ended at the server is removed, and the user has to log in again")
    func removesSessionEndedAtServer() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                let session = try #require(FRSession.currentSession?.sessionToken)
                try await user.revokeAccessToken()
                // Another client ends the session.
                try await AsyncHTTPTransport().use { transport in
                    _ = try await transport.send(
                        HTTPRequest(
                            "POST", "\(fixture.url)/json/realms/root/realms/alpha/sessions?_action=logout",
                            headers: [
                                "iPlanetDirectoryPro": session.value.text, "Accept-API-Version": "resource=3.1",
                                "Content-Type": "application/json",
                            ], body: Array("{}".utf8)))
                }
                await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
                #expect(FRUser.currentUser == nil)
            }
        }
    }

    @Test("The pinned keys of the settings apply to the app's own requests to any server")
    func pinsRequestsOfApp() async throws {
        try await FRAuthFixture.with { fixture in
            let network = AsyncHTTPTransport()
            let scripted = ScriptedTransport(canPin: true) { (request) throws(TransportError) in
                request.pins.isEmpty ? try await network.send(request) : HTTPResponse(status: 200)
            }
            try await fixture.program {
                $0.transport = scripted
            } _: {
                try FRAuth.start(options: fixture.options)
                try await logIn()
                let options = fixture.options
                options.sslPinningPublicKeyHashes = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
                try FRAuth.start(options: options)
                let api = try #require(FRAuth.shared).authorizedTransport(for: [try Endpoint("https://api.example.test")])
                #expect(try await api.send(HTTPRequest("GET", "https://api.example.test/orders")).status == 200)
                let pins = scripted.requests.map(\.pins).filter { !$0.isEmpty }
                #expect(pins == [[PublicKeyPin(of: [])]])
            }
            await network.close()
        }
    }

    @Test("A logout without a network logs out locally, and reports what the server still has")
    func logsOutLocallyWithoutNetwork() async throws {
        try await FRAuthFixture.with { fixture in
            let isOffline = Mutex(false)
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                if isOffline.withLock({ $0 }) { throw TransportError(.connect, host: "am.example.test", "no route") }
                return try await network.send(request)
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try await logIn()
                let token = user.token
                isOffline.withLock { $0 = true }
                await #expect(throws: NetworkError.self) { try await user.refresh() }
                #expect(user.token == token)
                let report = await user.logout().value
                #expect(report.local == .done && !report.tokens.isOver && !report.session.isOver)
                #expect(FRUser.currentUser == nil)
            }
            await network.close()
        }
    }

    @Test("On a machine without a vault, a login makes the vault and its tokens are there after the next start")
    func keepsTokensWithoutVault() async throws {
        try await FRAuthFixture.with { fixture in
            let location = VaultDirectory(path: fixture.directory.file("home/share/signet"))
            func keychain() -> VaultProvider {
                VaultProvider { () throws(StoreError) in try FirstUseStore(location, environment: [:], protectors: []) }
            }
            let token = try await fixture.program {
                $0.keychain = keychain()
            } _: {
                try FRAuth.start(options: fixture.options)
                await FRAuth.shared?.ready()
                #expect(FRUser.currentUser == nil)
                return try await logIn().token
            }
            #expect(location.holdsVault && token != nil)
            try await fixture.program {
                $0.keychain = keychain()
            } _: {
                try FRAuth.start(options: fixture.options)
                await FRAuth.shared?.ready()
                #expect(FRUser.currentUser?.token == token)
            }
        }
    }

    @Test("An app's own store replaces the vault, and can be set only before the start")
    func replacesVaultByOwnStore() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                $0.keychain = VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open vault", "there is none") }
            } _: {
                try FRAuth.setStore(try SessionStore.memory())
                try FRAuth.start(options: fixture.options)
                await FRAuth.shared?.ready()
                #expect(FRUser.currentUser == nil)
                let user = try await logIn()
                let token = try #require(FRUser.currentUser?.token)
                try await user.refresh()
                #expect(FRUser.currentUser?.token != token && FRUser.currentUser?.token != nil)
                let store = try SessionStore.memory()
                #expect(throws: ConfigError.invalidSDKState) { try FRAuth.setStore(store) }
                let options = fixture.options
                options.oauthScope = "openid"
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil)
                #expect(await FRAuth.shared?.formerSession()?.isComplete == true)
                #expect(try await !fixture.takes(token))
            }
        }
    }
}
