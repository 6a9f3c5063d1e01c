import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("A token source")
struct TokenSourceTests {
    @Test("A valid token is returned at once, without a new task and without waiting")
    func returnsValidTokenAtOnce() async throws {
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(left: 3600)) {
            (fixture: TokenSourceFixture) async throws in
            let token = try await fixture.tokens.token()
            guard #available(macOS 26, iOS 26, *) else { return }
            let answered = Mutex<AccessToken?>(nil)
            // The call runs up to its first suspension here.
            let task = Task.immediate {
                let token = try await fixture.tokens.token()
                answered.withLock { $0 = token }
            }
            let answer = answered.withLock { $0 }
            #expect(answer == token)
            try await task.value
            #expect(fixture.provider.now.counts.isEmpty)
        }
    }

    @Test("A session is exchanged for tokens once, and later calls return the token from memory")
    func exchangesSessionOnce() async throws {
        try await TokenSourceFixture.with { fixture in
            let token = try await fixture.tokens.token()
            #expect(token.text.hasPrefix("access-") && token.refreshToken != nil && token.idToken != nil)
            #expect(try await fixture.tokens.token() == token)
            #expect(fixture.provider.count("authorize") == 1 && fixture.provider.count("token") == 1)
            let stored = try await fixture.store.token()
            #expect(stored == token)
            let query = FormCoding.decode(fixture.provider.now.bodies["authorize-query"]?.first ?? "")
            #expect(query["code_challenge_method"] == "S256" && query["nonce"]?.count == 43 && query["response_type"] == "code")
        }
    }

    @Test("Endpoints that the app does not set are taken from the server's discovery document")
    func discoversEndpoints() async throws {
        try await TokenSourceFixture.with(endpoints: .from { OAuthEndpoints(discovery: $0.discoveryAddress) }) { fixture in
            _ = try await fixture.tokens.token()
            #expect(fixture.provider.count("discovery") == 1)
        }
    }

    @Test("A token is renewed within the threshold, and the old refresh token is kept if no new one comes")
    func renewsWithinThreshold() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 100),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.isRotating = false
            }
        ) { fixture in
            #expect(try await fixture.tokens.token().text == "access-old")
            fixture.clock.advance(by: 30)
            #expect(try await fixture.tokens.token().text == "access-old")
            fixture.clock.advance(by: 20)
            let new = try await fixture.tokens.token()
            #expect(new.text != "access-old" && new.refreshToken == Secret("refresh-old".utf8))
            #expect(try await fixture.store.token() == new)
            #expect(fixture.provider.count("token") == 1 && fixture.provider.count("authorize") == 0)
            let form = FormCoding.decode(fixture.provider.now.bodies["token"]?.first ?? "")
            #expect(form == ["grant_type": "refresh_token", "refresh_token": "refresh-old", "client_id": "app"])
        }
    }

    @Test("A token whose lifetime is below the threshold is renewed after half of its lifetime")
    func renewsShortLivedToken() async throws {
        try await TokenSourceFixture.with(.set { $0.lifetime = 30 }) { fixture in
            let token = try await fixture.tokens.token()
            let other = TokenSource(
                fixture.provider.endpoints(), client: TokenSourceFixture.client, store: fixture.store,
                transport: fixture.transport,
                clock: fixture.clock)
            for _ in 0..<3 {
                #expect(try await fixture.tokens.token() == token)
                #expect(try await other.token() == token)
            }
            fixture.clock.advance(by: 14)
            #expect(try await fixture.tokens.token() == token)
            fixture.clock.advance(by: 2)
            #expect(try await fixture.tokens.token() != token)
            #expect(fixture.provider.count("token") == 2)
        }
    }

    @Test("A token is stored before it is returned")
    func storesTokenBeforeReturning() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await TokenSourceFixture.with(store: store) { fixture in
            storage.refuses.turnOn()
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .storage)
            storage.refuses.turnOff()
            let token = try await fixture.tokens.token()
            #expect(try await fixture.store.token() == token)
        }
    }

    @Test("A hundred concurrent calls cause one request and return the same token", arguments: [true, false])
    func concurrentCallsShareRequest(byRefresh: Bool) async throws {
        try await TokenSourceFixture.with(
            token: byRefresh ? TokenSourceFixture.old() : nil,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.delay = 0.2
            }
        ) { fixture in
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await fixture.tokens.token().text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && fixture.provider.count("token") == 1)
            #expect(fixture.provider.count("authorize") == (byRefresh ? 0 : 1) && fixture.provider.now.reuses == 0)
        }
    }

    @Test("A canceled caller stops waiting, and the request continues for the others")
    func canceledCallerStopsWaiting() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.delay = 0.3
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let canceled = Task { await outcome { try await fixture.tokens.token() } }
            let waiting = Task { await outcome { try await fixture.tokens.token() } }
            let isAsked = try await eventually { fixture.provider.count("token") > 0 }
            #expect(isAsked)
            canceled.cancel()
            #expect(await canceled.value.tokenError?.code == .cancelled)
            #expect((try? await waiting.value.get())?.text.hasPrefix("access-") == true)
            #expect(fixture.provider.count("token") == 1)
        }
    }

    @Test("Two token sources over the same store in one process agree")
    func twoSourcesAgree() async throws {
        try await TemporaryDirectory.with { directory in
            let storages = (MemoryStorage<AccessToken>(), MemoryStorage<SSOToken>(), MemoryStorage<CookieJar>())
            func store() throws -> SessionStore {
                try SessionStore(tokens: storages.0, session: storages.1, cookies: storages.2, lockFile: directory.file("lock"))
            }
            try await TokenSourceFixture.with(
                token: TokenSourceFixture.old(), store: try store(),
                .set {
                    TokenSourceFixture.addOldToken(&$0)
                    $0.delay = 0.1
                }
            ) { fixture in
                let other = TokenSource(
                    fixture.provider.endpoints(), client: TokenSourceFixture.client, store: try store(),
                    transport: fixture.transport,
                    clock: fixture.clock)
                async let first = fixture.tokens.token()
                async let second = other.token()
                #expect(try await first == second)
                #expect(fixture.provider.count("token") == 1)
                // After one source removes a token, the other no longer returns it from memory.
                _ = await fixture.tokens.logOut()
                let outcome = await outcome { try await other.token() }
                #expect(outcome.tokenError?.code == .loginRequired)
            }
        }
    }

    @Test("A removed token is not returned, even without a lock file that counts the changes")
    func removedTokenIsNotReturned() async throws {
        try await TokenSourceFixture.with { fixture in
            let other = TokenSource(
                fixture.provider.endpoints(), client: TokenSourceFixture.client, store: fixture.store,
                transport: fixture.transport,
                clock: fixture.clock)
            let token = try await fixture.tokens.token()
            #expect(try await other.token() == token)
            _ = await fixture.tokens.logOut()
            let error = await outcome { try await other.token() }.tokenError
            #expect(error?.code == .loginRequired)
        }
    }

    @Test("A token read before a logout and returned after it is not kept in memory")
    func forgetsTokenReadBeforeLogout() async throws {
        let session = GatedStorage(TokenSourceFixture.session)
        let store = try SessionStore(
            tokens: MemoryStorage<AccessToken>(), session: session, cookies: MemoryStorage<CookieJar>())
        try await TokenSourceFixture.with(session: nil, token: TokenSourceFixture.old(left: 3600), store: store) {
            (fixture: TokenSourceFixture) async throws in
            let early = Task { await outcome { try await fixture.tokens.token() } }
            // The token has been read; the session is read next.
            await session.arrival()
            _ = await fixture.tokens.logOut()
            session.open()
            #expect(try await early.value.get().text == "access-old")
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
        }
    }

    /// A storage that holds its first reader.
    private final class GatedStorage: Storage, Sendable {
        private let inner = MemoryStorage<SSOToken>()
        private let first: SSOToken
        private let reads = Counter()
        private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        private let (opening, opened) = AsyncStream.makeStream(of: Void.self)

        init(_ first: SSOToken) { self.first = first }

        func arrival() async { for await _ in arrivals { return } }
        func open() { opened.finish() }

        func get() async throws -> SSOToken? {
            guard reads.add() == 1 else { return try await inner.get() }
            arrived.yield()
            for await _ in opening {}
            return first
        }

        func save(item: sending SSOToken) async throws { try await inner.save(item: item) }
        func delete() async throws { try await inner.delete() }
    }

    @Test("The session is used if the refresh token is missing, ended, or refused without a reason")
    func fallsBackToSession() async throws {
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(refreshToken: nil)) { fixture in
            _ = try await fixture.tokens.token()
            #expect(fixture.provider.count("authorize") == 1)
        }
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(refreshToken: "unknown")) { fixture in
            _ = try await fixture.tokens.token()
            #expect(fixture.provider.count("authorize") == 1)
        }
    }

    @Test(
        "When the grant has ended, the access token is revoked unless it has expired, and the refresh token is not sent again",
        arguments: [TokenSourceFixture.session, nil], [30, -10] as [TimeInterval])
    func revokesAccessTokenOfEndedGrant(session: SSOToken?, left: TimeInterval) async throws {
        try await TokenSourceFixture.with(
            session: session, token: TokenSourceFixture.old(left: left, refreshToken: "unknown", session: session)
        ) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect((try? outcome.get()) != nil || session == nil && outcome.tokenError?.code == .loginRequired)
            #expect(fixture.provider.now.revoked == (left > 0 ? ["access-old"] : []))
            #expect(fixture.provider.now.bodies["revoke"]?.joined().contains("unknown") != true)
        }
    }

    @Test(
        "A server that issues the same access token again is asked once, and the token is not revoked", arguments: [true, false])
    func acceptsSameTokenAgain(byRefresh: Bool) async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600, refreshToken: byRefresh ? "refresh-old" : "unknown"),
            client: OAuthClient(clientID: "app", redirectURI: TokenSourceFixture.client.redirectURI, scopes: ["read"]),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                // The first access token has the number 1, or 3 after a code and a family.
                $0.changes["token"] = { $0.replacing(byRefresh ? "access-1" : "access-3", with: "access-old") }
            }
        ) { fixture in
            let token = try await fixture.tokens.refresh()
            #expect(token.text == "access-old" && token.refreshToken?.text != "refresh-old")
            #expect(try await fixture.store.token() == token)
            #expect(fixture.provider.count("token") == (byRefresh ? 1 : 2) && fixture.provider.now.revoked.isEmpty)
        }
    }

    @Test("A login is required when nothing valid is left, and what has ended is removed")
    func reportsRequiredLogin() async throws {
        for old in [
            TokenSourceFixture.old(refreshToken: "unknown", session: nil),
            TokenSourceFixture.old(refreshToken: nil, session: nil),
        ] {
            try await TokenSourceFixture.with(session: nil, token: old) { (fixture: TokenSourceFixture) async throws in
                let outcome = await outcome { try await fixture.tokens.token() }
                #expect(outcome.tokenError?.code == .loginRequired && outcome.tokenError?.isRetryable == false)
                #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
            }
        }
        try await TokenSourceFixture.with(session: nil) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .loginRequired && fixture.provider.now.counts.isEmpty)
        }
    }

    @Test("An empty session in an app's own storage counts as absent, and nothing is sent")
    func ignoresEmptySession() async throws {
        let store = try SessionStore(
            tokens: MemoryStorage<AccessToken>(), session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await TokenSourceFixture.with(session: SSOToken(value: Secret([])), store: store) {
            (fixture: TokenSourceFixture) async throws in
            #expect(try await fixture.tokens.session() == nil)
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
            #expect(await fixture.tokens.logOut().session == .notNeeded)
            #expect(fixture.provider.now.counts.isEmpty)
        }
    }

    @Test("A session is removed only when the server says that it has ended")
    func removesOnlyEndedSession() async throws {
        try await TokenSourceFixture.with(session: SSOToken(value: Secret("sso-gone".utf8)), token: nil) {
            (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .loginRequired)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
        }
        // A login page alone does not say so: the session's own address reports a valid session here.
        try await TokenSourceFixture.with(.set { $0.faults["authorize"] = .status(302, ["Location: /login"], "") }) {
            (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .interactionRequired)
            #expect(try await fixture.store.session() == TokenSourceFixture.session)
        }
    }

    @Test(
        "A requirement of the server that another login cannot meet is reported as such",
        arguments: ["consent_required", "interaction_required", "login_required"])
    func reportsRequirementThatLoginCannotMeet(error: String) async throws {
        try await TokenSourceFixture.with(.set { $0.authorizeError = error }) { (fixture: TokenSourceFixture) async throws in
            let failure = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(failure?.code == .interactionRequired && failure?.isRetryable == false)
            guard case .server(let oauthError) = failure?.cause else { throw TokenError(.refused) }
            #expect(oauthError.code.rawValue == error)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: TokenSourceFixture.session))
        }
        // A token that has not expired is still used.
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 30, refreshToken: nil), .set { $0.authorizeError = error }
        ) {
            (fixture: TokenSourceFixture) async throws in
            #expect(try await fixture.tokens.token().text == "access-old")
        }
    }

    @Test("A valid token is still used when the server shows a login page, and the session is not reported as ended")
    func usesTokenDespiteLoginPage() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 30, refreshToken: nil),
            .set { $0.faults["authorize"] = .status(302, ["Location: /login"], "") }
        ) { (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            for _ in 0..<3 { #expect(try await fixture.tokens.token().text == "access-old") }
            #expect(fixture.provider.count("authorize") == 1 && fixture.provider.count("sessions") == 1)
            // A requested replacement or an expired token causes the error.
            let refreshError = await outcome { try await fixture.tokens.refresh() }.tokenError
            #expect(refreshError?.code == .interactionRequired)
            fixture.clock.advance(by: 31)
            let endedError = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(endedError?.code == .interactionRequired)
            #expect(try await fixture.stored() == before)
        }
    }

    @Test("Tokens of another session are revoked and replaced")
    func replacesTokensOfOtherSession() async throws {
        let other = SSOToken(value: Secret("sso-2".utf8))
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600, session: other), .set { TokenSourceFixture.addOldToken(&$0) }
        ) { fixture in
            let token = try await fixture.tokens.token()
            #expect(token.text != "access-old")
            #expect(fixture.provider.now.revoked == ["refresh-old"])
        }
    }

    @Test("Tokens of a session that is no longer stored are revoked and removed")
    func removesTokensOfGoneSession() async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600), .set { TokenSourceFixture.addOldToken(&$0) }
        ) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
            #expect(try await fixture.store.token() == nil && fixture.provider.now.revoked == ["refresh-old"])
        }
    }

    @Test("A failure to revoke orphaned tokens is reported once, and the next call gets new tokens", arguments: [true, false])
    func reportsUnrevokedTokensOnce(isOffered: Bool) async throws {
        let addresses = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            if !isOffered { endpoints.revoke = nil }
            return endpoints
        }
        let other = SSOToken(value: Secret("sso-2".utf8))
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600, session: other), endpoints: addresses,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.faults["revoke"] = .busy
            }
        ) { (fixture: TokenSourceFixture) async throws in
            if isOffered {
                let failure = await outcome { try await fixture.tokens.token() }.tokenError
                #expect(failure?.code == .unreachable && failure?.retryAfter == .seconds(7))
                #expect(
                    try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: TokenSourceFixture.session))
            }
            #expect(try await fixture.tokens.token().text != "access-old")
            #expect(fixture.provider.count("revoke") == (isOffered ? 1 : 0))
        }
    }

    @Test("Other callers can proceed while orphaned tokens are revoked")
    func revocationDoesNotBlockOthers() async throws {
        let store = try SessionStore.memory()
        let network = AsyncHTTPTransport()
        let turns = Counter()
        let transport = ScriptedTransport { (request) throws(TransportError) in
            if request.url.hasSuffix("/revoke") {
                // A change of the stored data takes the lock.
                let other = TokenSource(OAuthEndpoints(), client: TokenSourceFixture.client, store: store, transport: network)
                Task {
                    _ = try await other.adopt(SSOToken(value: Secret("".utf8)))
                    turns.add()
                }
                _ = try? await eventually(within: .seconds(20)) { turns.count == 1 }
                #expect(turns.count == 1)
            }
            return try await network.send(request)
        }
        try await network.use { (_: AsyncHTTPTransport) async throws in
            let other = SSOToken(value: Secret("sso-2".utf8))
            try await TokenSourceFixture.with(
                token: TokenSourceFixture.old(left: 3600, session: other), store: store, transport: transport,
                .set { TokenSourceFixture.addOldToken(&$0) }
            ) { (fixture: TokenSourceFixture) async throws in
                #expect(try await fixture.tokens.token().text != "access-old")
                #expect(fixture.provider.now.revoked == ["refresh-old"])
            }
        }
    }

    @Test("A valid token is still used after a failed renewal, which is tried again later")
    func usesTokenAfterFailedRenewal() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 30),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.faults["token"] = .busy
            }
        ) { fixture in
            for _ in 0..<5 { #expect(try await fixture.tokens.token().text == "access-old") }
            #expect(fixture.provider.count("token") == 1)
            fixture.clock.advance(by: 8)
            _ = try await fixture.tokens.token()
            // The refresh token may have been used: the session is asked, and the token endpoint fails again.
            #expect(fixture.provider.count("token") == 2)
            fixture.provider.change { $0.faults = [:] }
            fixture.clock.advance(by: 8)
            #expect(try await fixture.tokens.token().text != "access-old")
            #expect(fixture.provider.now.reuses == 0)
        }
    }

    @Test("A token that a server refused is replaced once for all callers that use it")
    func replacesRefusedTokenOnce() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.delay = 0.1
            }
        ) { fixture in
            let old = try await fixture.tokens.token()
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await fixture.tokens.renewed(insteadOf: old).text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && fixture.provider.count("token") == 1)
            #expect(try await fixture.tokens.renewed(insteadOf: old).text == texts.first)
            let forced = try await fixture.tokens.refresh()
            #expect(!texts.contains(forced.text) && fixture.provider.count("token") == 2)
        }
    }

    @Test(
        "An invalid ID token causes an error, and its tokens are not kept",
        arguments: ["aud", "iss", "exp", "nonce", "at_hash", "sub"])
    func refusesInvalidIDToken(claim: String) async throws {
        let wrong: JSONValue = claim == "exp" ? .integer(1) : .string("wrong")
        let changes = claim == "sub" ? ["sub": JSONValue.null] : [claim: wrong]
        try await TokenSourceFixture.with(.set { $0.claims = changes }) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .idTokenRefused)
            #expect(try await fixture.store.token() == nil)
            #expect(try await fixture.store.session() == TokenSourceFixture.session)
            #expect(fixture.provider.now.accessTokens.isEmpty, "a token is still valid at the server")
        }
    }

    @Test("A missing ID token is refused if it was granted")
    func requiresGrantedIDToken() async throws {
        try await TokenSourceFixture.with(.set { $0.omitsIDToken = true }) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.cause == .idToken(IDTokenError(.form)))
        }
    }

    @Test(
        "The old ID token is kept while a new one cannot be verified; the refresh fails if it never can be",
        arguments: [(TestProvider.Fault.busy, true), (.cut, true), (.status(404, [], ""), false)])
    func keepsOldIDTokenWhileUnverifiable(fault: TestProvider.Fault, isTaken: Bool) async throws {
        let old = TokenSourceFixture.old(session: nil, idToken: "e30.eyJzdWIiOiJhbGljZSJ9.e30")
        try await TokenSourceFixture.with(
            session: nil, token: old,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.faults["jwks"] = fault
                $0.refreshScope = "openid read"
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(((try? outcome.get()) != nil) == isTaken)
            #expect(try await fixture.store.token()?.idToken == old.idToken)
            // The refresh token was not used up in vain.
            #expect(fixture.provider.count("token") == (isTaken ? 1 : 0))
            fixture.provider.change { $0.faults = [:] }
            let new = try await fixture.tokens.refresh()
            #expect(new.idToken != old.idToken && new.idToken != nil)
        }
    }

    @Test(
        "A login does not end because the keys for a new ID token cannot be fetched after the refresh",
        arguments: [
            TestProvider.Fault.busy, .cut, .status(404, [], ""), .status(403, ["Content-Type: text/html"], "<html>"), .halfJSON,
        ])
    func keepsLoginWithoutNewKeys(fault: TestProvider.Fault) async throws {
        try await TokenSourceFixture.with(.set { $0.refreshScope = "openid read" }) {
            (fixture: TokenSourceFixture) async throws in
            let old = try await fixture.tokens.token()
            let idToken = try await fixture.store.token()?.idToken
            fixture.provider.change {
                $0.key = P256.Signing.PrivateKey()
                $0.faults["jwks"] = fault
            }
            let new = try await fixture.tokens.refresh()
            #expect(new.value != old.value)
            #expect(try await fixture.store.token()?.idToken == idToken)
            #expect(fixture.provider.now.revoked.isEmpty)
        }
    }

    @Test("A refreshed ID token is refused if there are no keys to verify it")
    func refusesRefreshedIDTokenWithoutKeys() async throws {
        let keyless = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.jwks = nil
            return endpoints
        }
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(session: nil), endpoints: keyless,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.refreshScope = "openid read"
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired && error?.cause == .idToken(IDTokenError(.keys)))
            #expect(try await fixture.store.token() == nil && fixture.provider.now.revoked == ["refresh-2"])
        }
    }

    @Test("A code is not used as long as the server's keys are not available")
    func waitsForKeysBeforeUsingCode() async throws {
        try await TokenSourceFixture.with(.set { $0.faults["jwks"] = .busy }) { (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.isRetryable == true)
            #expect(fixture.provider.count("token") == 0)
        }
    }

    @Test(
        "The server's time is used to check an ID token, so that a local clock that is wrong by hours causes no refusal",
        arguments: [
            (true, -50_400, nil), (true, 50_400, nil), (true, -86_400, .notYetValid), (true, 86_400, .expired),
            (false, -7200, .notYetValid), (false, 7200, .expired),
        ] as [(Bool, TimeInterval, IDTokenError.Code?)])
    func usesServerTime(sendsDate: Bool, offset: TimeInterval, code: IDTokenError.Code?) async throws {
        try await TokenSourceFixture.with(.set { $0.sendsDate = sendsDate }) { (fixture: TokenSourceFixture) async throws in
            fixture.clock.advance(by: offset)
            let outcome = await outcome { try await fixture.tokens.token() }
            let cause = code.map { TokenError.Cause.idToken(IDTokenError($0)) }
            #expect(outcome.tokenError?.cause == cause)
        }
    }

    @Test(
        "At a refresh, a local clock that is wrong by a day keeps the login and the previous ID token",
        arguments: [-86_400, 86_400] as [TimeInterval])
    func keepsLoginDespiteWrongClock(offset: TimeInterval) async throws {
        try await TokenSourceFixture.with(
            .set {
                $0.sendsDate = true
                $0.refreshScope = "openid read"
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let first = try await fixture.tokens.token()
            fixture.clock.advance(by: offset)
            let second = try await fixture.tokens.refresh()
            #expect(second.value != first.value && second.idToken == first.idToken && first.idToken != nil)
            let stored = try await fixture.store.token()
            #expect(stored == second && fixture.provider.now.revoked.isEmpty)
            // An ID token about another user is refused in any case.
            fixture.provider.change { $0.claims = ["sub": .string("mallory")] }
            let error = await outcome { try await fixture.tokens.refresh() }.tokenError
            #expect(error?.code == .loginRequired && error?.idTokenError == .subject)
        }
    }

    @Test("Keys that were replaced under their old id are loaded again")
    func reloadsReplacedKeys() async throws {
        try await TokenSourceFixture.with { fixture in
            _ = try await fixture.tokens.token()
            try await fixture.tokens.revoke()
            fixture.provider.change { $0.key = P256.Signing.PrivateKey() }
            _ = try await fixture.tokens.token()
            #expect(fixture.provider.count("jwks") == 2)
        }
    }

    @Test(
        "A response with a wrong state, a wrong issuer, no code or an error is refused",
        arguments: [
            (["state": "x"], OAuthError.Code.stateMismatch), (["state": ""], .stateMismatch),
            (["iss": "https://evil.example.com"], .issuerMismatch), (["code": ""], .noCode),
            (["error": "access_denied"], .accessDenied), (["error": "access_denied", "state": "x"], .stateMismatch),
        ])
    func refusesInvalidAuthorizationResponse(changes: [String: String], code: OAuthError.Code) async throws {
        try await TokenSourceFixture.with(.set { $0.authorizeChanges = changes }) { (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            guard case .server(let oauthError) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(oauthError.code == code && error?.code == .refused)
            #expect(try await fixture.store.session() == TokenSourceFixture.session && fixture.provider.count("token") == 0)
        }
    }

    @Test("The server's cookies are kept and sent back")
    func keepsServerCookies() async throws {
        try await TokenSourceFixture.with(.set { $0.cookies = ["amlbcookie=01; Path=/"] }) { fixture in
            _ = try await fixture.tokens.token()
            #expect(try await fixture.store.cookies().cookies.map(\.name) == ["amlbcookie"])
            try await fixture.tokens.revoke()
            _ = try await fixture.tokens.token()
            // The provider reads names in lower case.
            #expect(
                fixture.provider.now.cookieHeaders["authorize"]
                    == ["iplanetdirectorypro=sso-1", "iplanetdirectorypro=sso-1; amlbcookie=01"])
        }
    }

    @Test("A secret is not sent over plain http to another machine")
    func sendsNoSecretOverPlainHTTP() async throws {
        try await TokenSourceFixture.with(
            endpoints: .from { _ in OAuthEndpoints(authorize: "http://am.example.com/authorize", issuer: "x") }
        ) { (fixture: TokenSourceFixture) async throws in
            let outcome = await outcome { try await fixture.tokens.token() }
            #expect(outcome.tokenError?.code == .notConfigured)
        }
    }

    @Test("A token can be read without a network by a reader that sends no requests")
    func readsTokenOffline() async throws {
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(left: 5, idToken: "e30.eyJzdWIiOiJhbGljZSJ9.e30")) {
            (fixture: TokenSourceFixture) async throws in
            let reader = TokenReader(fixture.store, clock: fixture.clock)
            #expect(try await reader.token()?.text == "access-old")
            #expect(try await reader.identity() == ["sub": .string("alice")])
            fixture.clock.advance(by: 10)
            #expect(try await reader.token() == nil)
            #expect(try await reader.storedToken()?.text == "access-old")
            #expect(try await reader.session() == TokenSourceFixture.session && fixture.provider.now.counts.isEmpty)
        }
    }
}
