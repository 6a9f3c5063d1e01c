import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetPushGateway
import SignetServer
import SignetStorage
import TestSupport
import Testing

@testable import SignetAuthenticator

/// An AM server that pushes to phones only, and a push gateway in place of Amazon SNS: both are real servers on sockets.
@Suite("Push messages through a push gateway")
struct PushGatewayTests {
    private static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("the gateway's secret".utf8))

    /// Runs `body` with the sending server and the push gateway.
    private func run(
        secret: Secret = key.secret, _ body: (_ user: DemoUser, _ gateway: Endpoint) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration { $0.pushGateway = PushGatewayConfiguration(keys: [Self.key]) }
        try await TestServer.live(configuration) { gateway in
            let url = try #require(gateway.devServer.pushGatewayURL)
            try await DemoUser.with {
                $0.sns = SNSConfiguration {
                    $0.googleEndpoint = "arn:aws:sns:us-east-1:123456789012:app/GCM/signet"
                    $0.endpoint = url
                    $0.credentials = AWSCredentials(accessKey: Self.key.accessKey, secret: secret)
                }
            } _: { user in
                try await body(user, try Endpoint(url))
            }
        }
    }

    @Test("A device with an inbox at the gateway receives a login and approves it")
    func gatewayDeliversApproval() async throws {
        try await run { user, gateway in
            let mechanism = try await user.enrollPush(pushGateway: gateway)
            let push = try #require(mechanism.push)
            #expect(push.gatewayEndpoint == gateway && push.streamEndpoint == nil)
            for _ in 0..<3 {
                let login = try await user.begin("PushLogin")
                let notification = try await user.nextNotification(for: mechanism)
                #expect(notification.message.text?.contains("demo") == true)
                #expect(notification.unsignedSubject == notification.message.text)
                _ = try await user.authenticator.approve(notification.id)
                #expect(try await user.finish(login) == nil)
            }
        }
    }

    @Test("A denial of a message from the gateway reaches the server")
    func gatewayDeliversDenial() async throws {
        try await run { user, gateway in
            let mechanism = try await user.enrollPush(pushGateway: gateway)
            let login = try await user.begin("PushLogin")
            _ = try await user.authenticator.deny(try await user.nextNotification(for: mechanism).id)
            #expect(try await user.finish(login) == .loginFailed)
        }
    }

    @Test("Without a gateway, enrollment at a server without a push stream fails and stores nothing")
    func failsWithoutGateway() async throws {
        try await run { user, _ in
            let error = await #expect(throws: AuthenticatorError.self) { _ = try await user.enrollPush() }
            // The gateway in place of Amazon SNS accepts no phone's token.
            #expect(error?.code == .serverMisbehaved && error?.status == 500)
            let accounts = try await user.authenticator.accounts()
            #expect(accounts.isEmpty)
        }
    }

    @Test("A server whose key the gateway does not know cannot register a device, and nothing is stored")
    func gatewayRefusesUnknownKey() async throws {
        try await run(secret: Secret("another".utf8)) { user, gateway in
            let error = await #expect(throws: AuthenticatorError.self) { _ = try await user.enrollPush(pushGateway: gateway) }
            #expect(error?.code == .serverMisbehaved && error?.status == 500)
            let accounts = try await user.authenticator.accounts()
            #expect(accounts.isEmpty)
        }
    }

    @Test("A device at a server with a push stream listens to it and not to the gateway")
    func prefersPushStream() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush(pushGateway: try Endpoint("http://127.0.0.1:9/sns"))
            #expect(mechanism.push?.streamEndpoint != nil)
            let login = try await user.begin("PushLogin")
            _ = try await user.authenticator.approve(try await user.nextNotification(for: mechanism).id)
            #expect(try await user.finish(login) == nil)
        }
    }

    @Test("A device answers the gateway's challenge, and no challenge for a push stream's proof")
    func answersOnlyInboxChallenge() async throws {
        try await run { user, gateway in
            let mechanism = try await user.enrollPush(pushGateway: gateway)
            let push = try #require(mechanism.push)
            let found = try PushStreamCredentials(push, mechanismUID: mechanism.uid)
            let credentials = try #require(found)
            #expect(credentials.scheme == "Signet-Inbox")
            // A push stream's challenge is not answered: an attacker in the middle could relay a real server's nonce.
            #expect(
                PushStreamChallenge.nonce(in: ["WWW-Authenticate": "Signet-Push-Stream nonce=\"n\""], scheme: credentials.scheme)
                    == nil)
            #expect(
                PushStreamChallenge.nonce(in: ["WWW-Authenticate": "Signet-Inbox nonce=\"n\""], scheme: credentials.scheme) == "n"
            )
            let authorization = try credentials.authorization("n")
            #expect(authorization.hasPrefix("Signet-Inbox "))
            let jws = try CompactJWS(String(authorization.dropFirst("Signet-Inbox ".count)))
            #expect(throws: JWSError.self) { _ = try jws.payload(verifiedWith: push.secret) }
        }
    }

    @Test("A new device token does not replace the inbox, and pushes still arrive")
    func newTokenKeepsInbox() async throws {
        try await run { user, gateway in
            let mechanism = try await user.enrollPush(pushGateway: gateway)
            let updates = try await user.authenticator.updateDeviceToken("token-2")
            #expect(updates.count == 1)
            guard case .unchanged = updates[0].outcome else {
                Issue.record("\(updates[0].outcome)")
                return
            }
            let login = try await user.begin("PushLogin")
            _ = try await user.authenticator.approve(try await user.nextNotification(for: mechanism).id)
            #expect(try await user.finish(login) == nil)
        }
    }
}
