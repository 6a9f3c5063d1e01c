import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The cap on unfinished login flows of an address", .postgresServer, .timeLimit(.minutes(5)))
struct LoginFlowLimiterTests {
    @Test("An address starts at most 1,000 flows at once, in every store, and a login makes room", arguments: StateKind.available)
    func capsFlowsOfAddress(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server({ $0.port = 0 }) { server in
                let store = server.devServer.context.store
                try await store.write { tx in for _ in 0..<999 { try tx.flowLimiter.take("127.0.0.1") } }
                try await server.serve { port in
                    func start() async throws -> String {
                        let connection = try RawHTTPConnection(port: port)
                        connection.send("GET /am/XUI/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        defer { connection.vanish() }
                        return await connection.read { _ in false }
                    }
                    #expect(try await start().hasPrefix("HTTP/1.1 200"))
                    let refused = try await start()
                    #expect(refused.hasPrefix("HTTP/1.1 429") && refused.lowercased().contains("retry-after: 1"), "\(refused)")
                    try await store.write { tx in
                        // Another address is not affected.
                        try tx.flowLimiter.take("192.0.2.1")
                        try tx.flowLimiter.giveBack("127.0.0.1")
                    }
                    #expect(try await start().hasPrefix("HTTP/1.1 200"))
                    server.clock.advance(by: 600)
                    try await store.write { tx in for _ in 0..<1000 { try tx.flowLimiter.take("127.0.0.1") } }
                }
            }
        }
    }

    @Test("The cap is the one of the configuration, and logins that end, fail or are displaced make room")
    func givesPlacesBack() async throws {
        let configuration = ServerConfiguration.sample {
            $0.port = 0
            $0.limits.loginFlows = RateLimit(perMinute: 1, burst: 3)
        }
        try await TestServer.run(configuration) { server in
            func start(service: String = "Login") -> LoginFlowStart {
                let journey = JourneyStart(realm: .root, tree: service, indexType: "service", noSession: false)
                return LoginFlowStart(
                    kind: .journey(journey), realm: .root, query: "", goto: nil, address: "192.0.2.1", cookies: [])
            }
            func begin(_ start: LoginFlowStart) async throws -> LoginCookie? {
                try await server.devServer.context.store.write { tx in
                    do {
                        return try tx.begin(start, realms: [.root]).cookie
                    } catch let error as APIError {
                        #expect(error.status == .tooManyRequests)
                        return nil
                    }
                }
            }
            func answer(_ cookie: LoginCookie, _ password: String) async throws {
                let form = try Parameters(TestServer.form(["IDToken1": "mira", "IDToken2": password]))
                let answer = LoginAnswer(
                    flow: cookie.flow, page: 1, browsers: [TokenHash(cookie.value)], form: form, userAgent: nil,
                    address: "192.0.2.1", devices: [])
                _ = try await server.devServer.context.store.write { tx in try tx.answer(answer) }
            }
            var cookies: [LoginCookie] = []
            for _ in 0..<3 { cookies.append(try #require(try await begin(start()))) }
            for (cookie, password) in zip(cookies, [TestServer.password, "wrong"]) {
                #expect(try await begin(start()) == nil)
                try await answer(cookie, password)
                cookies.append(try #require(try await begin(start())))
            }
            #expect(try await begin(start()) == nil)
            // A flow that fails at its start does not make room: a client could start any number of them.
            server.clock.advance(by: 60)
            #expect(try await begin(start(service: "Nothing")) != nil)
            #expect(try await begin(start()) == nil)
            // A flow that a new one of the same browser displaces makes room.
            var full = start()
            for _ in 0..<(LoginFlow.maxPerBrowser + 1) {
                server.clock.advance(by: 1)
                var other = start()
                other.address = nil
                let cookie = try #require(try await begin(other))
                full.cookies.append(LoginCookie.Received(name: cookie.flow, hash: TokenHash(cookie.value)))
            }
            let counted = try #require(cookies.last)
            full.cookies.append(LoginCookie.Received(name: counted.flow, hash: TokenHash(counted.value)))
            full.address = nil
            _ = try await begin(full)
            #expect(try await begin(start()) != nil)
        }
    }
}
