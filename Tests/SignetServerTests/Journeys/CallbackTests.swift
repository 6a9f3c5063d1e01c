import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension JourneyStep {
    /// Returns the index of the first callback of a type.
    func index(_ type: String) throws -> Int {
        let index = callbacks.firstIndex { $0.type == type }
        return try #require(index)
    }

    /// Sets an input of the first callback of a type: the first input, or the one whose name ends in `suffix`.
    mutating func fill(_ type: String, _ suffix: String, _ value: JSONValue) throws {
        let index = try index(type)
        let found = callbacks[index].input?.firstIndex { $0.name == "IDToken\(index + 1)\(suffix)" }
        let input = try #require(found)
        callbacks[index].input?[input].value = value
    }
}

@Suite("Callbacks of AM in journeys of the starter file")
struct CallbackTests {
    /// The client's answers, by the type of the callback: the inputs by the part of their names after `IDToken1`.
    static let answers: [String: [String: JSONValue]] = [
        "TextInputCallback": ["": "Mi"], "ChoiceCallback": ["": .integer(2)], "ConfirmationCallback": ["": .integer(0)],
        "HiddenValueCallback": ["": "ok"], "ConsentMappingCallback": ["": .bool(true)],
        "ValidatedCreateUsernameCallback": ["": "newcomer"], "ValidatedCreatePasswordCallback": ["": "Passw0rd!"],
        "StringAttributeInputCallback": ["": "mira@example.test"], "NumberAttributeInputCallback": ["": .number(42.0)],
        "BooleanAttributeInputCallback": ["": .bool(true)], "TermsAndConditionsCallback": ["": .bool(true)],
        "KbaCreateCallback": ["question": "Why?", "answer": "Because"], "SelectIdPCallback": ["": "google"],
        "IdPCallback": ["token": "t", "token_type": "id_token"],
        "DeviceProfileCallback": ["": "{\"identifier\":\"d-1\",\"metadata\":{\"platform\":{\"deviceName\":\"Mira's\"}}}"],
        "AppIntegrityCallback": ["clientError": "Unsupported"], "ReCaptchaCallback": ["": "token"],
        "ReCaptchaEnterpriseCallback": ["token": "t"], "PingOneProtectInitializeCallback": ["clientError": ""],
        "PingOneProtectEvaluationCallback": ["signals": "s"],
    ]

    /// Answers a step as an SDK would, after the wait of the step.
    static func answer(_ step: JourneyStep, at server: TestServer) async throws -> Reply {
        var step = step
        for callback in step.callbacks {
            for (suffix, value) in answers[callback.type] ?? [:] { try step.fill(callback.type, suffix, value) }
        }
        server.clock.advance(by: Double(step.waitMilliseconds ?? 0) / 1000)
        return try await server.next(step)
    }

    @Test(
        "A journey that is named like a callback shows the callback, and ends after the answer",
        arguments: StarterCallbacks.types)
    func journeyShowsCallbackOfItsName(type: String) async throws {
        try await TestServer.run { server in
            let step = try await server.logIn(type).step
            #expect(step.callback(type) != nil)
            #expect(step.callbacks.compactMap(\._id) == Array(step.callbacks.indices))
            for (index, callback) in step.callbacks.enumerated() {
                for input in callback.input ?? [] { #expect(input.name.hasPrefix("IDToken\(index + 1)")) }
            }
            let reply = try await Self.answer(step, at: server)
            #expect(reply.json["tokenId"] != nil, "\(reply.text)")
        }
    }

    @Test("The journey Everything shows every callback")
    func everythingShowsEveryCallback() async throws {
        try await TestServer.run { server in
            var seen: [String] = []
            var reply = try await server.logIn("Everything")
            while let step = try? reply.step {
                let expected = StarterCallbacks.types[seen.count]
                #expect(step.callback(expected) != nil)
                seen.append(expected)
                reply = try await Self.answer(step, at: server)
            }
            #expect(seen == StarterCallbacks.types)
            #expect(reply.json["tokenId"] != nil)
        }
    }

    @Test("The messageType of a text is a string and that of a confirmation is a number, as in AM")
    func messageTypesHaveTypesOfAM() async throws {
        try await TestServer.run { server in
            let texts = try await server.logIn("TextOutputCallback").step
            let messageTypes = texts.callbacks.prefix(4).map { $0.output("messageType") }
            #expect(messageTypes == ["0", "1", "2", "4"])
            let textInputs = texts.callbacks.prefix(4).compactMap(\.input)
            #expect(textInputs.isEmpty)
            #expect(texts.callbacks[4].input?.map(\.name) == ["IDToken5"])
            let confirmation = try #require(try await server.logIn("ConfirmationCallback").step.callback("ConfirmationCallback"))
            #expect(confirmation.output("messageType") == .integer(1))
            #expect(confirmation.input?.first?.value == .integer(100))
        }
    }

    @Test(
        "A choice is accepted as a number or as its digits; any other value repeats the step",
        arguments: [
            (JSONValue.integer(1), true), ("2", true), (.number(1.0), true), (.integer(3), false), ("", false),
            (.integer(-1), false),
            ("SMS", false), (.null, false),
        ])
    func acceptsChoiceAsNumberOrDigits(answer: JSONValue, isTaken: Bool) async throws {
        try await TestServer.run { server in
            var step = try await server.logIn("ChoiceCallback").step
            #expect(step.callbacks[0].input?.first?.value == .integer(1))
            step.fill("ChoiceCallback", answer)
            let reply = try await server.next(step)
            #expect((reply.json["tokenId"] != nil) == isTaken)
            #expect(reply.status == 200)
        }
    }

    @Test("A confirmation without a pressed button is shown again")
    func repeatsUnansweredConfirmation() async throws {
        try await TestServer.run { server in
            let again = try await server.next(try await server.logIn("ConfirmationCallback").step)
            #expect(try again.step.callback("ConfirmationCallback") != nil)
        }
    }

    @Test("The text of a password callback is not stored with the other answers of its step")
    func doesNotStorePasswordAnswers() throws {
        let node = ScriptedDecisionNode(callbacks: [.name(prompt: "Name"), .password(prompt: "Old password")], attribute: "seen")
        var server = ServerTransaction(users: [], trees: [])
        var journey = JourneyState.sample()
        let answers = (1...2).map { number in
            JSONValue.object([
                "input": .array([.object(["name": .string("IDToken\(number)"), "value": .string("typed \(number)")])])
            ])
        }
        let filled = Answers(JourneyCallback.numbered(node.callbacks), filledIn: .array(answers))
        #expect(try node.process(filled, &journey, &server).outcome == .outcome)
        #expect(journey.attributes["seen"] == .array([.string("typed 1")]))
    }

    @Test(
        "A user can exit a wait, the wait ends only after its time, and a client that polls too often fails",
        arguments: [
            ([(0, 0)], "EXITED"), ([(7.9, 100)], "asks"), ([(8, 100)], "DONE"), ([(10, 100)], "DONE"),
            ([(1, 100), (7, 100)], "DONE"),
            ([(1, 100), (1, 100), (1, 100)], "asks"), ([(1, 100), (1, 100), (1, 0)], "EXITED"),
            ([(1, 100), (1, 100), (1, 100), (1, 100)], "SPAM"), ([(1, 100), (1, 100), (1, 100), (5, 100)], "DONE"),
        ] as [([(seconds: Double, pressed: Int64)], String)])
    func waitEndsByTimeExitOrSpam(polls: [(seconds: Double, pressed: Int64)], end: String) throws {
        let node = PollingWaitNode(seconds: 10, exit: "Skip", tolerance: 3)
        var journey = JourneyState.sample()
        var now = ManualClock().now
        func visit(_ answers: Answers?) -> NodeResult {
            let time = RequestTime(now: now, configuration: ServerConfiguration(), baseURL: "")
            var server = ServerTransaction(users: [], trees: [], time: time)
            return node.process(answers, &journey, &server)
        }
        var action = visit(nil)
        for poll in polls {
            guard case .prompt(let page) = action else {
                Issue.record("the wait ended before its time")
                return
            }
            let callbacks = JourneyCallback.numbered(page.callbacks)
            #expect(callbacks[0].output("waitTime") == "10000")
            now += poll.seconds
            let field: JSONValue = .object(["name": "IDToken2", "value": .integer(poll.pressed)])
            action = visit(Answers(callbacks, filledIn: .array([.object(["input": .array([field])])])))
        }
        switch action {
        case .prompt: #expect(end == "asks")
        default: #expect(action.outcome?.rawValue == end)
        }
    }

    @Test(
        "Terms or a consent are shown again until the user accepts them",
        arguments: ["TermsAndConditionsCallback", "ConsentMappingCallback"])
    func repeatsUntilAccepted(type: String) async throws {
        try await TestServer.run { server in
            var step = try await server.logIn(type).step
            step = try await server.next(step).step
            step.fill(type, "true")
            #expect(try await server.next(step).json["tokenId"] != nil)
        }
    }

    @Test("An unknown callback keeps its inputs and its nested output")
    func unknownCallbackKeepsInputs() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("NovelCallback").step
            #expect(step.callbacks[0].input?.map(\.name) == ["IDToken1", "IDToken1extra"])
            #expect(step.callbacks[0].output("shape") == .object(["sides": .array([.integer(3), .number(4.5)])]))
            #expect(try await server.next(step).json["tokenId"] != nil)
        }
    }

    @Test("A device profile is stored as one of the user's devices, once even if it is sent again")
    func storesDeviceProfileOnce() async throws {
        try await TestServer.run { server in
            for _ in 0..<2 {
                let reply = try await Self.answer(try await server.logIn("DeviceProfileCallback").step, at: server)
                #expect(reply.json["tokenId"] != nil)
            }
            let devices = try await server.devServer.context.store.read { tx in
                try tx.devices.others(.profile, of: UserKey(realm: .root, name: "mira"))
            }
            #expect(devices.map(\.name) == ["Mira's"])
        }
    }

    @Test("An invalid device profile is asked for again", arguments: ["", "{}", "[]", "{\"identifier\":\"\"}"])
    func repeatsForInvalidProfile(text: String) async throws {
        try await TestServer.run { server in
            var step = try await server.logIn("DeviceProfileCallback").step
            step.fill("DeviceProfileCallback", .string(text))
            #expect(try await server.next(step).step.callback("DeviceProfileCallback") != nil)
        }
    }
}

@Suite("Journeys that end without a session")
struct FailingJourneyTests {
    @Test("A pass-through journey ends with an empty token and without a session cookie")
    func passThroughHasNoSession() async throws {
        try await TestServer.run { server in
            let reply = try await server.logIn("PassThrough")
            #expect(reply.status == 200)
            #expect(reply.json["tokenId"] == "")
            let sessionCookies = reply.cookies.filter { $0.hasPrefix("iPlanetDirectoryPro") }
            #expect(sessionCookies.isEmpty)
        }
    }

    @Test(
        "Each kind of failure has AM's error body",
        arguments: [
            ("Failure", 401, "Login failure"), ("Locked", 401, "User Locked Out."),
            ("PolicyFailure", 403, "Policy validation failed"),
        ])
    func failuresHaveBodyOfAM(journey: String, status: Int, message: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.logIn(journey)
            #expect(reply.status == status)
            #expect(reply.message == message)
            #expect(reply.json["code"] == .integer(Int64(status)))
            #expect(reply.json["detail"] != nil)
            if journey == "PolicyFailure" {
                let failure = reply.json["detail"]?["failedPolicyRequirements"]?.array?.first
                #expect(failure?["property"] == "mail")
                #expect(failure?["policyRequirements"]?.array?.count == 2)
                #expect(reply.json["detail"]?["result"] == .bool(false))
            }
        }
    }
}

@Suite("Journeys suspended by an email")
struct SuspensionTests {
    private func suspended(_ server: TestServer, name: String = "mira") async throws -> JourneyStep {
        var step = try await server.start("EmailLogin").step
        step.fill("NameCallback", .string(name))
        return try await server.next(step).step
    }

    /// Returns the query of the link in the newest email.
    private func query(_ server: TestServer) async throws -> Substring {
        let link = try #require(try await server.devServer.emailLinks(to: "mira").last)
        #expect(link.hasPrefix("http://127.0.0.1:8080/am/XUI/?realm=%2F&suspendedId="))
        return link[try #require(link.firstIndex(of: "&"))...].dropFirst()
    }

    @Test("A client that follows the link of an email is logged in once", arguments: ["{}", nil])
    func resumesSuspendedJourneyOnce(body: String?) async throws {
        try await TestServer.run { server in
            let step = try await suspended(server)
            #expect(step.callbacks.map(\.type) == ["SuspendedTextOutputCallback"])
            #expect(try await server.next(step).step.callbacks == step.callbacks)
            let path = "\(TestServer.authenticate)?\(try await query(server))"
            #expect(try await server.send(.post, path, body: body).json["tokenId"] != nil)
            let again = try await server.send(.post, path, body: body)
            #expect(again.status == 401)
            #expect(again.json["detail"] == nil)
            #expect(try #require(again.message).contains("SuspendedAuthSessionException: Token not found. It may have expired."))
        }
    }

    @Test(
        "The link of an email expires after the suspension timeout, not the journey timeout",
        arguments: [(899.0, 200), (900, 401)])
    func expiresAfterSuspensionTimeout(seconds: Double, status: Int) async throws {
        try await TestServer.run(
            .sample {
                $0.suspensionTimeout = 900
                $0.journeyTimeout = 60
            }
        ) { server in
            _ = try await suspended(server)
            server.clock.advance(by: seconds)
            let reply = try await server.send(.post, "\(TestServer.authenticate)?\(try await query(server))", body: "{}")
            #expect(reply.status == status)
        }
    }

    @Test("The link of an email works only in its realm, and an unknown user gets the same response without an email")
    func linkBelongsToRealmAndHidesUnknownUsers() async throws {
        try await TestServer.run { server in
            let step = try await suspended(server)
            let unknownUser = try await suspended(server, name: "unknown")
            #expect(unknownUser.callbacks == step.callbacks)
            #expect(try await server.devServer.emailLinks(to: "unknown").isEmpty)
            let elsewhere = try await server.send(.post, "/am/json/alpha/authenticate?\(try await query(server))", body: "{}")
            #expect(elsewhere.status == 401)
            #expect(try await server.send(.post, "\(TestServer.authenticate)?\(try await query(server))").status == 200)
        }
    }
}
