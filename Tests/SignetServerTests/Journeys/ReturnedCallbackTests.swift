import Foundation
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Callbacks that a client returns", .timeLimit(.minutes(5)))
struct ReturnedCallbackTests {
    private static let count = "Incorrect number of callbacks found in JSON response"
    private static let notFound = "Required callback not found in JSON response"
    private static let noInput = "JSON Callback does not include a input field"
    private static let name = callback("NameCallback", "IDToken1", "mira")
    private static let password = callback("PasswordCallback", "IDToken2", .string(TestServer.password))

    private static func callback(_ type: String, _ name: String, _ value: JSONValue) -> JSONValue {
        .object([
            "type": .string(type), "output": .array([.object(["name": "prompt", "value": "x"])]),
            "input": .array([.object(["name": .string(name), "value": value])]),
        ])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let callbacks: JSONValue?
        let message: String
    }

    /// The broken answers that OpenAM received, with its messages; those with `input` had status 500 there.
    static let broken: [Case] = [
        Case(testDescription: "the second is missing", callbacks: .array([name]), message: count),
        Case(testDescription: "the member is missing", callbacks: nil, message: count),
        Case(testDescription: "null", callbacks: .null, message: count),
        Case(testDescription: "empty", callbacks: .array([]), message: count),
        Case(
            testDescription: "one more", callbacks: .array([name, password, callback("NameCallback", "IDToken3", "y")]),
            message: count),
        Case(testDescription: "an object", callbacks: .object(["a": .integer(1)]), message: count),
        Case(testDescription: "a string", callbacks: "x", message: count),
        Case(testDescription: "the other order", callbacks: .array([password, name]), message: notFound),
        Case(
            testDescription: "another type",
            callbacks: .array([name, callback("NameCallback", "IDToken2", .string(TestServer.password))]), message: notFound),
        Case(
            testDescription: "an unknown type",
            callbacks: .array([name, callback("FooCallback", "IDToken2", .string(TestServer.password))]), message: notFound),
        Case(testDescription: "no type", callbacks: .array([name, .object(["input": .array([])])]), message: notFound),
        Case(testDescription: "no objects", callbacks: .array([.null, "stray"]), message: notFound),
        Case(
            testDescription: "no input", callbacks: .array([name, .object(["type": "PasswordCallback"])]), message: noInput),
        Case(
            testDescription: "a password that is null",
            callbacks: .array([name, callback("PasswordCallback", "IDToken2", .null)]),
            message: "/callbacks/1/input/0/value: Expecting a java.lang.String"),
        Case(
            testDescription: "a name that is a list",
            callbacks: .array([callback("NameCallback", "IDToken1", .array([])), password]),
            message: "/callbacks/0/input/0/value: Expecting a java.lang.String"),
    ]

    private static func body(_ authID: String, _ callbacks: JSONValue?) -> String {
        var body: [String: JSONValue] = [
            "authId": .string(authID), "template": "", "stage": "DataStore1", "header": "Sign in", "infoText": .array(["", ""]),
        ]
        body["callbacks"] = callbacks
        return JSON.text(of: .object(body))
    }

    @Test("S5: A step with a broken answer is 400 in AM's words, keeps the authId and counts no failure", arguments: broken)
    func keepsStepAfterBrokenAnswer(_ answer: Case) async throws {
        let configuration = ServerConfiguration.sample { $0.limits.lockout = Lockout(failures: 1) }
        try await TestServer.live(configuration) { server in
            let start = try await server.authenticate()
            let authID = try #require(start.json["authId"]?.string)
            for _ in 0..<2 {
                let refusal = try await server.authenticate(body: Self.body(authID, answer.callbacks))
                #expect(refusal.status == 400)
                let expected: JSONValue = .object([
                    "code": .integer(400), "reason": "Bad Request", "message": .string(answer.message),
                ])
                #expect(refusal.json == expected)
            }
            let good = try await server.authenticate(body: Self.body(authID, .array([Self.name, Self.password])))
            #expect(good.status == 200)
            #expect(good.json["tokenId"] != nil, "\(good.json)")
        }
    }

    /// Answers that OpenAM took although they differ from what it sent.
    static let accepted: [Case] = [
        Case(
            testDescription: "other names of inputs",
            callbacks: .array([
                callback("NameCallback", "IDToken7", "mira"), callback("PasswordCallback", "foo", .string(TestServer.password)),
            ]), message: ""),
        Case(
            testDescription: "swapped names of inputs",
            callbacks: .array([
                callback("NameCallback", "IDToken2", "mira"),
                callback("PasswordCallback", "IDToken1", .string(TestServer.password)),
            ]), message: ""),
    ]

    @Test("The only input of a callback may have another name, as in AM", arguments: accepted)
    func takesInputByPosition(_ answer: Case) async throws {
        try await TestServer.live(.sample()) { server in
            let start = try await server.authenticate()
            let authID = try #require(start.json["authId"]?.string)
            let reply = try await server.authenticate(body: Self.body(authID, answer.callbacks))
            #expect(reply.json["tokenId"] != nil, "\(reply.json)")
        }
    }

    @Test("A number in place of a name or a password is taken as its digits, and a fraction is refused")
    func takesNumberAsDigits() async throws {
        let configuration = ServerConfiguration.sample {
            $0.users.append(User(name: "4711", password: Secret("1234567890".utf8)))
        }
        try await TestServer.live(configuration) { server in
            func answer(_ name: JSONValue, _ password: JSONValue) async throws -> LiveReply {
                let start = try await server.authenticate()
                let callbacks: JSONValue = .array([
                    Self.callback("NameCallback", "IDToken1", name), Self.callback("PasswordCallback", "IDToken2", password),
                ])
                return try await server.authenticate(body: Self.body(try #require(start.json["authId"]?.string), callbacks))
            }
            let reply = try await answer(.integer(4711), .integer(1_234_567_890))
            #expect(reply.json["tokenId"] != nil, "\(reply.json)")
            #expect(try await answer(.integer(4711), .integer(1)).status == 401)
            #expect(try await answer(.number(4711.5), .integer(1)).status == 400)
        }
    }

    /// The callbacks of a step, and the positions of those that a client returns; nil when the answer is refused.
    static let omissions: [(sent: [JourneyCallback], returned: [Int], isAccepted: Bool)] = [
        ([.information("a"), .name(prompt: "n")], [1], true),
        ([.information("a"), .name(prompt: "n")], [0], false),
        ([.text("s", type: 4), .hidden(id: "h", value: ""), .confirmation("Next")], [2], true),
        ([.text("s", type: 4), .hidden(id: "h", value: ""), .confirmation("Next")], [1, 2], true),
        ([.text("s", type: 4), .hidden(id: "h", value: ""), .confirmation("Next")], [1], false),
        ([.hidden(id: "a", value: ""), .hidden(id: "b", value: "")], [1], true),
        ([.wait(milliseconds: 1, message: "w"), .confirmation("Exit")], [], true),
        ([.wait(milliseconds: 1, message: "w"), .confirmation("Exit")], [1], true),
        ([.any("NovelCallback", ["prompt": "p"], ["": ""]), .name(prompt: "n")], [1], true),
        ([.name(prompt: "n"), .password(prompt: "p")], [1], false),
    ]

    @Test(
        "Clients may leave out callbacks without inputs, hidden values, unknown types and the buttons of a page that waits",
        arguments: omissions)
    func findsOmittedCallbacks(sent: [JourneyCallback], returned: [Int], isAccepted: Bool) throws {
        let asked = JourneyCallback.numbered(sent)
        let all = try JSON.value(of: JSON.encode(asked)).array ?? []
        let answer = JSONValue.array(returned.map { all[$0] })
        let found: [JSONValue?]?
        do throws(APIError) {
            found = try ReturnedCallbacks(asked, answer).callbacks
        } catch {
            found = nil
        }
        #expect((found != nil) == isAccepted)
        guard let found else { return }
        let indices = found.indices.filter { found[$0] != nil }
        #expect(indices == returned)
    }
}
