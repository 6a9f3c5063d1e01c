import Logging
import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetStorage
import TestSupport
import Testing

@testable import SignetAuthenticator

/// An AM that sends push to phones only, and a push gateway in the place of Amazon: both are real servers, on real sockets.
@Suite("Push messages of a server without a desk")
struct PushGatewayTests {
    private static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("the front's secret".utf8))

    /// Runs `body` with the server that sends, and the front.
    private func run(
        secret: Secret = key.secret, _ body: (_ server: LiveServer, _ gateway: Endpoint) async throws -> Void
    ) async throws {
        let gateway = DevServer(
            configuration: ServerConfiguration {
                $0.port = 0
                $0.pushGateway = PushGatewayConfiguration(keys: [Self.key])
            }, logger: Logger(label: "front", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await gateway.serve { _ in
            let url = try #require(gateway.pushGatewayURL)
            try await LiveServer.with {
                $0.sns = SNSConfiguration {
                    $0.googleEndpoint = "arn:aws:sns:us-east-1:123456789012:app/GCM/signet"
                    $0.endpoint = url
                    $0.credentials = AWSCredentials(accessKey: Self.key.accessKey, secret: secret)
                }
            } _: { server in
                try await body(server, try Endpoint(url))
            }
        }
    }

    @Test("A device with a mailbox at the front is told of a login, and approves it")
    func approve() async throws {
        try await run { server, gateway in
            let mechanism = try await server.enrollPush(pushGateway: gateway)
            let push = try #require(mechanism.push)
            #expect(push.gatewayEndpoint == gateway && push.streamEndpoint == nil)
            for _ in 0..<3 {
                let login = try await server.begin("PushLogin")
                let notification = try await server.nextNotification(for: mechanism)
                #expect(notification.message.text?.contains("demo") == true)
                _ = try await server.authenticator.approve(notification.id)
                #expect(try await server.finish(login) == nil)
            }
        }
    }

    @Test("A denial gets there too")
    func deny() async throws {
        try await run { server, gateway in
            let mechanism = try await server.enrollPush(pushGateway: gateway)
            let login = try await server.begin("PushLogin")
            _ = try await server.authenticator.deny(try await server.nextNotification(for: mechanism).id)
            #expect(try await server.finish(login) == .loginFailed)
        }
    }

    @Test("Without a front such a server sends to a phone that there is not, and the device is told that there is no desk")
    func noGateway() async throws {
        try await run { server, _ in
            let error = await #expect(throws: AuthenticatorError.self) { _ = try await server.enrollPush() }
            // The front in the place of Amazon takes no phone's token.
            #expect(error?.code == .refusedByServer)
            let accounts = try await server.authenticator.accounts()
            #expect(accounts.isEmpty)
        }
    }

    @Test("A server whose key the front does not know cannot register anybody; nothing is stored")
    func wrongKey() async throws {
        try await run(secret: Secret("another".utf8)) { server, gateway in
            let error = await #expect(throws: AuthenticatorError.self) { _ = try await server.enrollPush(pushGateway: gateway) }
            #expect(error?.code == .serverMisbehaved && error?.status == 503)
            let accounts = try await server.authenticator.accounts()
            #expect(accounts.isEmpty)
        }
    }

    @Test("At a server with a desk a front is not needed, and not listened at")
    func ownStream() async throws {
        try await LiveServer.with { server in
            let mechanism = try await server.enrollPush(pushGateway: try Endpoint("http://127.0.0.1:9/sns"))
            #expect(mechanism.push?.streamEndpoint != nil)
            let login = try await server.begin("PushLogin")
            _ = try await server.authenticator.approve(try await server.nextNotification(for: mechanism).id)
            #expect(try await server.finish(login) == nil)
        }
    }

    @Test("A front that knows nothing of the mailbox, or asks for a desk's proof, is given none")
    func strangeGateway() async throws {
        try await run { server, gateway in
            let mechanism = try await server.enrollPush(pushGateway: gateway)
            let push = try #require(mechanism.push)
            let found = try PushStreamCredentials(push, mechanismUID: mechanism.uid)
            let door = try #require(found)
            #expect(door.scheme == "Signet-Inbox")
            // What a desk would ask for is not answered: it could be somebody's in the middle, with a real desk's nonce.
            #expect(
                PushStreamChallenge.nonce(in: ["WWW-Authenticate": "Signet-Push-Stream nonce=\"n\""], scheme: door.scheme) == nil)
            #expect(PushStreamChallenge.nonce(in: ["WWW-Authenticate": "Signet-Inbox nonce=\"n\""], scheme: door.scheme) == "n")
            let authorization = try door.authorization("n")
            #expect(authorization.hasPrefix("Signet-Inbox "))
            let jws = try CompactJWS(String(authorization.dropFirst("Signet-Inbox ".count)))
            #expect(throws: JWSError.self) { _ = try jws.payload(verifiedWith: push.secret) }
        }
    }

    @Test("A new device token is not told where a mailbox was; the mailbox stays")
    func deviceToken() async throws {
        try await run { server, gateway in
            let mechanism = try await server.enrollPush(pushGateway: gateway)
            let updates = try await server.authenticator.updateDeviceToken("token-2")
            #expect(updates.count == 1)
            guard case .unchanged = updates[0].outcome else {
                Issue.record("\(updates[0].outcome)")
                return
            }
            let login = try await server.begin("PushLogin")
            _ = try await server.authenticator.approve(try await server.nextNotification(for: mechanism).id)
            #expect(try await server.finish(login) == nil)
        }
    }
}
