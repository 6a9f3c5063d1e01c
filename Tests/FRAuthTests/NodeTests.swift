import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

import class FRAuth.PolicyAdvice
import protocol FRCore.RequestInterceptor

@Suite("Journeys of FRSession and Node")
struct NodeTests {
    @Test("A journey with completion handlers goes from the first step to a session at a real server")
    func completesJourneyWithCompletionHandlers() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let token = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Token, any Error>) in
                    FRSession.authenticate(authIndexValue: "Login") { (_: Token?, node, error) in
                        guard let node else { return done.resume(throwing: error ?? Unexpected()) }
                        fill(node)
                        node.next { (token: Token?, _, error) in
                            done.resume(with: token.map { .success($0) } ?? .failure(error ?? Unexpected()))
                        }
                    }
                }
                #expect(token.value.count > 10)
                #expect(token.realm == "/alpha")
                #expect(FRSession.currentSession?.sessionToken == token)
            }
        }
    }

    @Test("A wrong password fails with the ForgeRock SDK's error code")
    func reportsWrongPasswordWithForgeRockCode() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let code = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int?, any Error>) in
                    FRSession.authenticate(authIndexValue: "Login") { (_: Token?, node, error) in
                        guard let node else { return done.resume(throwing: error ?? Unexpected()) }
                        fill(node, password: "wrong")
                        node.next { (_: Token?, _, error) in done.resume(returning: (error as? any CodedFRError)?.code) }
                    }
                }
                #expect(code == 1_300_002)
            }
        }
    }

    /// Runs a program whose server answers everything with an empty step, or with what `answer` returns.
    private func scripted(
        answer: @escaping @Sendable () -> String = { #"{"authId":"a","callbacks":[]}"# },
        _ body: (ScriptedTransport) async throws -> Void
    ) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(answer().utf8)) }
        let directory = try TemporaryDirectory(inMemory: true)
        defer { directory.remove() }
        let settings = LegacyAuthSettings {
            $0.transport = transport
            $0.lockFile = directory.file("lock")
            $0.keychain = VaultProvider { () throws(StoreError) in MemoryStore() }
        }
        try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
            try await FRAuthProcess.$current.withValue(FRAuthProcess(settings)) {
                let options = FROptions(
                    url: "https://am.example.test/am", realm: "root", oauthClientId: "app", oauthRedirectUri: "app://cb",
                    oauthScope: "openid")
                try FRAuth.start(options: options)
                try await body(transport)
            }
        }
    }

    @Test("A journey begins from policy advice or an email link, with completion handlers and with async calls")
    func beginsJourneyFromAdviceOrLink() async throws {
        let advice = try #require(PolicyAdvice(type: "TransactionConditionAdvice", value: "x"))
        let link = "https://am.example.test/am?suspendedId=s1&realm=/"
        let url = try #require(URL(string: link))
        let begin: [(String, (@escaping NodeCompletion<Token>) -> Void, () async throws -> sending NodeResult<Token>)] = [
            (
                "authIndexType=composite_advice", { FRSession.authenticate(policyAdvice: advice, completion: $0) },
                { try await FRSession.authenticate(policyAdvice: advice) }
            ),
            (
                "suspendedId=s1", { FRSession.authenticate(resumeURI: link, completion: $0) },
                { try await FRSession.authenticate(resumeURI: link) }
            ),
            (
                "suspendedId=s1", { FRSession.authenticate(resumeURI: url, completion: $0) },
                { try await FRSession.authenticate(resumeURI: url) }
            ),
        ]
        for (query, authenticate, ask) in begin {
            try await scripted { transport in
                let isNode = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
                    authenticate { _, node, _ in done.resume(returning: node != nil) }
                }
                guard isNode, case .node = try await ask() else { throw Unexpected() }
                #expect(transport.requests.count == 2)
                let withoutQuery = transport.requests.filter { !$0.url.contains(query) }
                #expect(withoutQuery.isEmpty)
            }
        }
        let wrong = try #require(URL(string: "https://am.example.test/am"))
        try await scripted { _ in
            await #expect(throws: AuthError.self) { _ = try await FRSession.authenticate(Token.self, resumeURI: wrong) }
        }
    }

    @Test("Interceptors receive the ForgeRock SDK's action names, and the requests they return are sent")
    func sendsInterceptedRequests() async throws {
        let log = Log()
        try await scripted { transport in
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [Interceptor(log: log)])
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                FRSession.authenticate(authIndexValue: "Login") { (_: Token?, node, _) in
                    node?.next { (_: Token?, _, _) in done.resume() }
                }
            }
            let url = try #require(URL(string: "https://am.example.test/am?realm=/&suspendedId=s1"))
            _ = try await FRSession.authenticate(Token.self, resumeURI: url)
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: nil)
            #expect(log.lines == ["START_AUTHENTICATE Login service", "AUTHENTICATE Login service", "RESUME_AUTHENTICATE  "])
            #expect(transport.requests.last?.url.contains("suspendedId=s1") == true)
            let unmarked = transport.requests.filter { !$0.url.hasSuffix("&x=1") && !$0.url.hasSuffix("?x=1") }
            #expect(unmarked.isEmpty)
            let otherVersions = transport.requests.filter {
                $0.headers["Accept-API-Version"] != "resource=2.1, protocol=1.0"
            }
            #expect(otherVersions.isEmpty)
            let otherPrograms = transport.requests.filter {
                $0.headers.all("x-requested-with") != ["forgerock-sdk"] || $0.headers.all("x-requested-platform") != ["ios"]
            }
            #expect(otherPrograms.isEmpty)
        }
    }

    private struct Interceptor: RequestInterceptor {
        let log: Log
        func intercept(request: Request, action: Action) -> Request {
            log.append("\(action.type) \(action.payload?["tree"] ?? "") \(action.payload?["type"] ?? "")")
            var (headers, parameters) = (request.headers, request.urlParams)
            headers["x-requested-with"] = "other"
            headers["X-Requested-Platform"] = "other"
            parameters["x"] = "1"
            return Request(
                url: request.url, method: request.method, headers: headers, bodyParams: request.bodyParams,
                urlParams: parameters, requestType: request.requestType, responseType: request.responseType)
        }
    }

    private func service(_ status: Int, _ body: String, factory: CallbackFactory = CallbackFactory()) throws -> AuthService {
        try AuthService(
            name: "Login", options: FROptions(url: "https://am.example.test/am", realm: "root"),
            transport: ScriptedTransport { _ in HTTPResponse(status: status, body: Array(body.utf8)) }, factory: factory)
    }

    @Test(
        "A failed journey has the ForgeRock SDK's error code",
        arguments: [
            (401, #"{"code":401,"reason":"Unauthorized","message":"Login failure"}"#, 1_300_002),
            (401, #"{"code":401,"message":"Login failure"}"#, 1_300_000),
            (401, #"{"code":401,"message":"x","detail":{"errorCode":"110"}}"#, 1_300_001),
            (
                401,
                #"{"message":"org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found."}"#,
                1_300_003
            ),
            (200, #"{"authId":1}"#, 1_000_009), (200, "<html>", 1_000_009), (404, "<html>", 1_300_000), (503, "", 1_300_000),
        ])
    func mapsJourneyErrorCodes(status: Int, body: String, code: Int) async throws {
        let service = try service(status, body)
        do {
            _ = try await service.next(Token.self)
            Issue.record("the journey did not fail")
        } catch {
            #expect((error as? any CodedFRError)?.code == code, "\(error)")
        }
    }

    @Test("A journey ends with a token or without one, and rejects other result types")
    func endsJourneyOnlyWithToken() async throws {
        let service = try service(200, #"{"tokenId":"t","successUrl":"/console","realm":"/alpha"}"#)
        guard case .success(let token?) = try await service.next(Token.self) else { throw Unexpected() }
        #expect(token == Token(value: Secret("t".utf8), successUrl: "/console", realm: "/alpha"))
        await #expect(throws: AuthError.invalidGenericType) { try await service.next(Int.self) }
        let nothing = try self.service(200, #"{"successUrl":"/console","realm":"/alpha"}"#)
        guard case .success(nil) = try await nothing.next(Token.self) else { throw Unexpected() }
        let isNothing = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            nothing.next { (user: FRUser?, node, error) in
                done.resume(returning: user == nil && node == nil && error == nil)
            }
        }
        #expect(isNothing)
    }

    @Test(
        "An empty session is returned with its address, is not stored, and gets no token; an empty authId is an invalid response")
    func keepsNoEmptySession() async throws {
        let body = Mutex(#"{"tokenId":"","successUrl":"/console","realm":"/alpha"}"#)
        let answer: @Sendable () -> String = { body.withLock { $0 } }
        try await scripted(answer: answer) { transport in
            let result = try await FRSession.authenticate(Token.self, authIndexValue: "Login")
            guard case .success(let token?) = result else { throw Unexpected() }
            #expect(token.value.count == 0 && token.successUrl == "/console" && token.realm == "/alpha")
            #expect(FRSession.currentSession == nil && FRUser.currentUser == nil)
            await #expect(throws: AuthError.userAuthenticationRequired) { _ = try await FRUser.login() }
            #expect(transport.requests.count == 2)
            body.withLock { $0 = #"{"authId":"","callbacks":[]}"# }
            await #expect { _ = try await FRUser.login() } throws: { ($0 as? AuthError)?.code == 1_000_009 }
        }
    }

    @Test("An unknown callback reaches the app as a plain Callback, or in the class that the app registered")
    func handsOverUnknownCallbacks() async throws {
        let body =
            #"{"authId":"a","stage":"s","header":"h","description":"d","callbacks":[{"type":"PigeonCallback","output":[{"name":"x","value":1}],"input":[{"name":"IDToken1","value":""}]}]}"#
        guard case .node(let node) = try await service(200, body).next(Token.self) else { throw Unexpected() }
        #expect(node.stage == "s" && node.pageHeader == "h" && node.pageDescription == "d" && node.authId == "a")
        let arePlain = node.callbacks.map { type(of: $0) == Callback.self }
        #expect(arePlain == [true])
        #expect(node.callbacks[0].setInput("IDToken1", .string("dove")))
        #expect((node.callbacks[0].buildResponse()["input"] as? [[String: Any]])?.first?["value"] as? String == "dove")
        let factory = CallbackFactory()
        factory.registerCallback(callbackType: "PigeonCallback", callbackClass: PigeonCallback.self)
        guard case .node(let own) = try await service(200, body, factory: factory).next(Token.self) else { throw Unexpected() }
        #expect(own.callbacks[0] is PigeonCallback)
    }

    private final class PigeonCallback: SingleValueCallback {}

    @Test("A journey before the start of the SDK fails with one invalidSDKState error")
    func rejectsJourneyBeforeStart() async {
        await FRAuthProcess.$current.withValue(FRAuthProcess()) {
            let error = await withCheckedContinuation { (done: CheckedContinuation<(any Error)?, Never>) in
                FRSession.authenticate(authIndexValue: "Login") { (_: Token?, _, error) in done.resume(returning: error) }
            }
            #expect((error as? ConfigError) == .invalidSDKState)
        }
    }
}
