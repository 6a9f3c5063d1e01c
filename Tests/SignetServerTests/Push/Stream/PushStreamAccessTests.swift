import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Device proofs at the push stream")
struct PushStreamProofTests {
    private func prove(_ token: String, at server: TestServer, realm: RealmPath = .root) async throws -> String? {
        try await server.devServer.context.store.write { tx in
            try tx.mechanism(provenBy: token, realm: realm)
        }
    }

    @Test("A valid device proof is accepted once")
    func acceptsProofOnce() async throws {
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

    @Test("A nonce is valid for less than a minute", arguments: [(59.0, true), (60, false), (3600, false)])
    func expiresNonceAfterMinute(age: Double, isValid: Bool) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let proof = phone.proof(try await server.nonce())
            server.clock.advance(by: age)
            #expect((try await prove(proof, at: server) != nil) == isValid)
        }
    }

    @Test("A proof that is forged, of another mechanism or with a made-up nonce is refused")
    func rejectsForgedProof() async throws {
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

    @Test("A proof is valid only in the realm of the device")
    func rejectsProofInOtherRealm() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            #expect(
                try await prove(phone.proof(try await server.nonce(realm: "/alpha")), at: server, realm: RealmPath("/alpha"))
                    == nil)
            #expect(try await server.send(.get, "/am/json/beta/push/stream", headers: [:]).status == 404)
        }
    }

    @Test(
        "A stream request without a valid proof is answered with a nonce to sign",
        arguments: [nil, "Bearer x", "Signet-Push-Stream", "signet-push-stream", ""] as [String?])
    func challengesUnprovenStreamRequest(authorization: String?) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .get, "/am/json/push/stream", headers: authorization.map { ["Authorization": $0] } ?? [:])
            #expect(reply.status == 401)
            #expect(reply.json["reason"] == "Unauthorized")
            #expect(try await server.nonce() != server.nonce())
        }
    }

    @Test("The push stream answers any method but GET with 405", arguments: [HTTPRequest.Method.post, .put, .head])
    func streamRejectsOtherMethods(method: HTTPRequest.Method) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(method, "/am/json/push/stream")
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == "GET")
        }
    }
}

@Suite("Nonces of the push stream")
struct NonceStoreTests {
    private static let key = Secret.random(byteCount: 32)

    private func issue(at now: Date, key: Secret = key) throws -> String {
        try TestRows().transact(at: now) { transaction in try NonceStore(transaction, key: key).issue() }
    }

    private func redeem(_ nonce: String, _ rows: TestRows, at now: Date) throws -> Bool {
        try rows.transact(at: now) { transaction in
            var book = NonceStore(transaction, key: Self.key)
            return try book.redeem(nonce)
        }
    }

    @Test("Expired nonces are removed from the store")
    func removesExpiredNonces() throws {
        let (rows, clock) = (TestRows(), ManualClock())
        for _ in 0..<1000 {
            clock.advance(by: 1)
            #expect(try redeem(try issue(at: clock.now), rows, at: clock.now))
        }
        #expect(try rows.count(.nonce) < 200)
    }

    @Test("A full nonce store refuses a new nonce and never accepts a used one")
    func fullNonceStoreRefusesNonce() throws {
        let (rows, clock) = (TestRows(MemoryRows(capacities: ["nonce": 2])), ManualClock())
        let nonces = try (0..<3).map { _ in try issue(at: clock.now) }
        let redeemed = try [0, 1, 2, 0].map { try redeem(nonces[$0], rows, at: clock.now) }
        #expect(redeemed == [true, true, false, false])
        clock.advance(by: 60)
        #expect(try redeem(try issue(at: clock.now), rows, at: clock.now))
    }

    @Test("A nonce of another server is refused")
    func rejectsNonceOfOtherServer() throws {
        let now = ManualClock().now
        let foreign = try issue(at: now, key: Secret.random(byteCount: 32))
        #expect(try !redeem(foreign, TestRows(), at: now))
    }
}

@Suite("Registry of open push streams")
struct PushStreamsTests {
    private func signals(_ stream: PushStreamSubscription) async -> Int {
        stream.end()
        return await stream.signals.reduce(0) { count, _ in count + 1 }
    }

    @Test("A stream that is not read keeps one pending signal however often it is woken")
    func coalescesSignals() async {
        let registry = PushStreams()
        let stream = registry.open("m")
        for _ in 0..<10_000 { registry.wake("m") }
        #expect(await signals(stream) == 1)
    }

    @Test("A signal wakes each stream of its mechanism and no other stream")
    func wakesStreamsOfMechanism() async {
        let registry = PushStreams()
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

    @Test("A closed stream is removed from the registry")
    func removesClosedStream() {
        let registry = PushStreams()
        for _ in 0..<100 { registry.close(registry.open("m")) }
        #expect(registry.count("m") == 0)
    }

    @Test("Opening one stream above the limit ends the oldest stream")
    func limitEndsOldestStream() async {
        let registry = PushStreams()
        let streams = (0...PushStreams.streamsPerMechanism).map { _ in registry.open("m") }
        #expect(registry.count("m") == PushStreams.streamsPerMechanism)
        let signalCount = await streams[0].signals.reduce(0) { count, _ in count + 1 }
        #expect(signalCount == 1)
        registry.close(streams[0])
        #expect(registry.count("m") == PushStreams.streamsPerMechanism)
    }
}
