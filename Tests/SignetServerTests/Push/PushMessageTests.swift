import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The push message resource of section 3.6 of protocol/authenticator.md, in its correct form.
@Suite("Push message resource")
struct PushMessageRouteTests {
    private static let authenticate = "/am/json/push/sns/message?_action=authenticate"

    private func expectBadRequest(_ reply: Reply, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(reply.status == 400, sourceLocation: sourceLocation)
        #expect(
            reply.json == .object(["code": .integer(400), "reason": "Bad Request", "message": "Bad request."]),
            sourceLocation: sourceLocation)
        #expect(reply.header("Content-Type") == "application/json; charset=UTF-8", sourceLocation: sourceLocation)
        #expect(reply.header("Cache-Control") == "no-cache, no-store", sourceLocation: sourceLocation)
    }

    @Test(
        "A request with a wrong method or action is refused",
        arguments: [
            (HTTPRequest.Method.get, "?_action=authenticate", 405), (.put, "?_action=authenticate", 405), (.post, "", 400),
            (.post, "?_action=", 400), (.post, "?_action=refresh", 501), (.post, "?_action=Register", 501),
            (.post, "?_action=create", 501),
        ])
    func rejectsWrongMethodOrAction(method: HTTPRequest.Method, query: String, status: Int) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(method, "/am/json/push/sns/message\(query)", body: "{}")
            #expect(reply.status == status)
            #expect(reply.json["code"] == .integer(Int64(status)))
        }
    }

    @Test(
        "A body that is not JSON in UTF-8 is refused",
        arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"] as [String?])
    func rejectsOtherMediaTypes(type: String?) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .post, Self.authenticate, headers: type.map { ["Content-Type": $0] } ?? [:],
                body: "{\"messageId\":\"x\",\"jwt\":\"a.b.c\"}")
            expectBadRequest(reply)
        }
    }

    @Test(
        "A JSON media type may name the charset UTF-8",
        arguments: ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;charset=\"UTF-8\""])
    func acceptsNamedCharset(type: String) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            let jwt = CompactJWS.sign(try JSON.encode(["response": try phone.response(to: push)]), with: phone.secret)
            let body = try JSON.encode(["messageId": push.messageID, "jwt": jwt, "userId": "mira"])
            let reply = try await server.send(
                .post, Self.authenticate, headers: ["Content-Type": type, "Cookie": "amlbcookie=01"],
                body: String(decoding: body, as: UTF8.self))
            #expect(reply.status == 200)
            #expect(reply.text == "{}")
        }
    }

    @Test(
        "A body without a usable message id or JWT is refused",
        arguments: [
            "", "[]", "null", "{}", "{\"jwt\":\"a.b.c\"}", "{\"messageId\":\"x\"}", "{\"messageId\":null,\"jwt\":\"a.b.c\"}",
            "{\"messageId\":\"\",\"jwt\":\"a.b.c\"}", "{\"messageId\":\"  \",\"jwt\":\"a.b.c\"}",
            "{\"messageId\":7,\"jwt\":\"a.b.c\"}",
            "{\"messageId\":[\"x\"],\"jwt\":\"a.b.c\"}", "{\"messageId\":\"x\",\"jwt\":5}",
            "{\"messageId\":\"unknown\",\"jwt\":\"a.b.c\"}",
            "<html></html>", "{\"messageId\":\"x\",\"jwt\":\"a.b.c\"",
        ], ["register", "authenticate"])
    func rejectsUnusableBody(body: String, action: String) async throws {
        try await TestServer.run { server in
            expectBadRequest(try await server.send(.post, "/am/json/push/sns/message?_action=\(action)", body: body))
            let headers = ["Content-Type": "application/json", "If-Match": "*"]
            #expect(try await server.send(.post, Self.authenticate, headers: headers, body: body).status == 412)
        }
    }

    @Test("A body above the size limit is refused")
    func rejectsLargeBody() async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.post, Self.authenticate, body: String(repeating: "x", count: 300_000))
            #expect(reply.status == 413)
        }
    }

    @Test("A malformed or foreign JWT is refused and the login stays pending", arguments: BadJWT.allCases)
    func rejectsBadJWT(how: BadJWT) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            let jwt = try how.make(right: ["response": try phone.response(to: push)], secret: phone.secret)
            for _ in 0..<3 { expectBadRequest(try await phone.send(push.messageID, jwt, at: server)) }
            let waiting = try await server.poll(step).step
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(waiting).json["tokenId"] != nil)
        }
    }

    enum BadJWT: CaseIterable {
        case empty, oneSegment, fourSegments, noBase64, noJSON, noObject, emptySignature, otherSecret, changedClaims, none, hs512,
            headerNoJSON

        func make(right: [String: JSONValue], secret: Secret) throws -> String {
            let payload = try JSON.encode(right)
            let good = CompactJWS.sign(payload, with: secret)
            let parts = good.split(separator: ".").map(String.init)
            func header(_ json: String) -> String { Base64.encode(Array(json.utf8), as: .url) }
            return switch self {
            case .empty: ""
            case .oneSegment: parts[1]
            case .fourSegments: good + ".x"
            case .noBase64: "\(parts[0]).***.\(parts[2])"
            case .noJSON: CompactJWS.sign(Array("no json".utf8), with: secret)
            case .noObject: CompactJWS.sign(Array("[1]".utf8), with: secret)
            case .emptySignature: "\(parts[0]).\(parts[1])."
            case .otherSecret: CompactJWS.sign(payload, with: Secret([UInt8](repeating: 7, count: 32)))
            case .changedClaims: "\(parts[0]).\(Base64.encode(payload + [0x20], as: .url)).\(parts[2])"
            case .none: "\(header("{\"alg\":\"none\"}")).\(parts[1])."
            case .hs512: "\(header("{\"typ\":\"JWT\",\"alg\":\"HS512\"}")).\(parts[1]).\(parts[2])"
            case .headerNoJSON: "\(header("x")).\(parts[1]).\(parts[2])"
            }
        }
    }

    @Test(
        "A wrong or missing claim is refused and the login stays pending",
        arguments: [
            ["response": nil], ["response": ""], ["response": "AAAA"], ["response": .integer(5)], ["response": .null],
            ["deny": .bool(false)], ["deny": "true"], ["deny": .integer(1)], ["deny": .null], ["deny": .array([])],
        ] as [[String: JSONValue?]])
    func rejectsBadClaims(changes: [String: JSONValue?]) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            var claims = ["response": try phone.response(to: push)]
            for (name, value) in changes { claims[name] = value }
            let jwt = CompactJWS.sign(try JSON.encode(claims), with: phone.secret)
            expectBadRequest(try await phone.send(push.messageID, jwt, at: server))
            let waiting = try await server.poll(step).step
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(waiting).json["tokenId"] != nil)
        }
    }

    @Test("A denial without the right response is refused")
    func rejectsForgedDenial() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            expectBadRequest(try await phone.answer(push, ["deny": .bool(true), "response": "AAAA"], at: server))
            #expect(try await phone.answer(push, ["deny": .bool(true), "challengeResponse": .null], at: server).status == 200)
        }
    }

    /// The steps that the request log has for push messages.
    private func steps(_ server: TestServer) -> [RequestLogEntry.Push.Step] {
        server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .push }).compactMap { $0.push?.step }
    }

    @Test(
        "S14: An answer that is sent again is 200 without an effect, and the other decision is refused",
        arguments: [[:], ["deny": .bool(true)]] as [[String: JSONValue]], [false, true])
    func firstAnswerDecides(first: [String: JSONValue], afterThePoll: Bool) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, first, at: server).status == 200)
            let end = afterThePoll ? try await server.poll(step) : nil
            for again in [[:], ["deny": .bool(true)]] as [[String: JSONValue]] {
                let reply = try await phone.answer(push, again, at: server)
                if again == first {
                    #expect(reply.status == 200 && reply.text == "{}")
                } else {
                    expectBadRequest(reply)
                }
            }
            // The signature and the response are verified before anything else.
            expectBadRequest(try await phone.answer(push, ["response": "AAAA"], at: server))
            let forged = CompactJWS.sign(try JSON.encode(["response": try phone.response(to: push)]), with: Secret([9]))
            expectBadRequest(try await phone.send(push.messageID, forged, at: server))
            let last = try await server.poll(step)
            #expect((end ?? last).status == (first.isEmpty ? 200 : 401))
            let decisions = steps(server).filter { $0 == .approved || $0 == .denied }
            #expect(decisions == [first.isEmpty ? .approved : .denied])
        }
    }

    @Test("S14: An answer that is sent again after the message has expired is refused")
    func repeatedAnswerExpires() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, at: server).status == 200)
            server.clock.advance(by: 120)
            expectBadRequest(try await phone.answer(push, at: server))
        }
    }

    @Test("Exactly one of a hundred simultaneous answers decides", arguments: [false, true])
    func oneConcurrentAnswerDecides(mixed: Bool) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<100 {
                    let denies = mixed && index.isMultiple(of: 2)
                    group.addTask { try await phone.answer(push, denies ? ["deny": .bool(true)] : [:], at: server).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let accepted = mixed ? 50 : 100
            #expect(
                statuses.sorted() == Array(repeating: 200, count: accepted) + Array(repeating: 400, count: 100 - accepted))
            let decisions = steps(server).filter { $0 == .approved || $0 == .denied }
            #expect(decisions.count == 1)
            #expect(try await server.poll(step).status == (decisions.first == .denied ? 401 : 200))
        }
    }

    @Test("An answer after the push timeout is refused", arguments: [(119.9, 200), (120, 400), (10_000, 400)])
    func rejectsLateAnswer(seconds: Double, status: Int) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            server.clock.advance(by: seconds)
            #expect(try await phone.answer(push, at: server).status == status)
        }
    }

    @Test(
        "The push timeout is the configured one between one second and one day",
        arguments: [(30, 30), (0, 1), (-5, 1), (1_000_000, 86_400)])
    func limitsPushTimeout(configured: Int, seconds: Int) {
        let configuration = ServerConfiguration { $0.pushTimeout = configured }
        #expect(configuration.pushLifetime == seconds)
    }

    @Test("An answer is refused for another message, in another realm and with another action")
    func rejectsMisdirectedAnswer() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, first) = try await server.waitingLogin(phone: phone)
            let (_, second) = try await server.waitingLogin(phone: phone)
            let jwt = CompactJWS.sign(try JSON.encode(["response": try phone.response(to: first)]), with: phone.secret)
            expectBadRequest(try await phone.send(second.messageID, jwt, at: server))
            let body = PushRequestBody(messageId: first.messageID, jwt: jwt)
            expectBadRequest(try await server.post("/am/json/alpha/push/sns/message?_action=authenticate", body))
            expectBadRequest(try await server.post("/am/json/push/sns/message?_action=register", body))
            #expect(try await server.post("/am/json/beta/push/sns/message?_action=authenticate", body).status == 404)
            #expect(try await server.post("/am/json/realms/root/push/sns/message?_action=authenticate", body).status == 200)
        }
    }

    @Test("Answers to several messages are accepted in any order")
    func acceptsAnswersInAnyOrder() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (olderStep, older) = try await server.waitingLogin(phone: phone)
            let (newerStep, newer) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(newer, at: server).status == 200)
            #expect(try await phone.answer(older, ["deny": .bool(true)], at: server).status == 200)
            #expect(try await server.poll(newerStep).status == 200)
            #expect(try await server.poll(olderStep).status == 401)
        }
    }
}

@Suite("Push number challenge")
struct NumberChallengeTests {
    private func waitingLogin(_ server: TestServer) async throws -> (
        phone: Phone, step: JourneyStep, push: PushMessageRecord, right: Int, wrong: Int
    ) {
        let phone = try await server.registeredPhone()
        let (step, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
        guard case .number(let choices) = try SealedPushMessage(push.sealed).open(with: phone.secret).kind else {
            throw NoNumber()
        }
        let right = try #require(push.number)
        let wrong = choices.first { $0 != right }
        return (phone, step, push, right, try #require(wrong))
    }

    struct NoNumber: Error {}

    @Test("The page shows one of the three numbers that the device receives")
    func showsOneOfThreeNumbers() async throws {
        try await TestServer.run { server in
            let (phone, step, push, right, _) = try await waitingLogin(server)
            #expect(step.callbacks.map(\.type) == ["PollingWaitCallback", "HiddenValueCallback"])
            #expect(step.hiddenValue("pushChallengeNumber") == String(right))
            #expect(step.callbacks[0].output("message")?.string?.contains(String(right)) == true)
            guard case .number(let choices) = try SealedPushMessage(push.sealed).open(with: phone.secret).kind else {
                throw NoNumber()
            }
            #expect(Set(choices).count == 3)
            #expect(choices.contains(right))
            let haveTwoDigits = choices.allSatisfy { (10...99).contains($0) }
            #expect(haveTwoDigits)
        }
    }

    @Test("The right number logs the user in, even after one wrong number", arguments: [0, 1])
    func acceptsRightNumber(wrongAnswers: Int) async throws {
        try await TestServer.run { server in
            let (phone, step, push, right, wrong) = try await waitingLogin(server)
            for _ in 0..<wrongAnswers {
                #expect(try await phone.answer(push, ["challengeResponse": .string("\(wrong)")], at: server).status == 400)
            }
            let waiting = try await server.poll(step).step
            #expect(waiting.hiddenValue("pushChallengeNumber") == String(right))
            #expect(try await phone.answer(push, ["challengeResponse": .string("\(right)")], at: server).status == 200)
            #expect(try await server.poll(waiting).json["tokenId"] != nil)
        }
    }

    @Test("The second wrong number ends the login, and the right number is then refused")
    func secondWrongNumberEndsLogin() async throws {
        try await TestServer.run { server in
            let (phone, step, push, right, wrong) = try await waitingLogin(server)
            for _ in 0..<2 {
                #expect(try await phone.answer(push, ["challengeResponse": .string("\(wrong)")], at: server).status == 400)
            }
            #expect(try await phone.answer(push, ["challengeResponse": .string("\(right)")], at: server).status == 400)
            #expect(try await server.inbox(phone.uid).isEmpty)
            #expect(try await server.poll(step).message == "Login failure")
        }
    }

    @Test(
        "A missing or non-text number is refused without counting as a guess",
        arguments: [nil, .null, .integer(42), .array([]), .bool(true)] as [JSONValue?])
    func missingNumberIsNotGuess(claim: JSONValue?) async throws {
        try await TestServer.run { server in
            let (phone, _, push, right, _) = try await waitingLogin(server)
            var claims: [String: JSONValue] = [:]
            claims["challengeResponse"] = claim
            for _ in 0..<3 { #expect(try await phone.answer(push, claims, at: server).status == 400) }
            #expect(try await phone.answer(push, ["challengeResponse": .string("\(right)")], at: server).status == 200)
        }
    }

    @Test("A wrong number from a sender without the device secret does not count as a guess")
    func unauthenticatedNumberIsNotGuess() async throws {
        try await TestServer.run { server in
            let (phone, _, push, right, wrong) = try await waitingLogin(server)
            let claims: [String: JSONValue] = [
                "response": try phone.response(to: push), "challengeResponse": .string("\(wrong)"),
            ]
            let forged = CompactJWS.sign(try JSON.encode(claims), with: Secret([9]))
            for _ in 0..<5 { #expect(try await phone.send(push.messageID, forged, at: server).status == 400) }
            #expect(try await phone.answer(push, ["challengeResponse": .string("\(right)")], at: server).status == 200)
        }
    }

    @Test("A denial needs no number")
    func denialNeedsNoNumber() async throws {
        try await TestServer.run { server in
            let (phone, step, push, _, wrong) = try await waitingLogin(server)
            let claims: [String: JSONValue] = ["deny": .bool(true), "challengeResponse": .string("\(wrong)")]
            #expect(try await phone.answer(push, claims, at: server).status == 200)
            #expect(try await server.poll(step).message == "Login failure")
        }
    }
}
