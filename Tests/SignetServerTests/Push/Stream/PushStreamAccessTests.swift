import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import Testing

@testable import SignetServer

@Suite("A device's proof at the desk")
struct PushStreamProofTests {
    private func prove(_ token: String, at server: TestServer, realm: RealmPath = .root) async throws -> String? {
        try await server.devServer.context.store.write { tx in
            tx.mechanism(provenBy: token, realm: realm)
        }
    }

    @Test("A right proof is taken once")
    func once() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let proof = phone.proof(try await server.nonce())
            #expect(try await prove(proof, at: server) == phone.uid)
            #expect(try await prove(proof, at: server) == nil)
            #expect(
                try await server.send(.get, "/am/json/push/stream", headers: ["Authorization": "Signet-Push-Stream \(proof)"])
                    .status
                    == 401)
        }
    }

    @Test("A nonce is good for a minute", arguments: [(59.0, true), (60, false), (3600, false)])
    func freshness(age: Double, isGood: Bool) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let proof = phone.proof(try await server.nonce())
            server.clock.advance(by: age)
            #expect((try await prove(proof, at: server) != nil) == isGood)
        }
    }

    @Test("A proof that is forged, of another mechanism, or with a nonce of one's own is refused")
    func forged() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let other = try await server.registeredPhone(uid: "phone-2", name: "noa", password: "staple")
            let nonce = try await server.nonce()
            let tokens = [
                phone.proof(nonce, secret: Secret([1])), phone.proof(nonce, secret: other.secret),
                phone.proof(nonce, uid: other.uid), phone.proof(nonce, uid: "unknown"), phone.proof("made up"),
                phone.proof(""), "", "a.b.c", "garbage", CompactJWS.sign(Array("{}".utf8), with: phone.secret),
                CompactJWS.sign(Array("x".utf8), with: phone.secret), nonce,
                phone.proof(CompactJWS.sign(Array("{\"value\":\"x\",\"issued\":1735689600000}".utf8), with: phone.secret)),
            ]
            for token in tokens {
                let reply = try await server.send(
                    .get, "/am/json/push/stream", headers: ["Authorization": "Signet-Push-Stream \(token)"])
                #expect(reply.status == 401)
                #expect(reply.header("WWW-Authenticate")?.hasPrefix("Signet-Push-Stream nonce=") == true)
            }
            #expect(try await prove(phone.proof(nonce), at: server) == phone.uid)
        }
    }

    @Test("A proof is for the device's own realm")
    func realm() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            #expect(
                try await prove(phone.proof(try await server.nonce(realm: "/alpha")), at: server, realm: RealmPath("/alpha"))
                    == nil)
            #expect(try await server.send(.get, "/am/json/beta/push/stream", headers: [:]).status == 404)
        }
    }

    @Test(
        "A request with other credentials, or none, is told what to sign",
        arguments: [nil, "Bearer x", "Signet-Push-Stream", "signet-push-stream", ""] as [String?])
    func challenge(authorization: String?) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .get, "/am/json/push/stream", headers: authorization.map { ["Authorization": $0] } ?? [:])
            #expect(reply.status == 401)
            #expect(reply.json["reason"] == "Unauthorized")
            #expect(try await server.nonce() != server.nonce())
        }
    }

    @Test("Any method but GET is 405", arguments: [HTTPRequest.Method.post, .put, .head])
    func method(method: HTTPRequest.Method) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(method, "/am/json/push/stream")
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == "GET")
        }
    }
}

@Suite("The desk's nonces")
struct NonceStoreTests {
    private static let key = Secret.random(byteCount: 32)

    private func issue(at now: Date, key: Secret = key) throws -> String {
        try TestRows().transact(at: now) { transaction in try NonceStore(transaction, key: key).issue() }
    }

    private func redeem(_ nonce: String, _ rows: TestRows, at now: Date) throws -> Bool {
        try rows.transact(at: now) { transaction in
            var book = NonceStore(transaction, key: Self.key)
            return book.redeem(nonce)
        }
    }

    @Test("Used nonces are forgotten in time")
    func memory() throws {
        let (rows, clock) = (TestRows(), StillClock())
        for _ in 0..<1000 {
            clock.advance(by: 1)
            #expect(try redeem(try issue(at: clock.now), rows, at: clock.now))
        }
        #expect(try rows.count(.nonce) < 200)
    }

    @Test("A full book takes no nonce rather than one twice")
    func full() throws {
        let (rows, clock) = (TestRows(MemoryRows(capacities: ["nonce": 2])), StillClock())
        let nonces = try (0..<3).map { _ in try issue(at: clock.now) }
        let redeemed = try [0, 1, 2, 0].map { try redeem(nonces[$0], rows, at: clock.now) }
        #expect(redeemed == [true, true, false, false])
        clock.advance(by: 60)
        #expect(try redeem(try issue(at: clock.now), rows, at: clock.now))
    }

    @Test("A nonce of another desk is none")
    func foreign() throws {
        let now = StillClock().now
        let foreign = try issue(at: now, key: Secret.random(byteCount: 32))
        #expect(try !redeem(foreign, TestRows(), at: now))
    }
}

@Suite("Open streams")
struct StreamRegistryTests {
    private func signals(_ stream: PushStreamSubscription) async -> Int {
        stream.end()
        return await stream.signals.reduce(0) { count, _ in count + 1 }
    }

    @Test("However often a stream that nobody reads is woken, one signal waits")
    func slow() async {
        var registry = StreamRegistry()
        let stream = registry.open("m")
        for _ in 0..<10_000 { registry.wake("m") }
        #expect(await signals(stream) == 1)
    }

    @Test("Each stream of a mechanism is woken, and no other")
    func wake() async {
        var registry = StreamRegistry()
        let streams = [registry.open("m"), registry.open("m"), registry.open("other")]
        var woken: [Int] = []
        for stream in streams {
            var iterator = stream.signals.makeAsyncIterator()
            _ = await iterator.next()
            registry.wake("m")
            woken.append(await signals(stream))
        }
        #expect(woken == [1, 1, 0])
    }

    @Test("A closed stream leaves nothing behind")
    func close() {
        var registry = StreamRegistry()
        for _ in 0..<100 { registry.close(registry.open("m")) }
        #expect(registry.count("m") == 0)
    }

    @Test("One stream too many ends the oldest")
    func limit() async {
        var registry = StreamRegistry()
        let streams = (0...StreamRegistry.streamsPerMechanism).map { _ in registry.open("m") }
        #expect(registry.count("m") == StreamRegistry.streamsPerMechanism)
        let signalCount = await streams[0].signals.reduce(0) { count, _ in count + 1 }
        #expect(signalCount == 1)
        registry.close(streams[0])
        #expect(registry.count("m") == StreamRegistry.streamsPerMechanism)
    }
}
