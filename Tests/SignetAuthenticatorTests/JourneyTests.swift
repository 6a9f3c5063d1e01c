import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetTesting
import Testing

@Suite("A journey")
struct JourneyTests {
    @Test(
        "asks the realm that is meant, however it is written",
        arguments: [
            ("", "realms/root"), ("root", "realms/root"), ("/", "realms/root"), ("alpha", "realms/root/realms/alpha"),
            ("/alpha", "realms/root/realms/alpha"), ("root/alpha", "realms/root/realms/alpha"),
            ("foo/bar", "realms/root/realms/foo/realms/bar"), ("a b", "realms/root/realms/a%20b"),
            (" alpha ", "realms/root/realms/alpha"),
            ("a?b", "realms/root/realms/a%3Fb"),
        ])
    func realm(written: String, path: String) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(#"{"tokenId":"t","realm":"/"}"#.utf8)) }
        let journey = Journey(try ServerProfile(url: "https://am.example.test/am/", realm: written), transport: transport)
        _ = try await journey.start("Log in & out")
        #expect(
            transport.requests.map(\.url) == [
                "https://am.example.test/am/json/\(path)/authenticate?authIndexType=service&authIndexValue=Log%20in%20%26%20out"
            ])
        #expect(transport.requests[0].headers["accept-api-version"] == "resource=2.1, protocol=1.0")
    }

    @Test("sends a step back with every member it came with")
    func echo() async throws {
        let text = #"{"authId":"a","callbacks":[{"type":"NewCallback","output":[],"x":1}],"template":"t"}"#
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(text.utf8)) }
        let journey = Journey(try ServerProfile(url: "https://am.example.test/am"), transport: transport)
        guard case .step(let step) = try await journey.start("Login") else { throw Unexpected() }
        _ = try await journey.next(step)
        let sent = try JSONDecoder().decode(JSONValue.self, from: Data(transport.requests[1].body))
        #expect(sent == (try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))))
    }

    @Test("ends with a session, or without one when the server gives none")
    func success() async throws {
        let answers = [#"{"tokenId":"t1","successUrl":"/console","realm":"/alpha"}"#, #"{"successUrl":"/console","realm":"/"}"#]
        for (answer, token) in zip(answers, [Secret("t1".utf8), nil]) {
            let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(answer.utf8)) }
            let journey = Journey(try ServerProfile(url: "https://am.example.test/am"), transport: transport)
            guard case .loggedIn(let session) = try await journey.start("Login") else { throw Unexpected() }
            #expect(session.token == token)
            #expect(session.successURL == "/console")
        }
    }

    @Test(
        "tells a wrong password from a timeout, a refusal and a server out of order",
        arguments: [
            (
                401, #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#,
                JourneyError.Code.loginFailed
            ),
            (401, #"{"code":401,"message":"Session has timed out","detail":{"errorCode":"110"}}"#, .timedOut),
            (400, #"{"code":400,"message":"Authentication Error: Invalid AuthId Signature"}"#, .refused),
            (404, #"{"code":404,"message":"Realm not found"}"#, .refused),
            (500, #"{"code":500}"#, .serverMisbehaved),
            (200, "<html>", .serverMisbehaved), (200, "{}", .serverMisbehaved), (200, #"{"ok":true}"#, .serverMisbehaved),
            (502, "Bad Gateway", .serverMisbehaved),
            (200, #"{"authId":"a","callbacks":"none"}"#, .serverMisbehaved),
        ])
    func failure(status: Int, body: String, code: JourneyError.Code) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
        let journey = Journey(try ServerProfile(url: "https://am.example.test/am"), transport: transport)
        await #expect { try await journey.start("Login") } throws: { ($0 as? JourneyError)?.code == code }
    }

    @Test(
        "has a base address without query and fragment",
        arguments: ["https://am.example.test/am?x=1", "https://am.example.test/am#x"])
    func baseAddress(url: String) {
        #expect(throws: EndpointError.notAWebAddress) { try ServerProfile(url: url) }
    }

    @Test("is not started over plain http with another machine")
    func plainHTTP() {
        #expect(throws: EndpointError.plainHTTP(host: "am.example.test")) { try ServerProfile(url: "http://am.example.test/am") }
    }
}

struct Unexpected: Error {}
