import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("A device's proof at the desk")
struct DeskProofTests {
    private func prove(_ token: String, at desk: TestDesk, realm: RealmPath = .root) -> String? {
        desk.server.desk.transact { state, moment in state.mechanism(provenBy: token, realm: realm, at: moment.now) }
    }

    @Test("A right proof is taken once")
    func once() async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            let proof = phone.proof(try await desk.nonce())
            #expect(prove(proof, at: desk) == phone.uid)
            #expect(prove(proof, at: desk) == nil)
            #expect(
                try await desk.send(.get, "/am/json/push/desk", headers: ["Authorization": "Signet-Desk \(proof)"]).status == 401)
        }
    }

    @Test("A nonce is good for a minute", arguments: [(59.0, true), (60, false), (3600, false)])
    func freshness(age: Double, isGood: Bool) async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            let proof = phone.proof(try await desk.nonce())
            desk.clock.advance(by: age)
            #expect((prove(proof, at: desk) != nil) == isGood)
        }
    }

    @Test("A proof that is forged, of another mechanism, or with a nonce of one's own is refused")
    func forged() async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            let other = try await desk.registeredPhone(uid: "phone-2", name: "noa", password: "staple")
            let nonce = try await desk.nonce()
            let tokens = [
                phone.proof(nonce, secret: Secret([1])), phone.proof(nonce, secret: other.secret),
                phone.proof(nonce, uid: other.uid), phone.proof(nonce, uid: "unknown"), phone.proof("made up"),
                phone.proof(""), "", "a.b.c", "garbage", CompactJWS.sign(Array("{}".utf8), with: phone.secret),
                CompactJWS.sign(Array("x".utf8), with: phone.secret), nonce,
                phone.proof(CompactJWS.sign(Array("{\"value\":\"x\",\"issued\":1735689600000}".utf8), with: phone.secret)),
            ]
            for token in tokens {
                let reply = try await desk.send(.get, "/am/json/push/desk", headers: ["Authorization": "Signet-Desk \(token)"])
                #expect(reply.status == 401)
                #expect(reply.header("WWW-Authenticate")?.hasPrefix("Signet-Desk nonce=") == true)
            }
            #expect(prove(phone.proof(nonce), at: desk) == phone.uid)
        }
    }

    @Test("A proof is for the device's own realm")
    func realm() async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            #expect(prove(phone.proof(try await desk.nonce(realm: "/alpha")), at: desk, realm: RealmPath("/alpha")) == nil)
            #expect(try await desk.send(.get, "/am/json/beta/push/desk", headers: [:]).status == 404)
        }
    }

    @Test(
        "A request with other credentials, or none, is told what to sign",
        arguments: [nil, "Bearer x", "Signet-Desk", "signet-desk", ""] as [String?])
    func challenge(authorization: String?) async throws {
        try await TestDesk.run { desk in
            let reply = try await desk.send(
                .get, "/am/json/push/desk", headers: authorization.map { ["Authorization": $0] } ?? [:])
            #expect(reply.status == 401)
            #expect(reply.json["reason"] == "Unauthorized")
            #expect(try await desk.nonce() != desk.nonce())
        }
    }

    @Test("Any method but GET is 405", arguments: [HTTPRequest.Method.post, .put, .head])
    func method(method: HTTPRequest.Method) async throws {
        try await TestDesk.run { desk in
            let reply = try await desk.send(method, "/am/json/push/desk")
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == "GET")
        }
    }
}

@Suite("The desk's nonces")
struct NonceBookTests {
    @Test("Nonces that nobody uses cost no memory, and used ones are forgotten in time")
    func memory() throws {
        var book = NonceBook()
        let clock = StillClock()
        for _ in 0..<1000 { _ = try book.issue(at: clock.now) }
        #expect(book.count == 0)
        for _ in 0..<1000 {
            clock.advance(by: 1)
            #expect(book.redeem(try book.issue(at: clock.now), at: clock.now) == true)
        }
        #expect(book.count < 200)
    }

    @Test("A full book takes no nonce rather than one twice")
    func full() throws {
        var book = NonceBook(capacity: 2)
        let clock = StillClock()
        let nonces = try (0..<3).map { _ in try book.issue(at: clock.now) }
        #expect(book.redeem(nonces[0], at: clock.now) == true)
        #expect(book.redeem(nonces[1], at: clock.now) == true)
        #expect(book.redeem(nonces[2], at: clock.now) == false)
        #expect(book.redeem(nonces[0], at: clock.now) == false)
        clock.advance(by: 60)
        #expect(book.redeem(try book.issue(at: clock.now), at: clock.now) == true)
    }

    @Test("A nonce of another desk is none")
    func foreign() throws {
        var book = NonceBook()
        let now = StillClock().now
        #expect(book.redeem(try NonceBook().issue(at: now), at: now) == false)
    }
}

@Suite("Open streams")
struct StreamRegistryTests {
    private func signals(_ stream: DeskSubscription) async -> Int {
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
        #expect(await streams[0].signals.reduce(0) { count, _ in count + 1 } == 1)
        registry.close(streams[0])
        #expect(registry.count("m") == StreamRegistry.streamsPerMechanism)
    }
}
