import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("Journeys")
struct JourneyTests {
    private static let end = #"{"tokenId":"t","successUrl":"/console","realm":"/alpha"}"#
    private static let authenticate = "https://am.example.test/am/json/realms/root/authenticate"
    private static let step =
        #"{"authId":"a","callbacks":[{"type":"NewCallback","output":[],"x":1}],"template":"t","stage":"s","header":"h"}"#

    @Test("A journey is started by its name with the headers that every server requires")
    func startsByName() async throws {
        let transport = answering((200, Self.end))
        _ = try await Journey(try profile { $0.timeout = .seconds(5) }, transport: transport).start("Log in & out")
        let request = transport.requests[0]
        #expect(request.url == "\(Self.authenticate)?authIndexType=service&authIndexValue=Log%20in%20%26%20out")
        #expect(request.method == "POST")
        #expect(request.headers["accept-api-version"] == "resource=2.1, protocol=1.0")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["x-requested-with"] == "signet")
        #expect(request.headers["iplanetdirectorypro"] == nil)
        #expect(request.body == Array("{}".utf8))
        #expect(request.timeout == .seconds(5))
    }

    @Test(
        "A journey can be started by every index type",
        arguments: [
            (.default, ""), (.service("Login"), "?authIndexType=service&authIndexValue=Login"),
            (.module("DataStore"), "?authIndexType=module&authIndexValue=DataStore"),
            (AuthenticationIndex(type: "level", value: "5"), "?authIndexType=level&authIndexValue=5"),
            (
                .advice(PolicyAdvice("TransactionConditionAdvice", "a&b")),
                "?authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22"
                    + "TransactionConditionAdvice%22%2F%3E%3CValue%3Ea%26amp%3Bb%3C%2FValue%3E%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E"
            ),
        ] as [(AuthenticationIndex, String)])
    func startsByIndex(index: AuthenticationIndex, query: String) async throws {
        let transport = answering((200, Self.end))
        _ = try await Journey(try profile(), transport: transport).start(index)
        #expect(transport.requests.map(\.url) == [Self.authenticate + query])
    }

    @Test("A journey's options apply to every step, and options that are not set are not sent")
    func sendsOptions() async throws {
        let transport = answering((200, Self.step), (200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let options = JourneyOptions {
            $0.withoutSession = true
            $0.forceAuthentication = true
            $0.session = Secret("AQIC5w*".utf8)
            $0.timeout = .seconds(3)
        }
        let step = try await journeys.start("Login", options: options).step
        _ = try await journeys.next(step)
        _ = try await journeys.next(step, options: options)
        #expect(
            transport.requests.map(\.url) == [
                "\(Self.authenticate)?authIndexType=service&authIndexValue=Login&noSession=true&ForceAuth=true",
                Self.authenticate, "\(Self.authenticate)?noSession=true&ForceAuth=true",
            ])
        let sessions = transport.requests.map { $0.headers["iPlanetDirectoryPro"] }
        #expect(sessions == ["AQIC5w*", nil, "AQIC5w*"])
        #expect(transport.requests.map(\.timeout) == [.seconds(3), .seconds(30), .seconds(3)])
        let cookies = transport.requests.compactMap { $0.headers["Cookie"] }
        #expect(cookies.isEmpty)
    }

    @Test("The session is also sent as a cookie to OpenAM")
    func sendsSessionCookieToOpenAM() async throws {
        let transport = answering((200, Self.end))
        let options = JourneyOptions { $0.session = Secret("t".utf8) }
        _ = try await Journey(try profile { $0.dialect = .openAM }, transport: transport).start("Login", options: options)
        #expect(transport.requests[0].headers["Cookie"] == "iPlanetDirectoryPro=t")
    }

    @Test("An invalid session token is not sent", arguments: ["", "a b", "a\r\nX: y", "a;b", "ä"])
    func refusesInvalidSessionToken(token: String) async throws {
        let transport = answering((200, Self.end))
        let options = JourneyOptions { $0.session = Secret(token.utf8) }
        await #expect {
            try await Journey(try profile(), transport: transport).start("Login", options: options)
        } throws: { ($0 as? JourneyError)?.code == .invalidRequest }
        #expect(transport.requests.isEmpty)
    }

    @Test("A step is sent back with all its members")
    func sendsStepBack() async throws {
        let transport = answering((200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        _ = try await journeys.next(try await journeys.start("Login").step)
        #expect(try JSON.value(of: transport.requests[1].body) == JSON.value(of: Self.step.utf8))
    }

    @Test(
        "Unknown members are sent back, and missing members are not added",
        arguments: [
            #"{"type":"FutureCallback","input":[{"name":"a","value":"","hint":{"x":[1]}}]}"#,
            #"{"type":"FutureCallback","output":[{"name":"a","value":1,"format":"date"}],"_id":1,"lang":null}"#,
            #"{"type":"FutureCallback","output":null,"input":null}"#, #"{"type":"FutureCallback","output":[],"input":[]}"#,
            #"{"type":"FutureCallback","output":[{"name":"a"},{"name":"b","value":null}]}"#, #"{"type":"FutureCallback"}"#,
        ])
    func keepsUnknownStepMembers(callback: String) async throws {
        let step = #"{"authId":"a","callbacks":[\#(callback)],"stage":null,"future":{"a":1}}"#
        let transport = answering((200, step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        _ = try await journeys.next(try await journeys.start("Login").step)
        #expect(try JSON.value(of: transport.requests[1].body) == JSON.value(of: step.utf8))
    }

    @Test("Script callbacks are not sent back, except to OpenAM")
    func omitsScripts() async throws {
        let outputs = ["0", "4", "1"].map {
            #"{"type":"TextOutputCallback","output":[{"name":"message","value":"m"},{"name":"messageType","value":"\#($0)"}]}"#
        }
        let body = #"{"authId":"a","callbacks":[\#(outputs.joined(separator: ",")),{"type":"MetadataCallback","output":[]}]}"#
        for (dialect, count) in [(ServerProfile.Dialect.accessManager, 3), (.openAM, 4)] {
            let transport = answering((200, body), (200, Self.end))
            let journeys = Journey(try profile { $0.dialect = dialect }, transport: transport)
            _ = try await journeys.next(try await journeys.start("Login").step)
            #expect(try JSON.value(of: transport.requests[1].body)["callbacks"]?.array?.count == count)
        }
    }

    @Test(
        "A journey ends with a session",
        arguments: [
            (Self.end, .loggedIn(SSOToken(value: Secret("t".utf8), successURL: "/console", realm: "/alpha"))),
            (#"{"tokenId":"t"}"#, .loggedIn(SSOToken(value: Secret("t".utf8)))),
        ] as [(String, JourneyState)])
    func endsWithSession(body: String, state: JourneyState) async throws {
        #expect(try await Journey(try profile(), transport: answering((200, body))).start("Login") == state)
    }

    @Test(
        "A journey ends without a session if none was requested or the token is empty",
        arguments: [
            #"{"message":"Authentication Successful","successUrl":"/console","realm":"/"}"#,
            #"{"tokenId":"","successUrl":"/console","realm":"/"}"#,
        ])
    func endsJourneyWithoutSession(body: String) async throws {
        let state = try await Journey(try profile(), transport: answering((200, body))).start("Login")
        guard case .completed(let completion) = state else { throw Unexpected() }
        #expect(completion.successURL == "/console")
        #expect(completion.realm == "/")
        #expect(completion.hasEmptyToken == body.contains("tokenId"))
    }

    @Test("A step with an empty authId is refused, and is not sent")
    func refusesEmptyAuthID() async throws {
        let journeys = Journey(try profile(), transport: answering((200, #"{"authId":"","callbacks":[]}"#)))
        await #expect { try await journeys.start("Login") } throws: { ($0 as? JourneyError)?.code == .serverMisbehaved }
        let transport = answering()
        let idle = Journey(try profile(), transport: transport)
        await #expect {
            try await idle.next(JourneyStep(authId: "", callbacks: []))
        } throws: { ($0 as? JourneyError)?.code == .invalidRequest }
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "A journey is resumed from a link",
        arguments: ["https://app.test/?realm=/&suspendedId=a%2Bb#x", "app://go?suspendedId=a%2Bb"])
    func resumesFromLink(link: String) async throws {
        let transport = answering((200, Self.end))
        _ = try await Journey(try profile(), transport: transport).resume(link)
        #expect(transport.requests.map(\.url) == ["\(Self.authenticate)?suspendedId=a%2Bb"])
    }

    @Test(
        "A link that belongs to no journey is refused before any request",
        arguments: ["https://app.test/", "?suspendedId=", "", "suspendedId=a"])
    func refusesForeignLink(link: String) async throws {
        let transport = answering((200, Self.end))
        await #expect {
            try await Journey(try profile(), transport: transport).resume(link)
        } throws: { ($0 as? JourneyError)?.code == .invalidResumeURI }
        #expect(transport.requests.isEmpty)
    }

    @Test("Only the code and the state of a redirect back from a provider are sent")
    func sendsRedirectParameters() async throws {
        let transport = answering((200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let step = try await journeys.start("Login").step
        _ = try await journeys.next(step, returnedTo: "https://app.test/cb?code=c+1&state=s&session=x&iss=y")
        #expect(transport.requests[1].url == "\(Self.authenticate)?code=c%201&state=s")
        #expect(try JSON.value(of: transport.requests[1].body)["authId"] == .string("a"))
    }

    @Test("Interceptors see the action of each request, and their changes are sent")
    func interceptorsChangeRequests() async throws {
        let recorder = Recorder()
        let transport = answering((200, Self.step), (200, Self.end), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport, interceptors: [recorder])
        let index = AuthenticationIndex.service("Login")
        _ = try await journeys.next(try await journeys.start(index).step, of: index)
        _ = try await journeys.resume("?suspendedId=x")
        let actions = recorder.actions.withLock { $0 }
        #expect(
            actions == [
                RequestAction(name: "START_AUTHENTICATE", payload: ["tree": "Login", "type": "service"]),
                RequestAction(name: "AUTHENTICATE", payload: ["tree": "Login", "type": "service"]),
                RequestAction(name: "RESUME_AUTHENTICATE"),
            ])
        let untraced = transport.requests.filter { $0.headers["X-Trace"] != "1" }
        #expect(untraced.isEmpty)
    }

    private final class Recorder: RequestInterceptor {
        let actions = Mutex<[RequestAction]>([])
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            actions.withLock { $0.append(action) }
            var request = request
            request.headers.append("X-Trace", "1")
            return request
        }
    }
}

@Suite("Responses to a journey")
struct AnswerTests {
    @Test(
        "A refused step has the error code of its kind",
        arguments: [
            (401, #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#, .loginFailed),
            (401, #"{"code":401,"message":"Session has timed out","detail":{"errorCode":"110"}}"#, .timedOut),
            (403, #"{"code":403,"message":"x","detail":{"errorCode":"110"}}"#, .timedOut),
            (401, #"{"code":401,"message":"x","detail":{"errorCode":110}}"#, .loginFailed),
            (408, #"{"code":408,"reason":"Request Timeout","message":"x"}"#, .timedOut),
            (
                401,
                #"{"code":401,"message":"org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found. It may have expired."}"#,
                .suspensionExpired
            ),
            (400, #"{"code":400,"message":"Authentication Error: Invalid AuthId Signature"}"#, .refused),
            (403, #"{"code":403,"message":"Forbidden"}"#, .refused),
            (404, #"{"code":404,"message":"Realm not found"}"#, .refused),
            (500, #"{"code":500}"#, .serverFailed), (503, "<html>", .serverFailed), (502, "Bad Gateway", .serverFailed),
            (429, "", .serverFailed), (404, "<html>Not found</html>", .serverMisbehaved), (401, "", .serverMisbehaved),
            (302, "", .serverMisbehaved), (307, "{}", .serverMisbehaved),
        ] as [(Int, String, JourneyError.Code)])
    func mapsRefusals(status: Int, body: String, code: JourneyError.Code) async throws {
        let journeys = Journey(try profile(), transport: answering((status, body)))
        await #expect {
            try await journeys.start("Login")
        } throws: { error in
            guard let error = error as? JourneyError else { return false }
            // A redirect without content from the server is how networks show their login page.
            let isRetryable = code == .serverFailed || status == 302
            return error.code == code && error.status == status && error.isRetryable == isRetryable
                && !error.message.isEmpty && !error.message.contains("org.forgerock")
        }
    }

    @Test(
        "A malformed response causes an error with a message and no crash",
        arguments: [
            "<html><body>Welcome to the hotel</body></html>", "", "{}", "[]", "null", "17", #""tokenId""#, #"{"ok":true}"#,
            #"{"authId":"#,
            #"{"authId":1,"callbacks":[]}"#, #"{"authId":"a"}"#, #"{"authId":"a","callbacks":"none"}"#,
            #"{"authId":"a","callbacks":[{}]}"#, #"{"authId":"a","callbacks":[[]]}"#, #"{"authId":"a","callbacks":[null]}"#,
            #"{"authId":"a","callbacks":[{"type":1}]}"#, #"{"authId":"a","callbacks":[{"type":"X","output":{}}]}"#,
            #"{"authId":"a","callbacks":[{"type":"X","output":[{}]}]}"#,
            #"{"authId":"a","callbacks":[{"type":"X","output":[],"input":[{"name":1,"value":2}]}]}"#,
            #"{"tokenId":7}"#, #"{"tokenId":null}"#, "{\"authId\":\"\u{0}\"}", String(repeating: "[", count: 100_000),
            String(repeating: #"{"authId":"#, count: 5_000), step(callbacks: 1_001), step(callbacks: 20_000),
        ])
    func malformedResponsesCauseErrors(body: String) async throws {
        let journeys = Journey(try profile(), transport: answering((200, body)))
        await #expect {
            try await journeys.start("Login")
        } throws: { ($0 as? JourneyError)?.code == .serverMisbehaved }
    }

    private static func step(callbacks count: Int) -> String {
        let callbacks = Array(repeating: #"{"type":"TextOutputCallback","output":[]}"#, count: count)
        return #"{"authId":"a","callbacks":[\#(callbacks.joined(separator: ","))]}"#
    }

    @Test("A step has up to a thousand callbacks")
    func acceptsThousandCallbacks() async throws {
        let journeys = Journey(try profile(), transport: answering((200, Self.step(callbacks: 1_000))))
        #expect(try await journeys.start("Login").step.callbacks.count == 1_000)
    }

    @Test("The error for a malformed step names the member and repeats none of its content")
    func malformedStepErrorNamesMember() async throws {
        let body = #"{"authId":"a","callbacks":[{"type":"X"},{"type":"Y","input":[{"name":"IDToken2","value":"secret"},{}]}]}"#
        await #expect {
            try await Journey(try profile(), transport: answering((200, body))).start("Login")
        } throws: { error in
            let words = "\(error)"
            return words.contains("callbacks[1].input[1].name") && !words.contains("secret")
        }
    }

    @Test("A response truncated at any byte causes an error and no crash")
    func truncatedResponsesCauseErrors() async throws {
        let body = Array(
            #"{"authId":"a","callbacks":[{"type":"NameCallback","output":[{"name":"prompt","value":"ü\u00e9"}]}]}"#.utf8)
        for length in 0..<body.count {
            let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(body[..<length])) }
            await #expect(throws: JourneyError.self) { try await Journey(try profile(), transport: transport).start("Login") }
        }
    }

    @Test("Failed policies are reported with their parameters")
    func reportsFailedPoliciesWithParameters() async throws {
        let body =
            #"{"code":403,"reason":"Forbidden","message":"Policy validation failed","detail":{"failedPolicyRequirements":"#
            + #"[{"property":"password","policyRequirements":[{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}},"#
            + #"{"policyRequirement":"UNIQUE"}]}],"result":false}}"#
        await #expect {
            try await Journey(try profile(), transport: answering((403, body))).start("Login")
        } throws: { error in
            guard let error = error as? JourneyError, let failure = error.failedPolicies.first else { return false }
            return error.code == .policyFailed && failure.property == "password"
                && failure.requirements.map(\.message) == ["Use at least 8 characters.", "This is taken. Choose another."]
        }
    }

    @Test("A busy server's response carries the time to wait")
    func busyServerGivesRetryTime() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 503, headers: ["Retry-After": "12"]) }
        await #expect {
            try await Journey(try profile(), transport: transport).start("Login")
        } throws: { ($0 as? JourneyError)?.retryAfter == .seconds(12) }
    }
}

@Suite("Policy advice")
struct PolicyAdviceTests {
    private static let xml =
        "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>tx-1</Value></AttributeValuePair></Advices>"

    @Test("Advice is found in every place where a server sends it")
    func findsAdvice() throws {
        let expected = PolicyAdvice("TransactionConditionAdvice", "tx-1")
        let json = #"{"advices":{"TransactionConditionAdvice":["tx-1"]}}"#
        let encoded = Self.xml.percentEncoded()
        let responses = [
            HTTPResponse(
                status: 307,
                headers: ["Location": "https://am.test/am/?goto=x&authIndexType=composite_advice&authIndexValue=\(encoded)"]),
            HTTPResponse(
                status: 302,
                headers: [
                    "Location":
                        "https://am.test/?authIndexType=composite_advice&authIndexValue=\(Base64.encode(Array(Self.xml.utf8), as: .url))"
                ]),
            HTTPResponse(
                status: 401,
                headers: [
                    "WWW-Authenticate":
                        "SSOADVICE realm=\"/\",advices=\"\(Base64.encode(Array(#"{"TransactionConditionAdvice":["tx-1"]}"#.utf8), as: .standard))\",am_uri=\"https://am.test/am/\""
                ]),
            HTTPResponse(status: 401, body: Array(json.utf8)), HTTPResponse(status: 403, body: Array("[{},\(json)]".utf8)),
        ]
        for response in responses { #expect(PolicyAdvice(response) == expected) }
        #expect(expected.transactionID == "tx-1")
        #expect(PolicyAdvice(xml: expected.xml) == expected)
    }

    @Test("Names and values with XML special characters are escaped and read back")
    func escapesXML() {
        let advice = PolicyAdvice(PolicyAdvice.service, #"/<al&pha>:"Tree""#)
        #expect(PolicyAdvice(xml: advice.xml) == advice)
        #expect(!advice.xml.contains("al&pha"))
    }

    @Test("Text without advice gives no advice")
    func findsNoAdvice() {
        let responses = [
            HTTPResponse(status: 200, body: Array(#"{"advices":{"TransactionConditionAdvice":["x"]}}"#.utf8)),
            HTTPResponse(status: 401), HTTPResponse(status: 401, body: Array("<html>".utf8)),
            HTTPResponse(status: 401, body: Array(#"{"advices":{}}"#.utf8)),
            HTTPResponse(status: 302, headers: ["Location": "https://am.test/?authIndexType=service&authIndexValue=Login"]),
            HTTPResponse(
                status: 302, headers: ["Location": "https://am.test/?authIndexType=composite_advice&authIndexValue=%%%"]),
            HTTPResponse(status: 401, headers: ["WWW-Authenticate": "Bearer realm=\"x\""]),
            HTTPResponse(status: 401, headers: ["WWW-Authenticate": "SSOADVICE advices=\"!!\""]),
        ]
        for response in responses { #expect(PolicyAdvice(response) == nil) }
    }

    @Test("A confirmed request carries the transaction id after its own parameters")
    func confirmsRequest() {
        let advice = PolicyAdvice(PolicyAdvice.transaction, "a b")
        #expect(advice.address(confirming: "https://a.test/x") == "https://a.test/x?_txid=a%20b")
        #expect(advice.address(confirming: "https://a.test/x?y=z#f") == "https://a.test/x?y=z&_txid=a%20b#f")
        #expect(PolicyAdvice(PolicyAdvice.service, "x").address(confirming: "https://a.test/x") == "https://a.test/x")
    }
}
