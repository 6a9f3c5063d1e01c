import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Enrollment")
struct EnrollmentTests {
    @Test("Enrollment stores the account and its mechanisms, and another authenticator reads them", arguments: StoreKind.allCases)
    func storesEnrolledAccount(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let enrolled = try await fixture.authenticator.enroll(uri: Sample.combined)
            #expect(enrolled.mechanisms.map(\.kindName) == [.push, .totp])
            let again = try await AuthenticatorFixture(store: store).authenticator.accounts()
            #expect(again == [enrolled])
            #expect(again[0].account.backgroundColor == "#336699")
        }
    }

    @Test("Enrollment for push sends the registration request of the protocol")
    func sendsRegistrationRequest() async throws {
        let fixture = AuthenticatorFixture()
        let mechanism = try await fixture.enrollPush()
        let request = try #require(fixture.transport.requests.first)
        #expect(fixture.transport.requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.url == Sample.endpoint + "register")
        #expect(request.headers["accept-api-version"] == "resource=1.0, protocol=1.0")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["cookie"] == "amlbcookie=01")
        #expect(request.headers["set-cookie"] == nil)

        let body = try JSONDecoder().decode(JSONValue.self, from: Data(request.body))
        #expect(body["messageId"] == "REGISTER:1")
        let secret = Secret(try Base64.decode(Sample.secret))
        let claims = try CompactJWS(try #require(body["jwt"]?.string)).payload(verifiedWith: secret)
        #expect(
            try JSONDecoder().decode(JSONValue.self, from: Data(claims))
                == .object([
                    "response": .string(Sample.response), "mechanismUid": .string(mechanism.uid), "deviceId": "token-1",
                    "deviceName": "Mira's laptop", "deviceType": "android", "communicationType": "gcm",
                ]))
    }

    @Test(
        "A failed registration stores nothing, and the same URI can be enrolled again",
        arguments: [
            HTTPResponse(status: 400, body: Array(#"{"code":400}"#.utf8)), HTTPResponse(status: 500),
            HTTPResponse(status: 200, body: Array("<html>login</html>".utf8)), HTTPResponse(status: 302),
        ])
    func failedRegistrationStoresNothing(response: HTTPResponse) async throws {
        let healthy = Toggle()
        let fixture = AuthenticatorFixture { _ in healthy.isOn ? HTTPResponse(status: 200) : response }
        await #expect { try await fixture.authenticator.enroll(uri: Sample.combined) } throws: { error in
            code(error) == (response.status == 400 ? .refusedByServer : .serverMisbehaved)
        }
        #expect(try await fixture.authenticator.accounts().isEmpty)
        healthy.turnOn()
        #expect(try await fixture.authenticator.enroll(uri: Sample.combined).mechanisms.count == 2)
    }

    @Test("A network failure during enrollment stores nothing", arguments: TransportError.Code.allCases)
    func networkFailureStoresNothing(code: TransportError.Code) async throws {
        let fixture = AuthenticatorFixture { _ throws(TransportError) in
            throw TransportError(code, host: "am.example.test", "on purpose")
        }
        await #expect { try await fixture.authenticator.enroll(uri: Sample.combined) } throws: {
            ($0 as? TransportError)?.code == code
        }
        #expect(try await fixture.authenticator.accounts().isEmpty)
    }

    @Test("A second mechanism of the same kind is refused before any request, with the first one's id")
    func refusesDuplicateMechanism() async throws {
        let fixture = AuthenticatorFixture()
        let first = try await fixture.enrollPush()
        await #expect { try await fixture.authenticator.enroll(uri: Sample.combined) } throws: { error in
            (error as? AuthenticatorError)?.mechanismUID == first.uid && code(error) == .duplicateMechanism
        }
        #expect(fixture.transport.requests.count == 1)
        #expect(try await fixture.authenticator.accounts().flatMap(\.mechanisms) == [first])
    }

    @Test("C10: A counter that replaces one with the same secret continues it, and no code repeats")
    func replacementContinuesCounter() async throws {
        let fixture = AuthenticatorFixture()
        let uid = try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid
        let used = try await fixture.authenticator.code(for: uid)
        let again = try await fixture.authenticator.enroll(EnrollmentURI.parse(Sample.hotp), replacing: [uid])
        let mechanism = try #require(again.mechanisms.first)
        #expect(again.mechanisms.count == 1 && mechanism.uid != uid)
        #expect(mechanism.oath?.factor == .counter(next: 8))
        let next = try await fixture.authenticator.code(for: mechanism.uid)
        #expect(next.basis == .counter(8) && used.basis == .counter(7))
    }

    @Test("Accounts whose names are equal when joined stay separate accounts")
    func keepsAmbiguousNamesApart() async throws {
        let fixture = AuthenticatorFixture()
        let key = "secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
        _ = try await fixture.authenticator.enroll(uri: "otpauth://totp/a-b:c?\(key)")
        _ = try await fixture.authenticator.enroll(uri: "otpauth://totp/a:b-c?\(key)")
        #expect(try await fixture.authenticator.accounts().count == 2)
    }

    @Test("100 concurrent enrollments of one URI enroll it once", arguments: StoreKind.allCases)
    func concurrentEnrollmentsEnrollOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let successes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { (try? await fixture.authenticator.enroll(uri: Sample.totp)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            let mechanisms = try await fixture.authenticator.accounts().flatMap(\.mechanisms)
            #expect(mechanisms.count == 1)
        }
    }

    @Test(
        "The push stream link of a server is followed only within its origin",
        arguments: [
            (
                "<https://am.example.test/am/json/push/stream>; rel=\"signet-push-stream\"",
                "https://am.example.test/am/json/push/stream"
            ),
            ("</somewhere>; rel=\"next\", <https://am.example.test/d>; rel=\"signet-push-stream\"", "https://am.example.test/d"),
            ("<https://evil.test/stream>; rel=\"signet-push-stream\"", nil),
            ("<http://am.example.test/stream>; rel=\"signet-push-stream\"", nil),
            ("<https://am.example.test/stream>; rel=\"other\"", nil),
        ] as [(String, String?)])
    func followsStreamLinkWithinOrigin(header: String, server: String?) async throws {
        let fixture = AuthenticatorFixture { _ in HTTPResponse(status: 200, headers: ["Link": header]) }
        #expect(try await fixture.enrollPush().push?.streamEndpoint?.url == server)
    }
}
