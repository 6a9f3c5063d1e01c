import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

@Suite("Device token updates")
struct DeviceTokenTests {
    @Test("A new token is sent to each push mechanism's server with the request of the protocol")
    func sendsTokenUpdateRequest() async throws {
        let fixture = AuthenticatorFixture()
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        let push = try await fixture.authenticator.enroll(uri: Sample.push + "&uid=\(Sample.base64("user-7f3a"))").mechanisms[0]
        let updates = try await fixture.authenticator.updateDeviceToken("token-2")
        #expect(updates.map(\.mechanism.uid) == [push.uid])
        #expect(updates.map(\.isOutstanding) == [false])
        let request = try #require(fixture.transport.requests.last)
        #expect(request.url == Sample.endpoint + "refresh")
        #expect(request.headers["cookie"] == "amlbcookie=01")
        #expect(request.headers["accept-api-version"] == "resource=1.0, protocol=1.0")
        let body = try JSON.value(of: request.body)
        #expect(body["mechanismUid"]?.string == push.uid)
        #expect(body["username"] == "user-7f3a")
        let secret = Secret(try Base64.decode(Sample.secret))
        let claims = try JSON.value(of: CompactJWS(try #require(body["jwt"]?.string)).payload(verifiedWith: secret))
        #expect(
            claims
                == .object([
                    "mechanismUid": .string(push.uid), "deviceId": "token-2", "deviceName": "Mira's laptop",
                    "deviceType": "android", "communicationType": "gcm",
                ]))
        #expect(try await fixture.authenticator.deviceToken()?.token == "token-2")
    }

    /// A server's response, the outcome of the update, and whether it is tried again.
    static let outcomes: [(status: Int?, outcome: String, isTriedAgain: Bool)] = [
        (200, "done", false), (501, "notSupported", false), (404, "notSupported", false), (400, "notSupported", false),
        (401, "refused", true), (403, "refused", true), (500, "retryable", true), (302, "retryable", true),
        (nil, "retryable", true),
    ]

    @Test("A token that a server did not accept is sent again by the next call, and only to that server", arguments: outcomes)
    func retriesTokenUpdate(row: (status: Int?, outcome: String, isTriedAgain: Bool)) async throws {
        let isHealthy = Toggle()
        let fixture = AuthenticatorFixture { request throws(TransportError) in
            guard request.url.hasSuffix("refresh"), !isHealthy.isOn, request.headers["cookie"] == nil else {
                return HTTPResponse(status: 200)
            }
            guard let status = row.status else { throw TransportError(.connect, host: "am.example.test", "on purpose") }
            return HTTPResponse(status: status)
        }
        let good = try await fixture.enrollPush()
        let other = try await fixture.authenticator.enroll(
            uri: Sample.push.replacing("Harbor%20Bank:mira", with: "Harbor%20Bank:other").replacing("REGISTER:1", with: "R2")
                .replacing("&l=\(Sample.base64("amlbcookie=01"))", with: "")
        ).mechanisms[0]
        let before = try fixture.state()
        func update(_ token: String) async throws -> [String: String] {
            let updates = try await fixture.authenticator.updateDeviceToken(token)
            return Dictionary(uniqueKeysWithValues: updates.map { ($0.mechanism.uid, name($0.outcome)) })
        }
        #expect(try await update("token-2") == [good.uid: "done", other.uid: row.outcome])
        #expect(try fixture.state().mechanisms == before.mechanisms)
        #expect(try await fixture.authenticator.deviceToken()?.outstanding == (row.isTriedAgain ? [other.uid] : []))
        // No other call tries again.
        let sent = fixture.transport.requests.count
        _ = try await fixture.authenticator.accounts()
        _ = try await fixture.authenticator.receive(try fixture.delivery(to: good))
        #expect(fixture.transport.requests.count == sent)
        isHealthy.turnOn()
        // A server that does not support updates is never reported as updated.
        let expected = ["notSupported": "notSupported"][row.outcome] ?? "unchanged"
        #expect(try await update("token-2") == [good.uid: "unchanged", other.uid: row.isTriedAgain ? "done" : expected])
        #expect(fixture.transport.requests.count == sent + (row.isTriedAgain ? 1 : 0))
        #expect(try await update("token-2") == [good.uid: "unchanged", other.uid: expected])
        #expect(fixture.transport.requests.count == sent + (row.isTriedAgain ? 1 : 0))
        // Another token is sent to every server.
        #expect(try await update("token-3") == [good.uid: "done", other.uid: "done"])
    }

    private func name(_ outcome: DeviceTokenUpdate.Outcome) -> String {
        switch outcome {
        case .done: "done"
        case .unchanged: "unchanged"
        case .notSupported: "notSupported"
        case .refused: "refused"
        case .retryable: "retryable"
        }
    }

    @Test("A token set earlier is sent for a mechanism that was imported afterwards")
    func sendsTokenForImportedMechanism() async throws {
        let source = AuthenticatorFixture()
        _ = try await source.enrollPush()
        let content = try await source.authenticator.archive().content
        let fixture = AuthenticatorFixture()
        _ = try await fixture.authenticator.updateDeviceToken("token-2")
        _ = try await fixture.authenticator.importAccounts(content)
        let firstOutcomes = try await fixture.authenticator.updateDeviceToken("token-2").map { name($0.outcome) }
        #expect(firstOutcomes == ["done"])
        #expect(fixture.transport.requests.map(\.url) == [Sample.endpoint + "refresh"])
        let secondOutcomes = try await fixture.authenticator.updateDeviceToken("token-2").map { name($0.outcome) }
        #expect(secondOutcomes == ["unchanged"])
    }

    @Test("A mechanism of an unknown platform receives the token as soon as its platform is known")
    func sendsTokenOncePlatformIsKnown() async throws {
        let fixture = AuthenticatorFixture()
        let push = try await fixture.enrollPush()
        guard case .push(var settings) = push.kind else { throw AuthenticatorTestError.noPush }
        settings.platform = "later"
        var changed = push
        changed.kind = .push(settings)
        let stored = changed
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(stored) }
        for _ in 0..<2 {
            let updates = try await fixture.authenticator.updateDeviceToken("token-2")
            let outcomes = updates.map { name($0.outcome) }
            #expect(outcomes == ["notSupported"])
            #expect(updates.map(\.isOutstanding) == [true])
        }
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(push) }
        let knownOutcomes = try await fixture.authenticator.updateDeviceToken("token-2").map { name($0.outcome) }
        #expect(knownOutcomes == ["done"])
    }

    @Test("A later enrollment uses the new token, and the device's own one after the token was cleared")
    func laterEnrollmentUsesToken() async throws {
        let fixture = AuthenticatorFixture()
        _ = try await fixture.authenticator.updateDeviceToken("token-2")
        #expect(fixture.transport.requests.isEmpty)
        _ = try await fixture.enrollPush()
        _ = try await fixture.authenticator.clearDeviceToken()
        _ = try await fixture.enrollOther()
        let secret = Secret(try Base64.decode(Sample.secret))
        let tokens = try fixture.transport.requests.map { request in
            let jwt = try #require(try JSON.value(of: request.body)["jwt"]?.string)
            return try JSON.value(of: CompactJWS(jwt).payload(verifiedWith: secret))["deviceId"]?.string
        }
        #expect(tokens == ["token-2", "token-1"])
    }

    @Test("A stored token is sent to the servers that lack it, and one that was replaced or removed is neither sent nor stored")
    func sendsTokenOnlyIfStored() async throws {
        let fixture = AuthenticatorFixture()
        let authenticator = fixture.authenticator
        _ = try await fixture.enrollPush()
        _ = try await authenticator.store.perform(.setDeviceToken("token-2", now: Date(timeIntervalSince1970: 1)))
        let before = fixture.transport.requests.count
        let stale = try await authenticator.sendDeviceToken(ifStored: "token-1")
        #expect(stale.isEmpty && fixture.transport.requests.count == before)
        let sent = try await authenticator.sendDeviceToken(ifStored: "token-2")
        #expect(sent.map(\.isOutstanding) == [false] && fixture.transport.requests.count == before + 1)
        try await authenticator.clearDeviceToken()
        let removed = try await authenticator.sendDeviceToken(ifStored: "token-2")
        #expect(removed.isEmpty && fixture.transport.requests.count == before + 1)
        #expect(try await authenticator.deviceToken() == nil)
    }

    @Test("A token is sent to 100 servers concurrently, once to each")
    func updatesManyServersOnce() async throws {
        let load = Mutex((running: 0, most: 0))
        let fixture = AuthenticatorFixture { request in
            guard request.url.hasSuffix("refresh") else { return HTTPResponse(status: 200) }
            load.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
            for _ in 0..<20 { await Task.yield() }
            load.withLock { $0.running -= 1 }
            return HTTPResponse(status: 200)
        }
        for number in 0..<100 {
            _ = try await fixture.authenticator.enroll(
                uri: Sample.push.replacing("Harbor%20Bank:mira", with: "B:\(number)").replacing("REGISTER:1", with: "R\(number)"))
        }
        let updates = try await fixture.authenticator.updateDeviceToken("token-2")
        #expect(updates.count == 100 && !updates.contains(where: \.isOutstanding))
        let refreshCount = fixture.transport.requests.count { $0.url.hasSuffix("refresh") }
        #expect(refreshCount == 100)
        let maxConcurrent = load.withLock { $0.most }
        #expect((2...8).contains(maxConcurrent))
    }
}
