import Foundation
import SignetAuthenticator
public import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Enrolling")
struct EnrollmentTests {
    @Test("stores account and mechanisms, which are there for the next authenticator", arguments: StoreKind.allCases)
    func stores(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store)
            let enrolled = try await bench.authenticator.enroll(uri: Sample.combined)
            #expect(enrolled.mechanisms.map(\.kindName) == [.push, .totp])
            let again = try await Bench(store: store).authenticator.accounts()
            #expect(again == [enrolled])
            #expect(again[0].account.backgroundColor == "#336699")
        }
    }

    @Test("registers for push with exactly the request of the protocol")
    func registrationRequest() async throws {
        let bench = Bench()
        let mechanism = try await bench.enrollPush()
        let request = try #require(bench.transport.requests.first)
        #expect(bench.transport.requests.count == 1)
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
        "leaves nothing behind when the registration fails, and can be tried again",
        arguments: [
            HTTPResponse(status: 400, body: Array(#"{"code":400}"#.utf8)), HTTPResponse(status: 500),
            HTTPResponse(status: 200, body: Array("<html>login</html>".utf8)), HTTPResponse(status: 302),
        ])
    func failedRegistration(response: HTTPResponse) async throws {
        let healthy = Toggle()
        let bench = Bench { _ in healthy.isOn ? HTTPResponse(status: 200) : response }
        await #expect { try await bench.authenticator.enroll(uri: Sample.combined) } throws: { error in
            code(error) == (response.status == 400 ? .refusedByServer : .serverMisbehaved)
        }
        #expect(try await bench.authenticator.accounts().isEmpty)
        healthy.turnOn()
        #expect(try await bench.authenticator.enroll(uri: Sample.combined).mechanisms.count == 2)
    }

    @Test("leaves nothing behind when the network fails", arguments: TransportError.Code.allCases)
    func networkFailure(code: TransportError.Code) async throws {
        let bench = Bench { _ throws(TransportError) in throw TransportError(code, host: "am.example.test", "on purpose") }
        await #expect { try await bench.authenticator.enroll(uri: Sample.combined) } throws: {
            ($0 as? TransportError)?.code == code
        }
        #expect(try await bench.authenticator.accounts().isEmpty)
    }

    @Test("refuses a second mechanism of a kind before asking the server, and names the first")
    func duplicate() async throws {
        let bench = Bench()
        let first = try await bench.enrollPush()
        await #expect { try await bench.authenticator.enroll(uri: Sample.combined) } throws: { error in
            (error as? AuthenticatorError)?.mechanismUID == first.uid && code(error) == .duplicateMechanism
        }
        #expect(bench.transport.requests.count == 1)
        #expect(try await bench.authenticator.accounts().flatMap(\.mechanisms) == [first])
    }

    @Test("keeps accounts apart whose names are equal when they are joined")
    func ambiguousNames() async throws {
        let bench = Bench()
        let key = "secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
        _ = try await bench.authenticator.enroll(uri: "otpauth://totp/a-b:c?\(key)")
        _ = try await bench.authenticator.enroll(uri: "otpauth://totp/a:b-c?\(key)")
        #expect(try await bench.authenticator.accounts().count == 2)
    }

    @Test("of one URI by 100 callers at once enrolls it once", arguments: StoreKind.allCases)
    func concurrency(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store)
            let successes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { (try? await bench.authenticator.enroll(uri: Sample.totp)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            let mechanisms = try await bench.authenticator.accounts().flatMap(\.mechanisms)
            #expect(mechanisms.count == 1)
        }
    }

    @Test(
        "follows the server's link to its desk only within its origin",
        arguments: [
            (
                "<https://am.example.test/am/json/push/stream>; rel=\"signet-push-stream\"",
                "https://am.example.test/am/json/push/stream"
            ),
            ("</somewhere>; rel=\"next\", <https://am.example.test/d>; rel=\"signet-push-stream\"", "https://am.example.test/d"),
            ("<https://evil.test/desk>; rel=\"signet-push-stream\"", nil),
            ("<http://am.example.test/desk>; rel=\"signet-push-stream\"", nil),
            ("<https://am.example.test/desk>; rel=\"other\"", nil),
        ] as [(String, String?)])
    func streamLink(header: String, server: String?) async throws {
        let bench = Bench { _ in HTTPResponse(status: 200, headers: ["Link": header]) }
        #expect(try await bench.enrollPush().push?.streamEndpoint?.url == server)
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// Creates a JSON string.
    public init(stringLiteral value: String) { self = .string(value) }
}
