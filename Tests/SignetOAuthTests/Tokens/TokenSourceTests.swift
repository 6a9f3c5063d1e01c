import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Synchronization
import Testing

@Suite("A source of tokens")
struct TokenSourceTests {
    @Test("A token that is good is answered at once: no task is made, and nothing is waited for")
    func atOnce() async throws {
        try await Bench.with(token: Bench.old(left: 3600)) { (bench: Bench) async throws in
            let token = try await bench.tokens.token()
            guard #available(macOS 26, iOS 26, *) else { return }
            let answered = Mutex<AccessToken?>(nil)
            // It runs here up to where it first waits.
            let task = Task.immediate {
                let token = try await bench.tokens.token()
                answered.withLock { $0 = token }
            }
            let answer = answered.withLock { $0 }
            #expect(answer == token)
            try await task.value
            #expect(bench.provider.now.counts.isEmpty)
        }
    }

    @Test("turns a session into tokens, once, and answers from memory afterwards")
    func session() async throws {
        try await Bench.with { bench in
            let token = try await bench.tokens.token()
            #expect(token.text.hasPrefix("access-") && token.refreshToken != nil && token.idToken != nil)
            #expect(try await bench.tokens.token() == token)
            #expect(bench.provider.count("authorize") == 1 && bench.provider.count("token") == 1)
            let stored = try await bench.store.token()
            #expect(stored == token)
            let query = FormCoding.decode(bench.provider.now.bodies["authorize-query"]?.first ?? "")
            #expect(query["code_challenge_method"] == "S256" && query["nonce"]?.count == 43 && query["response_type"] == "code")
        }
    }

    @Test("finds what the app did not say in the server's own description")
    func discovery() async throws {
        try await Bench.with(endpoints: .from { OAuthEndpoints(discovery: "\($0.url)/discovery") }) { bench in
            _ = try await bench.tokens.token()
            #expect(bench.provider.count("discovery") == 1)
        }
    }

    @Test("renews within the threshold and not before, and keeps the old refresh token where no new one comes")
    func refresh() async throws {
        try await Bench.with(
            token: Bench.old(left: 100),
            .set {
                Bench.knowsOld(&$0)
                $0.isRotating = false
            }
        ) { bench in
            #expect(try await bench.tokens.token().text == "access-old")
            bench.clock.advance(by: 30)
            #expect(try await bench.tokens.token().text == "access-old")
            bench.clock.advance(by: 20)
            let new = try await bench.tokens.token()
            #expect(new.text != "access-old" && new.refreshToken == Secret("refresh-old".utf8))
            #expect(try await bench.store.token() == new)
            #expect(bench.provider.count("token") == 1 && bench.provider.count("authorize") == 0)
            let form = FormCoding.decode(bench.provider.now.bodies["token"]?.first ?? "")
            #expect(form == ["grant_type": "refresh_token", "refresh_token": "refresh-old", "client_id": "app"])
        }
    }

    @Test("renews a token that lives no longer than the threshold when half of its life is over, and not at every call")
    func shortLife() async throws {
        try await Bench.with(.set { $0.lifetime = 30 }) { bench in
            let token = try await bench.tokens.token()
            let other = TokenSource(
                bench.provider.endpoints(), client: Bench.client, store: bench.store, transport: bench.transport,
                clock: bench.clock)
            for _ in 0..<3 {
                #expect(try await bench.tokens.token() == token)
                #expect(try await other.token() == token)
            }
            bench.clock.advance(by: 14)
            #expect(try await bench.tokens.token() == token)
            bench.clock.advance(by: 2)
            #expect(try await bench.tokens.token() != token)
            #expect(bench.provider.count("token") == 2)
        }
    }

    @Test("stores a token before anybody gets it")
    func savedFirst() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await Bench.with(store: store) { bench in
            storage.refuses.store(true, ordering: .relaxed)
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .storage)
            storage.refuses.store(false, ordering: .relaxed)
            let token = try await bench.tokens.token()
            #expect(try await bench.store.token() == token)
        }
    }

    @Test("asks once for a hundred who ask at once, and all get the same", arguments: [true, false])
    func oneFlight(byRefresh: Bool) async throws {
        try await Bench.with(
            token: byRefresh ? Bench.old() : nil,
            .set {
                Bench.knowsOld(&$0)
                $0.thought = 0.2
            }
        ) { bench in
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await bench.tokens.token().text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && bench.provider.count("token") == 1)
            #expect(bench.provider.count("authorize") == (byRefresh ? 0 : 1) && bench.provider.now.reuses == 0)
        }
    }

    @Test("lets go of who gives up, and goes on for the others")
    func cancellation() async throws {
        try await Bench.with(
            token: Bench.old(),
            .set {
                Bench.knowsOld(&$0)
                $0.thought = 0.3
            }
        ) { (bench: Bench) async throws in
            let impatient = Task { await outcome { try await bench.tokens.token() } }
            let patient = Task { await outcome { try await bench.tokens.token() } }
            while bench.provider.count("token") == 0 { try await Task.sleep(for: .milliseconds(5)) }
            impatient.cancel()
            #expect(await impatient.value.tokenError?.code == .cancelled)
            #expect((try? await patient.value.get())?.text.hasPrefix("access-") == true)
            #expect(bench.provider.count("token") == 1)
        }
    }

    @Test("is of one mind with another source over the same place, in one process")
    func twoSources() async throws {
        try await TemporaryDirectory.with { directory in
            let places = (MemoryStorage<AccessToken>(), MemoryStorage<SSOToken>(), MemoryStorage<CookieJar>())
            func store() throws -> SessionStore {
                try SessionStore(tokens: places.0, session: places.1, cookies: places.2, lockFile: directory.file("lock"))
            }
            try await Bench.with(
                token: Bench.old(), store: try store(),
                .set {
                    Bench.knowsOld(&$0)
                    $0.thought = 0.1
                }
            ) { bench in
                let other = TokenSource(
                    bench.provider.endpoints(), client: Bench.client, store: try store(), transport: bench.transport,
                    clock: bench.clock)
                async let first = bench.tokens.token()
                async let second = other.token()
                #expect(try await first == second)
                #expect(bench.provider.count("token") == 1)
                // What one removes, the other no longer answers from memory.
                _ = await bench.tokens.logOut()
                let outcome = await outcome { try await other.token() }
                #expect(outcome.tokenError?.code == .loginRequired)
            }
        }
    }

    @Test("does not answer what was removed, also where no lock file counts the changes")
    func removed() async throws {
        try await Bench.with { bench in
            let other = TokenSource(
                bench.provider.endpoints(), client: Bench.client, store: bench.store, transport: bench.transport,
                clock: bench.clock)
            let token = try await bench.tokens.token()
            #expect(try await other.token() == token)
            _ = await bench.tokens.logOut()
            let error = await outcome { try await other.token() }.tokenError
            #expect(error?.code == .loginRequired)
        }
    }

    @Test("does not remember a token that was read before a log-out and answered after it")
    func lateReader() async throws {
        let session = GatedStorage(Bench.session)
        let store = try SessionStore(
            tokens: MemoryStorage<AccessToken>(), session: session, cookies: MemoryStorage<CookieJar>())
        try await Bench.with(session: nil, token: Bench.old(left: 3600), store: store) { (bench: Bench) async throws in
            let early = Task { await outcome { try await bench.tokens.token() } }
            // The token has been read; the session is about to be.
            await session.arrival()
            _ = await bench.tokens.logOut()
            session.open()
            #expect(try await early.value.get().text == "access-old")
            let error = await outcome { try await bench.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
        }
    }

    /// Holds up who reads it first.
    private final class GatedStorage: Storage, Sendable {
        private let inner = MemoryStorage<SSOToken>()
        private let first: SSOToken
        private let isFirst = Atomic(true)
        private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        private let (opening, opened) = AsyncStream.makeStream(of: Void.self)

        init(_ first: SSOToken) { self.first = first }

        func arrival() async { for await _ in arrivals { return } }
        func open() { opened.finish() }

        func get() async throws -> SSOToken? {
            guard isFirst.exchange(false, ordering: .relaxed) else { return try await inner.get() }
            arrived.yield()
            for await _ in opening {}
            return first
        }

        func save(item: sending SSOToken) async throws { try await inner.save(item: item) }
        func delete() async throws { try await inner.delete() }
    }

    @Test("falls back to the session where a refresh token is missing, ended, or refused without a word")
    func fallback() async throws {
        try await Bench.with(token: Bench.old(refreshToken: nil)) { bench in
            _ = try await bench.tokens.token()
            #expect(bench.provider.count("authorize") == 1)
        }
        try await Bench.with(token: Bench.old(refreshToken: "unknown")) { bench in
            _ = try await bench.tokens.token()
            #expect(bench.provider.count("authorize") == 1)
        }
    }

    @Test("says that a login is needed when nothing is left, and has removed what ended")
    func loginRequired() async throws {
        for old in [Bench.old(refreshToken: "unknown", session: nil), Bench.old(refreshToken: nil, session: nil)] {
            try await Bench.with(session: nil, token: old) { (bench: Bench) async throws in
                let outcome = await outcome { try await bench.tokens.token() }
                #expect(outcome.tokenError?.code == .loginRequired && outcome.tokenError?.isRetryable == false)
                #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
            }
        }
        try await Bench.with(session: nil) { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .loginRequired && bench.provider.now.counts.isEmpty)
        }
    }

    @Test("removes a session only when the server says of it that it is over")
    func sessionOver() async throws {
        try await Bench.with(session: SSOToken(value: Secret("sso-gone".utf8)), token: nil) { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .loginRequired)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
        }
        // A login page alone is no such word: the session's own address says something else here.
        try await Bench.with(.set { $0.faults["authorize"] = .status(302, ["Location: /login"], "") }) {
            (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .interactionRequired)
            #expect(try await bench.store.session() == Bench.session)
        }
    }

    @Test(
        "tells what the server wants of the person from that nothing is left: another login would come to the same end",
        arguments: ["consent_required", "interaction_required", "login_required"])
    func interaction(error: String) async throws {
        try await Bench.with(.set { $0.authorizeError = error }) { (bench: Bench) async throws in
            let failure = await outcome { try await bench.tokens.token() }.tokenError
            #expect(failure?.code == .interactionRequired && failure?.isRetryable == false)
            guard case .server(let said) = failure?.cause else { throw TokenError(.refused) }
            #expect(said.code.rawValue == error)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: Bench.session))
        }
        // A token that has not ended is used on.
        try await Bench.with(token: Bench.old(left: 30, refreshToken: nil), .set { $0.authorizeError = error }) {
            (bench: Bench) async throws in
            #expect(try await bench.tokens.token().text == "access-old")
        }
    }

    @Test("uses a token on where the server wants to see the person, and does not say that the session is over")
    func loginPage() async throws {
        try await Bench.with(
            token: Bench.old(left: 30, refreshToken: nil),
            .set { $0.faults["authorize"] = .status(302, ["Location: /login"], "") }
        ) { (bench: Bench) async throws in
            let before = try await bench.kept()
            for _ in 0..<3 { #expect(try await bench.tokens.token().text == "access-old") }
            #expect(bench.provider.count("authorize") == 1 && bench.provider.count("sessions") == 1)
            // One that is asked for in its place, or has ended, is another matter.
            let refreshError = await outcome { try await bench.tokens.refresh() }.tokenError
            #expect(refreshError?.code == .interactionRequired)
            bench.clock.advance(by: 31)
            let endedError = await outcome { try await bench.tokens.token() }.tokenError
            #expect(endedError?.code == .interactionRequired)
            #expect(try await bench.kept() == before)
        }
    }

    @Test("revokes and removes tokens of another session, and gets new ones")
    func orphans() async throws {
        let other = SSOToken(value: Secret("sso-2".utf8))
        try await Bench.with(token: Bench.old(left: 3600, session: other), .set { Bench.knowsOld(&$0) }) { bench in
            let token = try await bench.tokens.token()
            #expect(token.text != "access-old")
            #expect(bench.provider.now.revoked == ["refresh-old"])
        }
    }

    @Test("removes and revokes tokens of a session that is stored no more: who shares it has logged out")
    func goneSession() async throws {
        try await Bench.with(session: nil, token: Bench.old(left: 3600), .set { Bench.knowsOld(&$0) }) {
            (bench: Bench) async throws in
            let error = await outcome { try await bench.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
            #expect(try await bench.store.token() == nil && bench.provider.now.revoked == ["refresh-old"])
        }
    }

    @Test("says that orphaned tokens could not be revoked, once, and gets new ones then", arguments: [true, false])
    func unrevokedOrphans(isOffered: Bool) async throws {
        let addresses = Bench.Addresses.from {
            var endpoints = $0.endpoints()
            if !isOffered { endpoints.revoke = nil }
            return endpoints
        }
        let other = SSOToken(value: Secret("sso-2".utf8))
        try await Bench.with(
            token: Bench.old(left: 3600, session: other), endpoints: addresses,
            .set {
                Bench.knowsOld(&$0)
                $0.faults["revoke"] = .busy
            }
        ) { (bench: Bench) async throws in
            if isOffered {
                let failure = await outcome { try await bench.tokens.token() }.tokenError
                #expect(failure?.code == .unreachable && failure?.retryAfter == .seconds(7))
                #expect(try await bench.kept() == Bench.Kept(token: nil, session: Bench.session))
            }
            #expect(try await bench.tokens.token().text != "access-old")
            #expect(bench.provider.count("revoke") == (isOffered ? 1 : 0))
        }
    }

    @Test("lets others have their turn while orphaned tokens are revoked")
    func orphansHoldNobodyUp() async throws {
        let store = try SessionStore.memory()
        let network = AsyncHTTPTransport()
        let turns = Counter()
        let transport = ScriptedTransport { (request) throws(TransportError) in
            if request.url.hasSuffix("/revoke") {
                // Whoever changes what is stored takes a turn.
                let other = TokenSource(OAuthEndpoints(), client: Bench.client, store: store, transport: network)
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
            try await Bench.with(
                token: Bench.old(left: 3600, session: other), store: store, transport: transport, .set { Bench.knowsOld(&$0) }
            ) { (bench: Bench) async throws in
                #expect(try await bench.tokens.token().text != "access-old")
                #expect(bench.provider.now.revoked == ["refresh-old"])
            }
        }
    }

    @Test("keeps using a token that has not ended when its renewal fails, and asks again later")
    func timeout() async throws {
        try await Bench.with(
            token: Bench.old(left: 30),
            .set {
                Bench.knowsOld(&$0)
                $0.faults["token"] = .busy
            }
        ) { bench in
            for _ in 0..<5 { #expect(try await bench.tokens.token().text == "access-old") }
            #expect(bench.provider.count("token") == 1)
            bench.clock.advance(by: 8)
            _ = try await bench.tokens.token()
            // The refresh token may have been used: the session is asked, and the token endpoint fails again.
            #expect(bench.provider.count("token") == 2)
            bench.provider.change { $0.faults = [:] }
            bench.clock.advance(by: 8)
            #expect(try await bench.tokens.token().text != "access-old")
            #expect(bench.provider.now.reuses == 0)
        }
    }

    @Test("renews by force, and replaces a token that a server refused only once for all who were refused")
    func refused() async throws {
        try await Bench.with(
            token: Bench.old(left: 3600),
            .set {
                Bench.knowsOld(&$0)
                $0.thought = 0.1
            }
        ) { bench in
            let old = try await bench.tokens.token()
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await bench.tokens.renewed(insteadOf: old).text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && bench.provider.count("token") == 1)
            #expect(try await bench.tokens.renewed(insteadOf: old).text == texts.first)
            let forced = try await bench.tokens.refresh()
            #expect(!texts.contains(forced.text) && bench.provider.count("token") == 2)
        }
    }

    @Test("does not take an id_token that does not hold", arguments: ["aud", "iss", "exp", "nonce", "at_hash", "sub"])
    func idToken(claim: String) async throws {
        let wrong: JSONValue = claim == "exp" ? .integer(1) : .string("wrong")
        let changes = claim == "sub" ? ["sub": JSONValue.null] : [claim: wrong]
        try await Bench.with(.set { $0.claims = changes }) { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .idTokenRefused)
            #expect(try await bench.store.token() == nil)
            #expect(try await bench.store.session() == Bench.session)
            #expect(bench.provider.now.accessTokens.isEmpty, "a token lives on at the server")
        }
    }

    @Test("wants the id_token that was granted")
    func noIDToken() async throws {
        try await Bench.with(.set { $0.omitsIDToken = true }) { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.cause == .idToken(IDTokenError(.form)))
        }
    }

    @Test(
        "keeps the old id_token where a new one cannot be checked for a while, and takes no token where it never can be",
        arguments: [(TestProvider.Fault.busy, true), (.cut, true), (.status(404, [], ""), false)])
    func refreshedIDToken(fault: TestProvider.Fault, isTaken: Bool) async throws {
        let old = Bench.old(session: nil, idToken: "e30.eyJzdWIiOiJhbGljZSJ9.e30")
        try await Bench.with(
            session: nil, token: old,
            .set {
                Bench.knowsOld(&$0)
                $0.faults["jwks"] = fault
                $0.refreshScope = "openid read"
            }
        ) { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(((try? outcome.get()) != nil) == isTaken)
            #expect(try await bench.store.token()?.idToken == old.idToken)
            // The refresh token was not used up for nothing.
            #expect(bench.provider.count("token") == (isTaken ? 1 : 0))
            bench.provider.change { $0.faults = [:] }
            let new = try await bench.tokens.refresh()
            #expect(new.idToken != old.idToken && new.idToken != nil)
        }
    }

    @Test("takes no id_token with a refresh that it has no keys for")
    func noKeys() async throws {
        let keyless = Bench.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.jwks = nil
            return endpoints
        }
        try await Bench.with(
            session: nil, token: Bench.old(session: nil), endpoints: keyless,
            .set {
                Bench.knowsOld(&$0)
                $0.refreshScope = "openid read"
            }
        ) { (bench: Bench) async throws in
            let error = await outcome { try await bench.tokens.token() }.tokenError
            #expect(error?.cause == .idToken(IDTokenError(.keys)))
            #expect(try await bench.store.token()?.text == "access-old")
            #expect(try await bench.store.token()?.renewalBegun != nil)
        }
    }

    @Test("uses up no code as long as there are no keys to check with")
    func keysFirst() async throws {
        try await Bench.with(.set { $0.faults["jwks"] = .busy }) { (bench: Bench) async throws in
            let error = await outcome { try await bench.tokens.token() }.tokenError
            #expect(error?.isRetryable == true)
            #expect(bench.provider.count("token") == 0)
        }
    }

    @Test("takes the server's word for the time, so that a wrong clock here locks nobody out", arguments: [true, false])
    func wrongClock(tellsTime: Bool) async throws {
        try await Bench.with(.set { $0.tellsTime = tellsTime }) { (bench: Bench) async throws in
            bench.clock.advance(by: -7200)
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.cause == (tellsTime ? nil : .idToken(IDTokenError(.notYetValid))))
        }
    }

    @Test("asks again for keys that were replaced under their old name")
    func replacedKeys() async throws {
        try await Bench.with { bench in
            _ = try await bench.tokens.token()
            try await bench.tokens.revoke()
            bench.provider.change { $0.key = P256.Signing.PrivateKey() }
            _ = try await bench.tokens.token()
            #expect(bench.provider.count("jwks") == 2)
        }
    }

    @Test(
        "does not take an answer with another state, another issuer, no code or an error",
        arguments: [
            (["state": "x"], OAuthError.Code.stateMismatch), (["state": ""], .stateMismatch),
            (["iss": "https://evil.example.com"], .issuerMismatch), (["code": ""], .noCode),
            (["error": "access_denied"], .accessDenied), (["error": "access_denied", "state": "x"], .stateMismatch),
        ])
    func answers(changes: [String: String], code: OAuthError.Code) async throws {
        try await Bench.with(.set { $0.authorizeChanges = changes }) { (bench: Bench) async throws in
            let error = await outcome { try await bench.tokens.token() }.tokenError
            guard case .server(let said) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(said.code == code && error?.code == .refused)
            #expect(try await bench.store.session() == Bench.session && bench.provider.count("token") == 0)
        }
    }

    @Test("sends and keeps the cookies of the server")
    func cookies() async throws {
        try await Bench.with(.set { $0.cookies = ["amlbcookie=01; Path=/"] }) { bench in
            _ = try await bench.tokens.token()
            #expect(try await bench.store.cookies().cookies.map(\.name) == ["amlbcookie"])
            try await bench.tokens.revoke()
            _ = try await bench.tokens.token()
            // The provider reads names in lower case.
            #expect(
                bench.provider.now.cookieHeaders["authorize"]
                    == ["iplanetdirectorypro=sso-1", "iplanetdirectorypro=sso-1; amlbcookie=01"])
        }
    }

    @Test("does not send a secret over plain http to another machine")
    func plain() async throws {
        try await Bench.with(endpoints: .from { _ in OAuthEndpoints(authorize: "http://am.example.com/authorize", issuer: "x") })
        { (bench: Bench) async throws in
            let outcome = await outcome { try await bench.tokens.token() }
            #expect(outcome.tokenError?.code == .notConfigured)
        }
    }

    @Test("can be read without a network, by a reader that never asks")
    func reader() async throws {
        try await Bench.with(token: Bench.old(left: 5, idToken: "e30.eyJzdWIiOiJhbGljZSJ9.e30")) { (bench: Bench) async throws in
            let reader = TokenReader(bench.store, clock: bench.clock)
            #expect(try await reader.token()?.text == "access-old")
            #expect(try await reader.identity() == ["sub": .string("alice")])
            bench.clock.advance(by: 10)
            #expect(try await reader.token() == nil)
            #expect(try await reader.storedToken()?.text == "access-old")
            #expect(try await reader.session() == Bench.session && bench.provider.now.counts.isEmpty)
        }
    }
}
