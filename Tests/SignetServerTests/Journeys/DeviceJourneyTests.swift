import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Device binding and device signing")
struct DeviceBindingTests {
    private static let start = 1_735_689_600

    private func claims(_ callback: JourneyCallback, _ changes: [String: JSONValue?] = [:]) throws -> [String: JSONValue] {
        var claims: [String: JSONValue] = [
            "sub": .string("id=mira,ou=user,ou=am-config"), "challenge": try #require(callback.output("challenge")),
            "exp": .integer(Int64(Self.start + 60)), "iat": .integer(Int64(Self.start)), "nbf": .integer(Int64(Self.start)),
            "iss": "org.example.app", "platform": "ios",
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private func bind(
        _ server: TestServer, _ key: TestKey, changes: [String: JSONValue?] = [:], header: [String: JSONValue] = [:]
    ) async throws -> Reply {
        var step = try await server.logIn("DeviceBinding").step
        let callback = try #require(step.callback("DeviceBindingCallback"))
        let jws = try key.sign(try claims(callback, changes), header: ["jwk": key.jwk].merging(header) { $1 })
        try step.fill("DeviceBindingCallback", "jws", .string(jws))
        try step.fill("DeviceBindingCallback", "deviceName", "Mira's phone")
        try step.fill("DeviceBindingCallback", "deviceId", "device-1")
        return try await server.next(step)
    }

    private func sign(_ server: TestServer, _ step: JourneyStep, _ key: TestKey, _ changes: [String: JSONValue?] = [:])
        async throws
        -> Reply
    {
        var step = step
        let callback = try #require(step.callback("DeviceSigningVerifierCallback"))
        try step.fill("DeviceSigningVerifierCallback", "jws", .string(try key.sign(try claims(callback, changes))))
        return try await server.next(step)
    }

    @Test("A bound device's key logs its user in on each platform, with and without a user name", arguments: [false, true])
    func boundKeyLogsIn(isAndroid: Bool) async throws {
        let key = isAndroid ? try TestKey.android() : .apple()
        try await TestServer.run { server in
            #expect(try await bind(server, key).json["tokenId"] != nil)
            let named = try await server.logIn("DeviceSigning").step
            #expect(named.callbacks[0].output("userId") == "id=mira,ou=user,ou=am-config")
            let custom: [String: JSONValue?] = ["amount": .integer(5), "platform": nil]
            #expect(try await sign(server, named, key, custom).json["tokenId"] != nil)
            let nameless = try await server.start("DeviceLogin").step
            #expect(nameless.callbacks[0].output("userId") == "")
            #expect(try await sign(server, nameless, key).json["tokenId"] != nil)
        }
    }

    @Test(
        "A binding statement with an invalid claim or header binds no device",
        arguments: [
            (["sub": "id=noa,ou=user,ou=am-config"], [:]), (["challenge": "c2FtcGxl"], [:]),
            (["exp": .integer(1_735_689_000)], [:]),
            (["exp": nil], [:]), (["nbf": .integer(1_735_690_000)], [:]), ([:], ["alg": "none"]), ([:], ["alg": "HS256"]),
            ([:], ["jwk": .null]), ([:], ["jwk": .object(["kty": "oct", "k": "AAAA"])]), ([:], ["crit": .array(["x"])]),
            ([:], ["kid": ""]), ([:], ["jwk": TestKey.apple().jwk]),
            ([:], ["jwk": .object(["kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"])]),
        ] as [([String: JSONValue?], [String: JSONValue])])
    func refusesInvalidBindingStatement(changes: [String: JSONValue?], header: [String: JSONValue]) async throws {
        try await TestServer.run { server in
            let reply = try await bind(server, .apple(), changes: changes, header: header)
            #expect(reply.message == "Login failure")
            let bindings = try await server.devServer.context.store.read { tx in
                try tx.devices.others(.binding, of: UserKey(realm: .root, name: "mira"))
            }
            #expect(bindings.isEmpty)
        }
    }

    @Test("An unknown key, an old challenge or a client error does not log the user in")
    func refusesUnknownKeysAndOldChallenges() async throws {
        let key = TestKey.apple()
        try await TestServer.run { server in
            #expect(try await server.logIn("DeviceSigning").message == "Login failure")
            #expect(try await bind(server, key).json["tokenId"] != nil)
            #expect(try await bind(server, key).message == "Login failure")
            #expect(try await sign(server, try await server.logIn("DeviceSigning").step, .apple()).status == 401)
            var attacker = TestKey.apple()
            attacker.id = key.id
            #expect(try await sign(server, try await server.logIn("DeviceSigning").step, attacker).status == 401)
            #expect(try await sign(server, try await server.start("DeviceLogin").step, attacker).status == 401)
            let old = try #require(try await server.logIn("DeviceSigning").step.callbacks[0].output("challenge"))
            let replay = try await sign(server, try await server.logIn("DeviceSigning").step, key, ["challenge": old])
            #expect(replay.status == 401)
            for error in ["Timeout", "Abort", "Unsupported", "ClientNotRegistered", "?"] {
                var step = try await server.logIn("DeviceSigning").step
                try step.fill("DeviceSigningVerifierCallback", "clientError", .string(error))
                #expect(try await server.next(step).status == 401)
            }
            #expect(try await sign(server, try await server.start("DeviceLogin").step, key, ["sub": "mira"]).status == 401)
        }
    }
}

@Suite("WebAuthn registration and login")
struct WebAuthnTests {
    /// The challenge in a step, in standard Base64, from either form of the step.
    static func challenge(_ step: JourneyStep) throws -> String {
        if let data = step.callback("MetadataCallback")?.output("data") { return try #require(data["challenge"]?.string) }
        let script = try #require(step.callback("TextOutputCallback")?.output("message")?.string)
        let numbers = try #require(script.firstMatch(of: #/challenge: new Int8Array\(\[([^\]]+)\]\)/#)?.output.1)
        let bytes = numbers.split(separator: ",").compactMap { Int8($0.trimming(" ")) }.map { UInt8(bitPattern: $0) }
        return Base64.encode(bytes, as: .standard)
    }

    private func answer(_ server: TestServer, _ step: JourneyStep, _ outcome: String) async throws -> Reply {
        var step = step
        step.fill("HiddenValueCallback", .string(outcome))
        return try await server.next(step)
    }

    private func register(_ server: TestServer, _ authenticator: TestAuthenticator, form: String = "") async throws -> Reply {
        let step = try await server.logIn("WebAuthnRegistration\(form)").step
        return try await answer(server, step, try authenticator.registration(challenge: try Self.challenge(step), name: "Key"))
    }

    private func logIn(_ server: TestServer, _ authenticator: TestAuthenticator, form: String = "") async throws -> Reply {
        let step = try await server.logIn("WebAuthnLogin\(form)").step
        return try await answer(server, step, try authenticator.assertion(challenge: try Self.challenge(step)))
    }

    @Test("A passkey is registered and used with the step format of each AM version", arguments: ["", "70", "65"])
    func registersAndUsesPasskeyInStepFormat(form: String) async throws {
        try await TestServer.run { server in
            var authenticator = TestAuthenticator()
            let registered = try await register(server, authenticator, form: form)
            #expect(registered.json["tokenId"] != nil)
            authenticator.counter = 2
            let loggedIn = try await logIn(server, authenticator, form: form)
            #expect(loggedIn.json["tokenId"] != nil)
        }
    }

    @Test("A current step has metadata for apps and for browsers, and an older one only for browsers")
    func stepsHaveMetadataOfTheirVersion() async throws {
        try await TestServer.run { server in
            let authenticator = TestAuthenticator()
            #expect(try await register(server, authenticator).json["tokenId"] != nil)
            let list = JSONValue.array(authenticator.credentialID.map { .integer(Int64($0)) })
            let registration = try #require(try await server.logIn("WebAuthnRegistration").step.callbacks[0].output("data"))
            #expect(registration["_action"] == "webauthn_registration")
            #expect(registration["_relyingPartyId"] == "localhost")
            #expect(registration["relyingPartyId"] == "id: \"localhost\",")
            #expect(registration["_excludeCredentials"]?.array?.first?["id"] == list)
            let algorithms = registration["_pubKeyCredParams"]?.array?.map { $0["alg"] }
            #expect(algorithms == [.integer(-7), .integer(-257)])
            let step = try await server.logIn("WebAuthnLogin").step
            let authentication = try #require(step.callbacks[0].output("data"))
            #expect(authentication["_action"] == "webauthn_authentication")
            #expect(authentication["_allowCredentials"]?.array?.first?["id"] == list)
            #expect(authentication["supportsJsonResponse"] == .bool(true))
            #expect(step.callbacks[1].output("id") == "webAuthnOutcome")
            #expect(step.callbacks[1].input?.first?.name == "IDToken2")
            let legacy = try #require(try await server.logIn("WebAuthnLogin70").step.callbacks[0].output("data")?.object)
            let unexpectedKeys = legacy.keys.filter { $0.hasPrefix("_") && $0 != "_action" && $0 != "_type" }
            #expect(unexpectedKeys.isEmpty)
            #expect(legacy["allowCredentials"]?.string?.hasPrefix("allowCredentials: [{ \"type\": \"public-key\"") == true)
        }
    }

    @Test("A WebAuthn answer may be wrapped in JSON")
    func acceptsAnswerInJSON() async throws {
        try await TestServer.run { server in
            let authenticator = TestAuthenticator()
            let step = try await server.logIn("WebAuthnRegistration").step
            let legacy = try authenticator.registration(challenge: try Self.challenge(step))
            let wrapped = JSON.text(of: .object(["authenticatorAttachment": "platform", "legacyData": .string(legacy)]))
            #expect(try await answer(server, step, wrapped).json["tokenId"] != nil)
        }
    }

    enum Fault: CaseIterable {
        case party, origin, originBelow, otherPort, defaultPort, otherScheme, address, absent, copied, unregistered, otherKey,
            otherChallenge, otherType
    }

    @Test("A WebAuthn answer with an invalid part does not log the user in", arguments: Fault.allCases)
    func refusesInvalidAssertion(fault: Fault) async throws {
        try await TestServer.run { server in
            var authenticator = TestAuthenticator()
            authenticator.counter = 7
            let registered = try await register(server, authenticator)
            #expect(registered.json["tokenId"] != nil)
            authenticator.counter = 8
            let step = try await server.logIn("WebAuthnLogin").step
            var challenge = try Self.challenge(step)
            switch fault {
            case .party: authenticator.party = "evil.test"
            case .origin: authenticator.origin = "https://evillocalhost"
            case .originBelow: authenticator.origin = "http://login.localhost:8080"
            case .otherPort: authenticator.origin = "http://localhost:8081"
            case .defaultPort: authenticator.origin = "http://localhost"
            case .otherScheme: authenticator.origin = "https://localhost:8080"
            case .address: authenticator.origin = "http://127.0.0.1:8080"
            case .absent: authenticator.flags = 0x04
            case .copied: authenticator.counter = 7
            case .unregistered: authenticator = TestAuthenticator()
            case .otherKey: authenticator.key = TestAuthenticator().key
            case .otherChallenge: challenge = "AAAA"
            case .otherType: break
            }
            let outcome = try authenticator.assertion(challenge: challenge, clientType: fault == .otherType ? "create" : "get")
            let reply = try await answer(server, step, outcome)
            #expect(reply.json["tokenId"] == nil)
        }
    }

    /// A public URL, the relying party, the configured origins, an origin, and whether it is accepted.
    static let origins: [(String, String?, [String], String, Bool)] = [
        ("https://login.example.test/am", nil, [], "https://login.example.test", true),
        ("https://login.example.test/am", nil, [], "https://login.example.test:443", false),
        ("https://login.example.test/am", nil, [], "http://login.example.test", false),
        ("https://login.example.test/am", nil, [], "https://a.login.example.test", false),
        ("https://login.example.test:8443/am", nil, [], "https://login.example.test:8443", true),
        ("https://login.example.test:8443/am", nil, [], "https://login.example.test", false),
        ("https://login.example.test/am", "example.test", [], "https://login.example.test", true),
        ("https://login.example.test/am", "example.test", [], "https://example.test", false),
        ("https://login.example.test/am", "example.test", [], "https://shop.example.test", false),
        ("https://login.example.test/am", "example.test", ["https://shop.example.test"], "https://shop.example.test", true),
        ("https://login.example.test/am", nil, ["android:apk-key-hash:x"], "android:apk-key-hash:x", true),
        ("http://127.0.0.1:8080/am", nil, [], "http://localhost:8080", true),
        ("http://[::1]:8080/am", nil, [], "http://localhost:8080", true),
    ]

    @Test("A WebAuthn answer is accepted only from exactly the server's origin or a configured one", arguments: origins)
    func acceptsExactOriginsOnly(url: String, party: String?, configured: [String], origin: String, isAccepted: Bool) {
        let configuration = ServerConfiguration.sample {
            $0.webAuthnRelyingParty = party
            $0.webAuthnOrigins = configured
        }
        let time = RequestTime(now: ManualClock().now, configuration: configuration, baseURL: url)
        #expect(RelyingParty(time).owns(origin) == isAccepted)
    }

    @Test(
        "An unusable WebAuthn answer, or an error of the browser, is a login failure",
        arguments: [
            "webAuthnOutcome", "", "unsupported", "ERROR::NotAllowedError:denied", "ERROR", "::", "a::b::c", "{}::1,2::x", "{",
            "{}::\(String(repeating: "-128,", count: 500))1::x",
        ])
    func unusableAnswerFailsLogin(outcome: String) async throws {
        try await TestServer.run { server in
            let registration = try await server.logIn("WebAuthnRegistration").step
            #expect(try await answer(server, registration, outcome).message == "Login failure")
            // A user without a passkey gets no step.
            #expect(try await server.logIn("WebAuthnLogin").message == "Login failure")
            #expect(try await register(server, TestAuthenticator()).json["tokenId"] != nil)
            let login = try await server.logIn("WebAuthnLogin").step
            #expect(try await answer(server, login, outcome).message == "Login failure")
        }
    }

    @Test("A public key that is not a point on the curve is refused", arguments: [0, 1])
    func refusesKeyOffCurve(byte: UInt8) async throws {
        try await TestServer.run { server in
            var authenticator = TestAuthenticator()
            authenticator.point = [UInt8](repeating: byte, count: 64)
            let reply = try await register(server, authenticator)
            #expect(reply.message == "Login failure")
        }
    }

    @Test(
        "When user verification is required, user presence alone is refused",
        arguments: [
            ("required", 0x05, true), ("required", 0x01, false), ("preferred", 0x01, true), ("discouraged", 0x01, true),
            ("discouraged", 0x04, false),
        ] as [(String, UInt8, Bool)])
    func requiresUserVerification(demand: String, flags: UInt8, isValid: Bool) throws {
        var server = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        var (known, new) = (TestAuthenticator(), TestAuthenticator())
        let first = try flow(WebAuthnRegistrationNode(), &server) { try known.registration(challenge: $0) }
        #expect(first == .success)
        (known.flags, known.counter, new.flags) = (flags, 2, flags)
        let authentication = WebAuthnAuthenticationNode(style: WebAuthnStyle(userVerification: demand))
        let loggedIn = try flow(authentication, &server) { try known.assertion(challenge: $0) }
        #expect(loggedIn == (isValid ? .success : .failure))
        let registered = try flow(WebAuthnRegistrationNode(style: WebAuthnStyle(userVerification: demand)), &server) {
            try new.registration(challenge: $0)
        }
        #expect(registered == (isValid ? .success : .failure))
    }

    /// Returns the outcome of a node after an authenticator's answer.
    private func flow(
        _ node: any Node, _ tx: inout ServerTransaction, _ answer: (String) throws -> String
    ) throws -> NodeOutcome? {
        var journey = JourneyState.sample()
        journey.username = "mira"
        let asked = try node.process(nil, &journey, &tx)
        guard case .prompt(let page) = asked else { return asked.outcome }
        let callbacks = JourneyCallback.numbered(page.callbacks)
        let challenge = try #require(callbacks[0].output("data")?["challenge"]?.string)
        let field: JSONValue = .object(["name": "IDToken2", "value": .string(try answer(challenge))])
        let answers = Answers(callbacks, filledIn: .array([.object(["input": .array([field])])]))
        return try node.process(answers, &journey, &tx).outcome
    }

    @Test(
        "Damaged CBOR is read as no value",
        arguments: [
            [], [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x9A, 0xFF, 0xFF, 0xFF, 0xFF], [0xBF], [0x1C], [0x41],
            [0xA2, 0x01, 0x01, 0x01, 0x02], [0x61, 0xFF], [0xC0, 0x00], [0xF9, 0x00, 0x00], [UInt8](repeating: 0x81, count: 1000),
        ] as [[UInt8]])
    func readsDamagedCBORAsNil(bytes: [UInt8]) {
        var rest = bytes[...]
        #expect(CBOR.read(&rest) == nil)
    }
}
