import Foundation
import PingPush
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("PingAMPushHandler and PingAMPushResponder")
struct PingAMPushHandlerTests {
    private static let challenge = "Y2hhbGxlbmdlLXZhbHVl"

    private static func credential(secret: String = Sample.secret) -> PushCredential {
        PushCredential(
            id: "c-1", issuer: "Bank", accountName: "mira", serverEndpoint: "https://am.example.test/push", sharedSecret: secret)
    }

    private static func notification(_ type: PushType = .default, challenge: String? = challenge) -> PushNotification {
        PushNotification(
            id: "n-1", credentialId: "c-1", ttl: 60, messageId: "m-1", challenge: challenge, loadBalancer: "lb=1", pushType: type)
    }

    private static func jwt() throws -> String {
        try CompactJwt.signJwtClaims(
            base64Secret: Sample.secret,
            claims: [
                "u": "c-1", "c": challenge, "t": 180, "i": 1_700_000_000, "m": "Log in?", "k": "DEFAULT",
                "p": ["nested": "value"],
                "n": "1,2,3", "x": "context", "l": Data("lb=1".utf8).base64EncodedString(), "d": "user-1", "e": "phone",
                "other": "value",
            ])
    }

    private static func handler(_ responder: Recording = Recording()) -> PingAMPushHandler {
        PingAMPushHandler(httpClient: HttpClient(), logger: nil, pushResponder: responder)
    }

    @Test("Messages of AM are recognized by their form")
    func canHandle() throws {
        let (handler, jwt) = (Self.handler(), try Self.jwt())
        #expect(handler.canHandle(messageData: ["messageId": "m-1", "message": jwt]) && handler.canHandle(message: jwt))
        let others: [[String: Any]] = [[:], ["messageId": "m-1"], ["message": jwt], ["messageId": "", "message": jwt]]
        for data in others { #expect(!handler.canHandle(messageData: data)) }
        for text in ["invalid.jwt.value", "", "e30.e30.e30"] { #expect(!handler.canHandle(message: text)) }
    }

    @Test("The claims of a message are parsed under the names of the Ping SDK")
    func parsesMessageClaims() throws {
        let (handler, jwt) = (Self.handler(), try Self.jwt())
        let parsed = try handler.parseMessage(messageData: ["messageId": "m-1", "message": jwt])
        #expect(parsed["messageId"] as? String == "m-1" && parsed["credentialId"] as? String == "c-1")
        #expect(parsed["challenge"] as? String == Self.challenge && parsed["rawJwt"] as? String == jwt)
        #expect(parsed["ttl"] as? Int == 180 && parsed["timeInterval"] as? Int == 1_700_000_000)
        #expect(parsed["messageText"] as? String == "Log in?" && parsed["numbersChallenge"] as? String == "1,2,3")
        #expect(parsed["contextInfo"] as? String == "context" && parsed["pushType"] as? String == "DEFAULT")
        #expect(parsed["userId"] as? String == "user-1" && parsed["deviceName"] as? String == "phone")
        #expect(parsed["amlbCookie"] as? String == "lb=1")
        #expect((parsed["additionalData"] as? [String: Any])?["other"] as? String == "value")
        let text = try handler.parseMessage(message: jwt)
        #expect((text["messageId"] as? String)?.count == 8 && text["rawJwt"] as? String == jwt)
        #expect(throws: PushError.self) { try handler.parseMessage(message: "hello") }
        #expect(throws: PushError.self) { try handler.parseMessage(messageData: [:]) }
    }

    @Test("Approvals, denials, tokens and registrations are passed to the responder")
    func passesCallsToResponder() async throws {
        let responder = Recording()
        let handler = Self.handler(responder)
        let credential = Self.credential()
        #expect(try await handler.sendApproval(credential: credential, notification: Self.notification(), params: [:]))
        let params = ["challengeResponse": " 34 "]
        #expect(
            try await handler.sendApproval(credential: credential, notification: Self.notification(.challenge), params: params))
        #expect(try await handler.sendDenial(credential: credential, notification: Self.notification(), params: [:]))
        #expect(try await handler.setDeviceToken(credential: credential, deviceToken: " token ", params: [:]))
        #expect(try await handler.register(credential: credential, params: ["messageId": "m-1"]))
        let calls = await responder.calls
        #expect(calls == ["approve n-1 nil", "approve n-1 34", "deny n-1 nil", "token token iOS Device", "register c-1"])
        await #expect {
            _ = try await handler.sendApproval(credential: credential, notification: Self.notification(.challenge), params: [:])
        } throws: {
            if case PushError.invalidParameterValue = $0 { true } else { false }
        }
        await #expect {
            _ = try await handler.register(credential: credential, params: [:])
        } throws: {
            if case PushError.invalidParameterValue = $0 { true } else { false }
        }
    }

    @Test("The responder sends signed requests to the credential's endpoints")
    func sendsSignedRequests() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array("{}".utf8)) }
        let responder = PingAMPushResponder(httpClient: HttpClient(transport: transport), logger: nil)
        let credential = Self.credential()
        #expect(
            try await responder.register(
                credential: credential,
                params: ["messageId": "m-1", "deviceId": "token-1", "challenge": Self.challenge, "amlbCookie": "lb=1"]))
        #expect(
            try await responder.sendAuthenticationResponse(
                credential: credential, notification: Self.notification(), approve: true))
        #expect(try await responder.updateDeviceToken(credential: credential, deviceToken: " token-2 "))
        let base = "https://am.example.test/push?_action="
        #expect(transport.requests.map(\.url) == [base + "register", base + "authenticate", base + "refresh"])
        for request in transport.requests {
            #expect(request.headers.all("x-requested-with") == ["ping-sdk"])
            #expect(request.headers.all("x-requested-platform") == ["ios"])
            let body = try JSON.members(of: request.body)
            #expect(try CompactJwt.verifyJwtSignature(body.text("jwt"), base64Secret: Sample.secret))
        }
    }

    @Test("The responder sends in plain http only to the hosts of its HttpClient, which the error names")
    func needsAllowedHosts() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array("{}".utf8)) }
        let client = HttpClient(transport: transport)
        let responder = PingAMPushResponder(httpClient: client, logger: nil)
        let credential = PushCredential(
            id: "c-1", issuer: "Bank", accountName: "mira", serverEndpoint: "http://am.example.test/push",
            sharedSecret: Sample.secret)
        await #expect {
            _ = try await responder.updateDeviceToken(credential: credential, deviceToken: "token-1")
        } throws: {
            if case PushError.invalidParameterValue(let text) = $0 { text.contains("HttpClient.plainHTTPHosts") } else { false }
        }
        #expect(transport.requests.isEmpty)
        client.plainHTTPHosts = ["am.example.test"]
        #expect(try await responder.updateDeviceToken(credential: credential, deviceToken: "token-1"))
        #expect(transport.requests.map(\.url) == ["http://am.example.test/push?_action=refresh"])
    }

    @Test("The responder refuses incomplete values and short secrets before it sends a request")
    func refusesIncompleteValuesInResponder() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        let responder = PingAMPushResponder(httpClient: HttpClient(transport: transport), logger: nil)
        await #expect {
            _ = try await responder.sendAuthenticationResponse(
                credential: Self.credential(), notification: Self.notification(challenge: nil), approve: true)
        } throws: {
            if case PushError.invalidParameterValue(let text) = $0 { text.contains("challenge") } else { false }
        }
        await #expect {
            _ = try await responder.updateDeviceToken(credential: Self.credential(), deviceToken: "   ", deviceName: nil)
        } throws: {
            if case PushError.invalidParameterValue(let text) = $0 { text.contains("token") } else { false }
        }
        await #expect {
            _ = try await responder.register(credential: Self.credential(), params: ["messageId": "m-1"])
        } throws: {
            if case PushError.missingRequiredParameter("deviceId") = $0 { true } else { false }
        }
        await #expect {
            _ = try await responder.updateDeviceToken(credential: Self.credential(secret: "secret"), deviceToken: "token-1")
        } throws: {
            if case PushError.invalidParameterValue = $0 { true } else { false }
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("A failure of the server is a networkFailure with its status", arguments: [500, 401, 404])
    func reportsStatus(status: Int) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: status) }
        let responder = PingAMPushResponder(httpClient: HttpClient(transport: transport), logger: nil)
        let calls: [@Sendable () async throws -> Bool] = [
            {
                try await responder.sendAuthenticationResponse(
                    credential: Self.credential(), notification: Self.notification(), approve: true)
            },
            { try await responder.updateDeviceToken(credential: Self.credential(), deviceToken: "t", deviceName: "n") },
        ]
        for call in calls {
            await #expect {
                _ = try await call()
            } throws: {
                if case PushError.networkFailure(let text, _) = $0 { text.contains("\(status)") } else { false }
            }
        }
    }
}

/// A responder that keeps its calls.
private actor Recording: PingAMPushResponderType {
    private(set) var calls: [String] = []

    private func record(_ call: String) { calls.append(call) }

    nonisolated func register(credential: PushCredential, params: [String: Any]) async throws -> Bool {
        await record("register \(credential.id)")
        return true
    }

    nonisolated func sendAuthenticationResponse(
        credential: PushCredential, notification: PushNotification, approve: Bool, numbersChallengeResponse: String?
    ) async throws -> Bool {
        await record("\(approve ? "approve" : "deny") \(notification.id) \(numbersChallengeResponse ?? "nil")")
        return true
    }

    nonisolated func updateDeviceToken(credential: PushCredential, deviceToken: String, deviceName: String?) async throws -> Bool
    {
        await record("token \(deviceToken) \(deviceName ?? "nil")")
        return true
    }
}
