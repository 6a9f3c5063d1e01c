import CryptoExtras
import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The answers of a real privacyIDEA 3.14 to a device with a known key, and the requests that it accepted.
private struct PrivacyIDEAVectors: Sendable {
    static let uid = "mechanism-1"
    let json: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/privacyidea-3.14.json")
        json = try JSON.value(of: Data(contentsOf: file))
    }

    /// The challenges with their names: `approve`, `decline`, `numbers`, `alphabetic`, `custom` and `code`.
    func challenge(_ name: String) throws -> JSONValue {
        let challenges = json["challenges"]?.array ?? []
        let found = challenges.first { $0["name"]?.string == name }
        return try #require(found)
    }

    func text(_ path: String...) throws -> String {
        var value: JSONValue? = json
        for name in path { value = value?[name] }
        return try #require(value?.string)
    }

    /// The settings of the mechanism that the server registered.
    func settings() throws -> PushSettings {
        let endpoint = try Endpoint("http://127.0.0.1:28801/ttype/push")
        var settings = PushSettings(
            secret: Secret(try Base64.decode(try text("deviceKey"))), registrationEndpoint: endpoint,
            authenticationEndpoint: endpoint, platform: PrivacyIDEAPlatform.name)
        let serverKey = try text("registration", "detail", "public_key").filter { !$0.isWhitespace }
        settings.serverKey = try Base64.decode(serverKey)
        return settings
    }

    func mechanism(_ change: (inout PushSettings) -> Void = { _ in }) throws -> Mechanism {
        var settings = try settings()
        change(&settings)
        return Mechanism(
            uid: Self.uid, account: AccountID(issuer: "privacyIDEA", accountName: "mira"), kind: .push(settings),
            timeAdded: Sample.start, resourceID: try text("serial"))
    }

    /// Returns the messages in the answer to a poll, as a listener receives them.
    func deliveries(in answer: JSONValue?) async throws -> [PushDelivery] {
        let body = JSON.encode(try #require(answer))
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: body) }
        return try await PrivacyIDEAPlatform().openMessages(
            for: try mechanism(), at: Sample.start, over: PushTransport(transport)
        ).deliveries
    }

    func delivery(_ name: String) async throws -> PushDelivery {
        let deliveries = try await deliveries(in: try challenge(name)["poll"])
        return try #require(deliveries.first)
    }
}

/// An authenticator with the mechanism of the vectors.
private struct PrivacyIDEAFixture {
    let vectors: PrivacyIDEAVectors
    let fixture: AuthenticatorFixture
    var authenticator: Authenticator { fixture.authenticator }

    init(
        _ change: (inout PushSettings) -> Void = { _ in },
        answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse = { _ in
            HTTPResponse(status: 200, body: Array(#"{"result": {"status": true, "value": true}}"#.utf8))
        }
    ) throws {
        vectors = try PrivacyIDEAVectors()
        fixture = AuthenticatorFixture(answer: answer)
        let mechanism = try vectors.mechanism(change)
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in
            try records.save(Account(id: mechanism.account, timeAdded: mechanism.timeAdded))
            try records.save(mechanism)
        }
    }

    /// The fields of the requests so far that were sent with POST.
    var posted: [[String: String]] {
        fixture.transport.requests.filter { $0.method == "POST" }
            .map { FormCoding.decode(String(decoding: $0.body, as: UTF8.self)) }
    }
}

@Suite("Push messages of privacyIDEA")
struct PrivacyIDEATests {
    // MARK: Answers

    @Test("A poll is signed as the real server accepts it")
    func signsPoll() async throws {
        let vectors = try PrivacyIDEAVectors()
        let (timestamp, signature) = (try vectors.text("poll", "timestamp"), try vectors.text("poll", "signature"))
        let time = try Date(timestamp, strategy: .iso8601)
        let empty = JSON.encode(try #require(vectors.json["empty"]))
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: empty) }
        let messages = try await PrivacyIDEAPlatform().openMessages(
            for: try vectors.mechanism(), at: time, over: PushTransport(transport))
        #expect(messages.deliveries.isEmpty && messages.isComplete)
        let request = try #require(transport.requests.first)
        #expect(request.method == "GET")
        let expected = ["serial": try vectors.text("serial"), "timestamp": timestamp, "signature": signature]
        #expect(FormCoding.query(of: request.url) == expected)
    }

    @Test(
        "Each answer is the one that the real server accepted",
        arguments: ["approve", "decline", "numbers", "alphabetic", "custom"])
    func answersAsServerAccepts(name: String) async throws {
        let user = try PrivacyIDEAFixture()
        let challenge = try user.vectors.challenge(name)
        let notification = try await user.authenticator.receive(try await user.vectors.delivery(name))
        let text = notification.message.text
        switch name {
        case "approve": _ = try await user.authenticator.approve(notification.id)
        case "decline": _ = try await user.authenticator.deny(notification.id)
        case "numbers":
            #expect(notification.message.kind == .number(choices: [87, 66, 25]) && text == "Log in from 127.0.0.1?")
            _ = try await user.authenticator.approve(notification.id, number: 87)
        case "alphabetic":
            #expect(notification.message.kind == .number(choices: [1, 2, 3]))
            #expect(text == "Log in from 127.0.0.1? (1: I, 2: V, 3: T)")
            _ = try await user.authenticator.approve(notification.id, number: 3)
        default:
            #expect(text == "Log in from 127.0.0.1? (1: B, 2: 07, 3: 1A)")
            _ = try await user.authenticator.approve(notification.id, number: 3)
        }
        let accepted = try #require(challenge["answer"]?.object)
        #expect(user.posted == [accepted.compactMapValues(\.string)])
        #expect(user.fixture.transport.requests.map(\.url) == ["http://127.0.0.1:28801/ttype/push"])
        let stored = try await user.authenticator.notification(notification.id)
        #expect(stored.decision == (name == "decline" ? .denied : .approved))
    }

    @Test("A choice that the message does not offer is refused before any request")
    func refusesOtherChoice() async throws {
        let user = try PrivacyIDEAFixture()
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("alphabetic"))
        for number in [nil, 0, 4] as [Int?] {
            await #expect { try await user.authenticator.approve(notification.id, number: number) } throws: {
                code($0) == .wrongNumber
            }
        }
        #expect(user.posted.isEmpty)
    }

    @Test("A code for the login page is in the error of the approval that the server has accepted")
    func namesCode() async throws {
        let body = JSON.encode(try #require(try PrivacyIDEAVectors().challenge("code")["response"]))
        let user = try PrivacyIDEAFixture(answer: { _ in HTTPResponse(status: 200, body: body) })
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("code"))
        await #expect { try await user.authenticator.approve(notification.id) } throws: {
            code($0) == .notSupported && "\($0)".contains("59")
        }
        #expect(try await user.authenticator.notification(notification.id).decision == nil)
    }

    @Test("A server that wants the device unlocked gets an approval only after a check of the user's presence")
    func checksPresence() async throws {
        let user = try PrivacyIDEAFixture({ $0.requiresPresence = true })
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("approve"))
        #expect(notification.message.kind == .biometric)
        await #expect { try await user.authenticator.approve(notification.id) } throws: { code($0) == .presenceRefused }
        #expect(user.posted.isEmpty)
        _ = try await user.authenticator.approve(notification.id, presence: ConfirmingPresence())
        #expect(user.posted.count == 1)
    }

    @Test(
        "An answer that the server refuses leaves the message open",
        arguments: [
            (200, #"{"result": {"status": true, "value": false}}"#, AuthenticatorError.Code.refusedByServer),
            (404, #"{"result": {"status": false, "error": {"code": 601, "message": "no"}}}"#, .refusedByServer),
            (500, "", .serverMisbehaved), (200, "<html>", .serverMisbehaved), (200, "{}", .serverMisbehaved),
        ])
    func refusedAnswerLeavesMessageOpen(status: Int, body: String, expected: AuthenticatorError.Code) async throws {
        let user = try PrivacyIDEAFixture(answer: { _ in HTTPResponse(status: status, body: Array(body.utf8)) })
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("approve"))
        await #expect { try await user.authenticator.approve(notification.id) } throws: { code($0) == expected }
        #expect(try await user.authenticator.notification(notification.id) == notification)
    }

    @Test("A refusal after a lost response does not count as an earlier acceptance", arguments: [200, 400])
    func refusalProvesNothing(status: Int) async throws {
        let requests = Counter()
        let user = try PrivacyIDEAFixture(answer: { (_: HTTPRequest) async throws(TransportError) -> HTTPResponse in
            guard requests.add() > 1 else { throw TransportError(.interrupted, host: "pi.example.test", "on purpose") }
            let body = #"{"result": {"status": \#(status == 200), "value": false}}"#
            return HTTPResponse(status: status, body: Array(body.utf8))
        })
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("approve"))
        await #expect(throws: TransportError.self) { try await user.authenticator.approve(notification.id) }
        await #expect { try await user.authenticator.approve(notification.id) } throws: { code($0) == .refusedByServer }
        #expect(try await user.authenticator.notification(notification.id).decision == nil)
    }

    // MARK: Messages

    /// A change of a challenge, and the error that it causes.
    private static let forgeries: [(change: [String: JSONValue], error: PushMessageError)] = [
        (["nonce": .string("L7DKZXKURPXGFEDXUSZLN2IB6QRA3OOJ")], .signature), (["nonce": .string("")], .form),
        (["url": .string("https://evil.example.test/")], .signature), (["url": .string("a|b")], .claim("url")),
        (["url": .string("a|\u{301}b")], .claim("url")),
        (["serial": .string("PIPU1")], .claim("serial")), (["question": .string("Win a prize?")], .signature),
        (["title": .string("Bank")], .signature), (["sslverify": .string("0")], .signature),
        (["sslverify": .string("2")], .claim("sslverify")), (["require_presence": .string("87,66")], .signature),
        (["require_presence": .string("87")], .claim("require_presence")), (["require_presence": .null], .signature),
        // The signed text is the same, but the demand for a number is gone.
        (["require_presence": .null, "sslverify": .string("1|87,66,25")], .claim("sslverify")),
        (["signature": .string("")], .claim("signature")), (["signature": .string("MZXW6===")], .signature),
        (["signature": .integer(1)], .claim("signature")), (["nonce": .null], .form),
        (["question": .string(String(repeating: "?", count: 10_000))], .claim("question")),
    ]

    @Test(
        "A message that the server has not signed, and one with another meaning, are refused and not stored", arguments: forgeries
    )
    func refusesForgery(change: [String: JSONValue], error: PushMessageError) async throws {
        let user = try PrivacyIDEAFixture()
        var answer = try #require(try user.vectors.challenge("numbers")["poll"]?.object)
        var result = try #require(answer["result"]?.object)
        var challenge = try #require(result["value"]?.array?.first?.object)
        for (name, value) in change { challenge[name] = value == .null ? nil : value }
        result["value"] = .array([.object(challenge)])
        answer["result"] = .object(result)
        let delivery = try #require(try await user.vectors.deliveries(in: .object(answer)).first)
        await #expect(throws: error) { try await user.authenticator.receive(delivery) }
        #expect(try user.fixture.state().notifications.isEmpty)
    }

    @Test("A message signed by another server's key is refused")
    func refusesOtherServer() async throws {
        let other = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey
        let user = try PrivacyIDEAFixture({ $0.serverKey = Array(other.pkcs1DERRepresentation) })
        let delivery = try await user.vectors.delivery("approve")
        await #expect(throws: PushMessageError.signature) { try await user.authenticator.receive(delivery) }
    }

    @Test("A message that is sent again after its answer is not answered a second time")
    func ignoresReplay() async throws {
        let user = try PrivacyIDEAFixture()
        let delivery = try await user.vectors.delivery("approve")
        let notification = try await user.authenticator.receive(delivery)
        _ = try await user.authenticator.approve(notification.id)
        let again = try await user.authenticator.receive(delivery)
        #expect(again.id == notification.id && again.decision == .approved)
        await #expect { try await user.authenticator.approve(again.id) } throws: { code($0) == .alreadyAnswered }
        #expect(user.posted.count == 1)
        #expect(try user.fixture.state().notifications.count == 1)
    }

    @Test("A message is answered within 120 seconds")
    func expires() async throws {
        let user = try PrivacyIDEAFixture()
        let notification = try await user.authenticator.receive(try await user.vectors.delivery("approve"))
        user.fixture.clock.advance(by: 121)
        await #expect { try await user.authenticator.approve(notification.id) } throws: { code($0) == .expired }
        #expect(user.posted.isEmpty)
    }

    @Test("A message of privacyIDEA is refused for a mechanism of AM, and one of AM for a mechanism of privacyIDEA")
    func refusesMessageAcrossBuiltInPlatforms() async throws {
        let fixture = AuthenticatorFixture()
        let push = try await fixture.enrollPush()
        let poll = try PrivacyIDEAVectors().challenge("approve")["poll"]
        let challenge = try #require(poll?["result"]?["value"]?.array?.first)
        let envelope: JSONValue = .object(["mechanism": .string(push.uid), "privacyIDEA": challenge])
        let foreign = PushDelivery(messageId: challenge["nonce"]?.string ?? "", message: JSON.text(of: envelope))
        await #expect { try await fixture.authenticator.receive(foreign) } throws: { code($0) == .unknownMechanism }
        let user = try PrivacyIDEAFixture()
        let delivery = try user.fixture.delivery(to: try user.vectors.mechanism())
        await #expect { try await user.authenticator.receive(delivery) } throws: { code($0) == .unknownMechanism }
    }
}

@Suite("Registration at privacyIDEA")
struct PrivacyIDEARegistrationTests {
    private static let uri =
        "otpauth://pipush/mira?url=https%3A//pi.example.test/ttype/push&ttl=10&issuer=Harbor%20Bank"
        + "&enrollment_credential=12ee6330623dd059f2748be6e5aa63d87055d0a5&v=1&serial=PIPU1&sslverify=1&poll_only=True"

    /// The answer of a real server, which has a line break after every 64 characters of its key.
    private static func answer() throws -> [UInt8] {
        JSON.encode(try #require(try PrivacyIDEAVectors().json["registration"]))
    }

    @Test("The device registers a key of its own, and stores it where version 0.1.0 takes it for no shared secret")
    func registers() async throws {
        let (inner, body) = (MemoryStore(), try Self.answer())
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner)) { _ in
            HTTPResponse(status: 200, body: body)
        }
        let mechanism = try await fixture.authenticator.enroll(uri: Self.uri).mechanisms[0]
        let request = try #require(fixture.transport.requests.first)
        let fields = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
        #expect(Set(fields.keys) == ["enrollment_credential", "serial", "fbtoken", "pubkey"])
        #expect(fields["enrollment_credential"] == "12ee6330623dd059f2748be6e5aa63d87055d0a5")
        #expect(fields["serial"] == "PIPU1" && fields["fbtoken"] == "")
        let push = try #require(mechanism.push)
        let key = try _RSA.Signing.PrivateKey(derRepresentation: push.secret.bytes)
        #expect(fields["pubkey"] == key.publicKey.derRepresentation.base64EncodedString() && key.keySizeInBits == 3072)
        let serverKey = try #require(push.serverKey)
        #expect(try _RSA.Signing.PublicKey(derRepresentation: serverKey).keySizeInBits == 4096)
        #expect(push.platform == PrivacyIDEAPlatform.name && mechanism.resourceID == "PIPU1")

        let record = try inner.read { (records: any RecordReader) throws(StoreError) in
            try records.record(RecordKey(.mechanism, mechanism.uid))
        }
        let members = try JSON.value(of: try #require(record))
        #expect(members["push"] == nil && members["oath"] == nil && members["steam"] == nil)
        #expect(members["pushKeys"]?["serverKey"]?.string == Base64.encode(serverKey, as: .standard))
        #expect(try await fixture.authenticator.accounts().first?.mechanisms == [mechanism])
    }

    @Test(
        "A registration that the server refuses, or answers without its key, stores nothing",
        arguments: [
            (
                400, #"{"result": {"status": false, "error": {"code": 905, "message": "no"}}}"#,
                AuthenticatorError.Code.refusedByServer
            ),
            (200, #"{"detail": {}, "result": {"status": true, "value": true}}"#, .serverMisbehaved),
            (200, #"{"detail": {"public_key": "MAA="}, "result": {"status": true, "value": true}}"#, .serverMisbehaved),
            (200, #"{"detail": {"public_key": "MAA="}, "result": {"status": true, "value": false}}"#, .serverMisbehaved),
            (503, "", .serverMisbehaved),
        ])
    func refusedRegistrationStoresNothing(status: Int, body: String, expected: AuthenticatorError.Code) async throws {
        let fixture = AuthenticatorFixture { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
        await #expect { try await fixture.authenticator.enroll(uri: Self.uri) } throws: {
            code($0) == expected && !"\($0)".contains("12ee")
        }
        let state = try fixture.state()
        #expect(state.accounts.isEmpty && state.mechanisms.isEmpty)
    }

    @Test("A push gateway is refused before any request")
    func refusesGateway() async throws {
        let fixture = AuthenticatorFixture()
        let gateway = try Endpoint("https://gateway.example.test/")
        await #expect { try await fixture.authenticator.enroll(uri: Self.uri, pushGateway: gateway) } throws: {
            code($0) == .notSupported
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A registration that could not be stored is stored by the next attempt, without a second request")
    func storesAcceptedRegistration() async throws {
        let (store, body) = (FaultyStore(MemoryStore()), try Self.answer())
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: store)) { _ in
            HTTPResponse(status: 200, body: body)
        }
        store.inject(StoreFault(.full, at: .commit))
        await #expect { try await fixture.authenticator.enroll(uri: Self.uri) } throws: { code($0) == .registeredNotStored }
        store.reset()
        let mechanism = try await fixture.authenticator.enroll(uri: Self.uri).mechanisms[0]
        #expect(mechanism.push?.serverKey != nil && fixture.transport.requests.count == 1)
    }

    @Test("The server has no device token, and is not told a new one")
    func needsNoDeviceToken() async throws {
        let user = try PrivacyIDEAFixture()
        let update = try #require(try await user.authenticator.updateDeviceToken("token-2").first)
        guard case .notSupported = update.outcome else { throw Unexpected() }
        #expect(user.fixture.transport.requests.isEmpty)
    }
}

@Suite("A listener that asks privacyIDEA for messages")
struct PrivacyIDEAListenerTests {
    private static func body(_ answer: JSONValue?) throws -> [UInt8] { JSON.encode(try #require(answer)) }

    private static func listener(_ user: PrivacyIDEAFixture) -> PushStreamListener {
        PushStreamListener(user.authenticator, mechanismUID: PrivacyIDEAVectors.uid, pollInterval: .milliseconds(1))
    }

    @Test("A message is reported once while the server repeats it, and the listener reports that it is connected once")
    func reportsMessageOnce() async throws {
        let vectors = try PrivacyIDEAVectors()
        let (first, second) = (
            try Self.body(vectors.challenge("approve")["poll"]), try Self.body(vectors.challenge("numbers")["poll"])
        )
        let polls = Counter()
        let user = try PrivacyIDEAFixture(answer: { _ in
            HTTPResponse(status: 200, body: polls.add() < 5 ? first : second)
        })
        let events = Mutex<[String]>([])
        await #expect(throws: StopListening.self) {
            try await Self.listener(user).run { event in
                switch event {
                case .connected: events.withLock { $0.append("connected") }
                case .received(let notification):
                    events.withLock { $0.append(notification.message.kind.wireName) }
                    if case .number = notification.message.kind { throw StopListening() }
                default: throw Unexpected()
                }
            }
        }
        let seen = events.withLock { $0 }
        #expect(seen == ["connected", "default", "challenge"])
    }

    @Test("A forged message is reported as refused and does not hide the genuine one with the same nonce")
    func forgeryHidesNothing() async throws {
        let genuine = try Self.body(try PrivacyIDEAVectors().challenge("approve")["poll"])
        let forged = Array(String(decoding: genuine, as: UTF8.self).replacing("confirm the login", with: "win a prize").utf8)
        let polls = Counter()
        let user = try PrivacyIDEAFixture(answer: { _ in HTTPResponse(status: 200, body: polls.add() < 3 ? forged : genuine) })
        let events = Mutex<[String]>([])
        await #expect(throws: StopListening.self) {
            try await Self.listener(user).run { event in
                switch event {
                case .refused(let error): events.withLock { $0.append("\(error)") }
                case .received: throw StopListening()
                default: break
                }
            }
        }
        let seen = events.withLock { $0 }
        #expect(seen == ["\(PushMessageError.signature)"])
    }

    @Test("A message that the server does not list any more has ended, unless the server lists more than are read")
    func reportsEndOfMessage() async throws {
        let vectors = try PrivacyIDEAVectors()
        let one = try #require(try vectors.challenge("approve")["poll"])
        let listed = JSON.encode(one)
        let unknown = Array(repeating: JSONValue.object(["nonce": "x"]), count: 65)
        let many = JSON.encode(JSONValue.object(["result": .object(["status": .bool(true), "value": .array(unknown)])]))
        let empty = try Self.body(vectors.json["empty"])
        let polls = Counter()
        let user = try PrivacyIDEAFixture(answer: { (_: HTTPRequest) async throws(TransportError) -> HTTPResponse in
            switch polls.add() {
            case 1, 2: return HTTPResponse(status: 200, body: listed)
            case 3: return HTTPResponse(status: 503)
            case 4, 5: return HTTPResponse(status: 200, body: many)
            default: return HTTPResponse(status: 200, body: empty)
            }
        })
        let (received, ended) = (DistinctItems(), DistinctItems())
        await #expect(throws: StopListening.self) {
            try await Self.listener(user).run(
                ended: { id in
                    _ = ended.add("\(id) \(polls.count)")
                    throw StopListening()
                },
                { event in
                    if case .received(let notification) = event { _ = received.add(notification.id) }
                })
        }
        let expected = received.all.map { "\($0) 6" }
        #expect(ended.all == expected && expected.count == 1)
        #expect(try await user.authenticator.notifications().map(\.decision) == [nil])
    }

    @Test("While the server is away the pauses grow, and afterwards the listener goes on")
    func pausesGrow() async throws {
        let body = try Self.body(try PrivacyIDEAVectors().challenge("approve")["poll"])
        let polls = Counter()
        let user = try PrivacyIDEAFixture(answer: { (_: HTTPRequest) async throws(TransportError) -> HTTPResponse in
            switch polls.add() {
            case 1: throw TransportError(.connect, host: "pi.example.test", "on purpose")
            case 2: return HTTPResponse(status: 503)
            default: return HTTPResponse(status: 200, body: body)
            }
        })
        let events = Mutex<[String]>([])
        await #expect(throws: StopListening.self) {
            try await Self.listener(user).run { event in
                switch event {
                case .disconnected(_, let pause): events.withLock { $0.append("\(pause)") }
                case .connected: events.withLock { $0.append("connected") }
                case .received: throw StopListening()
                case .refused: throw Unexpected()
                }
            }
        }
        let seen = events.withLock { $0 }
        #expect(seen == ["0.5 seconds", "1.0 seconds", "connected"])
    }

    @Test("A refusal ends the listener, unless the server's clock explains it", arguments: [0.0, 10, 600, -600])
    func correctsClockOnce(difference: TimeInterval) async throws {
        let vectors = try PrivacyIDEAVectors()
        let (body, serverTime) = (try Self.body(vectors.json["empty"]), Sample.start.addingTimeInterval(difference))
        let user = try PrivacyIDEAFixture(answer: { request in
            let sent = FormCoding.query(of: request.url)["timestamp"].flatMap { try? Date($0, strategy: .iso8601) }
            let isClose = abs((sent ?? .distantPast).timeIntervalSince(serverTime)) < 2
            // With a small difference the server refuses for another reason.
            let isAccepted = isClose && abs(difference) > 60
            return HTTPResponse(
                status: isAccepted ? 200 : 400, headers: ["Date": ServerDate.text(of: serverTime)], body: isAccepted ? body : [])
        })
        if abs(difference) > 60 {
            await #expect(throws: StopListening.self) {
                try await Self.listener(user).run { event in
                    if case .connected = event { throw StopListening() }
                }
            }
            #expect(user.fixture.transport.requests.count == 2)
        } else {
            await #expect { try await Self.listener(user).run { _ in } } throws: { code($0) == .refusedByServer }
            #expect(user.fixture.transport.requests.count == 1)
        }
    }

    @Test("An error of the app's handler reaches the app unchanged")
    func pollHandlerErrorReachesApp() async throws {
        let body = try Self.body(try PrivacyIDEAVectors().challenge("approve")["poll"])
        let user = try PrivacyIDEAFixture(answer: { _ in HTTPResponse(status: 200, body: body) })
        await #expect(throws: TransportError(.timeout, host: "app", "its own")) {
            try await Self.listener(user).run { event in
                if case .received = event { throw TransportError(.timeout, host: "app", "its own") }
            }
        }
    }
}
