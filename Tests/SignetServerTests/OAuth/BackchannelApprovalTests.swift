import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A server with clients that may ask users for approvals, and a user with a phone.
struct ApprovalServer: Sendable {
    static let grant = "urn:openid:params:grant-type:ciba"
    private static let key = DPoPKey()

    let server: TestServer
    let phone: Phone

    static func clients() throws -> [RegisteredClient] {
        [
            RegisteredClient(id: "agent", secret: Secret("a".utf8)) { $0.grantTypes = [.backchannel, .refreshToken] },
            RegisteredClient(id: "signer") {
                $0.grantTypes = [.backchannel]
                $0.keys = (try? [key.publicKey]) ?? []
            },
            RegisteredClient(id: "public") { $0.grantTypes = [.backchannel] },
            RegisteredClient(id: "web", secret: Secret("w".utf8)),
        ]
    }

    static func run(
        others: [RegisteredClient] = [], messages: MessageLimits? = nil,
        _ body: @Sendable (ApprovalServer) async throws -> Void
    ) async throws {
        let clients = try clients() + others
        try await TestServer.run(
            .sample {
                $0.clients += clients
                $0.limits.messages = messages
            }
        ) { server async throws in
            try await body(ApprovalServer(server: server, phone: try await server.registeredPhone()))
        }
    }

    /// Asks for an approval, with `changes` to the parameters; a nil removes a parameter.
    func ask(_ changes: [String: String?] = [:]) async throws -> Reply {
        let parameters: [String: String?] = [
            "client_id": "agent", "client_secret": "a", "scope": "openid profile", "login_hint": "mira",
            "binding_message": "Deploy 4711?",
        ]
        return try await server.postForm("bc-authorize", parameters.merging(changes) { $1 })
    }

    func poll(_ id: String, _ changes: [String: String?] = [:]) async throws -> Reply {
        let parameters: [String: String?] = [
            "grant_type": Self.grant, "client_id": "agent", "client_secret": "a", "auth_req_id": id,
        ]
        return try await server.postForm("access_token", parameters.merging(changes) { $1 })
    }

    /// Asks, and returns the ID of the request and the message on the phone.
    func asked(_ changes: [String: String?] = [:]) async throws -> (id: String, push: PushMessageRecord) {
        let reply = try await ask(changes)
        let id = try #require(reply.json["auth_req_id"]?.string, "\(reply.text)")
        return (id, try #require(try await server.inbox(phone.uid).last))
    }

    /// Signs a token as the client `signer`.
    func signed(_ claims: [String: JSONValue], algorithm: String = "ES256") throws -> String {
        try Self.key.sign(UnsignedToken(header: ["alg": .string(algorithm)], claims: claims))
    }

    /// The claims of a signed request of the client `signer`.
    var requestClaims: [String: JSONValue] {
        let now = Int64(server.clock.now.timeIntervalSince1970)
        return [
            "iss": "signer", "aud": .string(server.devServer.context.time.issuer(of: .root)), "iat": .integer(now),
            "nbf": .integer(now), "exp": .integer(now + 60), "jti": .string(UUID().uuidString), "scope": "openid",
            "login_hint": "mira", "binding_message": "Signed 4711?",
        ]
    }

    /// Asks with a signed request, and with an assertion for the client's authentication.
    func askSigned(_ request: String, _ changes: [String: String?] = [:]) async throws -> Reply {
        let now = Int64(server.clock.now.timeIntervalSince1970)
        let assertion = try signed([
            "iss": "signer", "sub": "signer", "aud": .string(server.devServer.context.time.issuer(of: .root)),
            "exp": .integer(now + 60), "jti": .string(UUID().uuidString),
        ])
        let parameters: [String: String?] = [
            "client_assertion": assertion, "client_assertion_type": ClientAssertion.type, "request": request,
        ]
        return try await server.postForm("bc-authorize", parameters.merging(changes) { $1 })
    }
}

@Suite("Approvals that a client asks for (CIBA)")
struct BackchannelApprovalTests {
    @Test("The phone shows the binding message, and the approval gives the client tokens once")
    func approvalGivesTokens() async throws {
        try await ApprovalServer.run { test async throws in
            let reply = try await test.ask()
            #expect(reply.status == 200 && reply.json["expires_in"] == .integer(120) && reply.json["interval"] == .integer(5))
            #expect(reply.header("Cache-Control") == "no-store")
            let id = try #require(reply.json["auth_req_id"]?.string)
            let push = try #require(try await test.server.inbox(test.phone.uid).last)
            let message = try SealedPushMessage(push.sealed).open(with: test.phone.secret)
            #expect(message.text == "Deploy 4711?")
            #expect(try await test.poll(id).error == "authorization_pending")
            #expect(try await test.phone.answer(push, at: test.server).status == 200)
            let tokens = try Tokens(try await test.poll(id))
            let claims = try await test.server.claims(try #require(tokens.id))
            #expect(claims["sub"] == "mira" && claims["aud"] == "agent" && tokens.refresh != nil)
            #expect(try await test.server.userInfo(tokens.access).json["sub"] == "mira")
            #expect(try await test.poll(id).error == "invalid_grant")
        }
    }

    @Test("A denial is access_denied, once")
    func denialIsReported() async throws {
        try await ApprovalServer.run { test async throws in
            let (id, push) = try await test.asked()
            #expect(try await test.phone.answer(push, ["deny": .bool(true)], at: test.server).status == 200)
            #expect(try await test.poll(id).error == "access_denied")
            #expect(try await test.poll(id).error == "invalid_grant")
        }
    }

    @Test("A client that polls too early is told to slow down, and its interval grows by five seconds")
    func earlyPollSlowsDown() async throws {
        try await ApprovalServer.run { test async throws in
            let (id, push) = try await test.asked()
            #expect(try await test.poll(id).error == "authorization_pending")
            test.server.clock.advance(by: 4)
            #expect(try await test.poll(id).error == "slow_down")
            test.server.clock.advance(by: 9)
            #expect(try await test.poll(id).error == "slow_down")
            test.server.clock.advance(by: 15)
            #expect(try await test.poll(id).error == "authorization_pending")
            // An answer doesn't wait for the interval.
            #expect(try await test.phone.answer(push, at: test.server).status == 200)
            #expect(try await test.poll(id).status == 200)
        }
    }

    @Test(
        "A request expires after its lifetime, which the client may choose",
        arguments: [(nil, 120), ("30", 30), ("600", 600)] as [(String?, Double)])
    func requestExpires(requested: String?, lifetime: Double) async throws {
        try await ApprovalServer.run { test async throws in
            let (id, push) = try await test.asked(["requested_expiry": requested])
            test.server.clock.advance(by: lifetime - 1)
            #expect(try await test.poll(id).error == "authorization_pending")
            test.server.clock.advance(by: 1)
            #expect(try await test.phone.answer(push, at: test.server).status == 400)
            #expect(try await test.poll(id).error == "expired_token")
            test.server.clock.advance(by: 600)
            #expect(try await test.poll(id).error == "invalid_grant")
        }
    }

    /// A request that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [String: String?]
        let status: Int
        let error: String

        init(_ name: String, _ changes: [String: String?], _ error: String, status: Int = 400) {
            (testDescription, self.changes, self.error, self.status) = (name, changes, error, status)
        }
    }

    private static let refused = [
        Refused("an unknown user", ["login_hint": "nobody"], "unknown_user_id"),
        Refused("a user without a device", ["login_hint": "noa"], "unknown_user_id"),
        Refused("no user", ["login_hint": nil], "invalid_request"),
        Refused("an id_token as a hint", ["id_token_hint": "a.b.c"], "invalid_request"),
        Refused("no scope openid", ["scope": "profile"], "invalid_scope"),
        Refused("a scope that the client doesn't have", ["scope": "openid admin"], "invalid_scope"),
        Refused("a long binding message", ["binding_message": String(repeating: "x", count: 201)], "invalid_binding_message"),
        Refused("a binding message with a control character", ["binding_message": "a\u{7}b"], "invalid_binding_message"),
        Refused("an expiry that isn't a number", ["requested_expiry": "x"], "invalid_request"),
        Refused("an expiry of a day", ["requested_expiry": "86400"], "invalid_request"),
        Refused("a request that isn't signed", ["request": "x"], "invalid_request"),
        Refused("a public client", ["client_id": "public", "client_secret": nil], "unauthorized_client"),
        Refused("a client without the grant", ["client_id": "web", "client_secret": "w"], "unauthorized_client"),
        Refused("a wrong secret", ["client_secret": "x"], "invalid_client", status: 401),
    ]

    @Test("A request that can't be answered is refused, and no message is sent", arguments: refused)
    func refusesRequest(refused: Refused) async throws {
        try await ApprovalServer.run { test async throws in
            let reply = try await test.ask(refused.changes)
            #expect(reply.status == refused.status && reply.error == refused.error, "\(reply.text)")
            #expect(try await test.server.inbox(test.phone.uid).isEmpty)
        }
    }

    @Test("The ID of a request belongs to its client")
    func requestBelongsToClient() async throws {
        try await ApprovalServer.run(others: [Self.second]) { test async throws in
            let (id, push) = try await test.asked()
            #expect(try await test.phone.answer(push, at: test.server).status == 200)
            let other: [String: String?] = ["client_id": "second", "client_secret": "s"]
            #expect(try await test.poll(id, other).error == "invalid_grant")
            #expect(try await test.poll(id, ["client_id": "web", "client_secret": "w"]).error == "unauthorized_client")
            #expect(try await test.poll("x").error == "invalid_grant")
            #expect(try await test.poll(id).status == 200)
        }
    }

    private static let second = RegisteredClient(id: "second", secret: Secret("s".utf8)) { $0.grantTypes = [.backchannel] }

    @Test("A signed request is accepted once, and its binding message is shown")
    func acceptsSignedRequest() async throws {
        try await ApprovalServer.run { test async throws in
            let request = try test.signed(test.requestClaims)
            #expect(try await test.askSigned(request).status == 200)
            let push = try #require(try await test.server.inbox(test.phone.uid).last)
            let message = try SealedPushMessage(push.sealed).open(with: test.phone.secret)
            #expect(message.text == "Signed 4711?")
            #expect(try await test.askSigned(request).error == "invalid_request")
        }
    }

    /// A change to the claims of a signed request that makes it invalid.
    private static let wrongClaims: [(String, JSONValue?)] = [
        ("iss", "agent"), ("iss", nil), ("aud", "https://other.example"), ("aud", nil), ("exp", nil), ("exp", .integer(1)),
        ("jti", nil), ("nbf", .integer(4_000_000_000)),
    ]

    @Test("A signed request with a wrong claim or algorithm, or with parameters beside it, is refused")
    func refusesSignedRequest() async throws {
        try await ApprovalServer.run { test async throws in
            for (name, value) in Self.wrongClaims {
                var claims = test.requestClaims
                claims[name] = value
                #expect(try await test.askSigned(try test.signed(claims)).error == "invalid_request", "\(name)")
            }
            let unsigned = try test.signed(test.requestClaims, algorithm: "none")
            #expect(try await test.askSigned(unsigned).error == "invalid_request")
            let right = try test.signed(test.requestClaims)
            #expect(try await test.askSigned(right, ["login_hint": "noa"]).error == "invalid_request")
            let foreign = try DPoPKey().sign(UnsignedToken(header: ["alg": "ES256"], claims: test.requestClaims))
            #expect(try await test.askSigned(foreign).error == "invalid_request")
            #expect(try await test.server.inbox(test.phone.uid).isEmpty)
        }
    }

    @Test("A user gets no further message while too many are unanswered")
    func unansweredMessagesPause() async throws {
        try await ApprovalServer.run(messages: MessageLimits(maxWaiting: 2)) { test async throws in
            for _ in 0..<2 {
                let status = try await test.ask().status
                #expect(status == 200)
            }
            let third = try await test.ask()
            #expect(third.error == "access_denied")
            let inbox = try await test.server.inbox(test.phone.uid)
            #expect(inbox.count == 2)
        }
    }

    @Test("A request survives a restart, and so does the answer")
    func requestSurvivesRestart() async throws {
        try await StateLocation.with(.file) { location in
            let clients = try ApprovalServer.clients()
            let (clock, asked) = (ManualClock(), Mutex(""))
            try await location.server(clock: clock, { $0.clients += clients }) { server async throws in
                let test = ApprovalServer(server: server, phone: try await server.registeredPhone())
                let (id, push) = try await test.asked()
                #expect(try await test.phone.answer(push, at: server).status == 200)
                asked.withLock { $0 = id }
            }
            let id = asked.withLock { $0 }
            try await location.server(clock: clock, { $0.clients += clients }) { server async throws in
                let form: [String: String?] = [
                    "grant_type": ApprovalServer.grant, "client_id": "agent", "client_secret": "a", "auth_req_id": id,
                ]
                #expect(try await server.postForm("access_token", form).status == 200)
            }
        }
    }

    @Test("The metadata has the endpoint, the delivery mode and the grant")
    func metadataHasBackchannel() async throws {
        try await TestServer.run { server async throws in
            let document = try await server.send(.get, "\(TestServer.oauth)/.well-known/openid-configuration", headers: [:]).json
            let address = document["backchannel_authentication_endpoint"]?.string
            #expect(address?.hasSuffix("/am/oauth2/bc-authorize") == true)
            #expect(document["backchannel_token_delivery_modes_supported"] == .texts(["poll"]))
            #expect(document["backchannel_user_code_parameter_supported"] == .bool(false))
            #expect(document["grant_types_supported"]?.array?.contains(.string(ApprovalServer.grant)) == true)
        }
    }
}
