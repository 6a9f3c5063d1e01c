import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import Synchronization
import Testing

@Suite("A journey")
struct JourneyTests {
    private static let end = #"{"tokenId":"t","successUrl":"/console","realm":"/alpha"}"#
    private static let authenticate = "https://am.example.test/am/json/realms/root/authenticate"
    private static let step =
        #"{"authId":"a","callbacks":[{"type":"NewCallback","output":[],"x":1}],"template":"t","stage":"s","header":"h"}"#

    @Test("is started by its name, with the headers that every server wants")
    func start() async throws {
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
        "is started by every index",
        arguments: [
            (.standard, ""), (.service("Login"), "?authIndexType=service&authIndexValue=Login"),
            (.module("DataStore"), "?authIndexType=module&authIndexValue=DataStore"),
            (AuthenticationIndex(type: "level", value: "5"), "?authIndexType=level&authIndexValue=5"),
            (
                .advice(PolicyAdvice("TransactionConditionAdvice", "a&b")),
                "?authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22"
                    + "TransactionConditionAdvice%22%2F%3E%3CValue%3Ea%26amp%3Bb%3C%2FValue%3E%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E"
            ),
        ] as [(AuthenticationIndex, String)])
    func indexes(index: AuthenticationIndex, query: String) async throws {
        let transport = answering((200, Self.end))
        _ = try await Journey(try profile(), transport: transport).start(index)
        #expect(transport.requests.map(\.url) == [Self.authenticate + query])
    }

    @Test("carries its options through every step, and says nothing of those that were not asked for")
    func options() async throws {
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

    @Test("hands the session to OpenAM as a cookie too")
    func openAMSession() async throws {
        let transport = answering((200, Self.end))
        let options = JourneyOptions { $0.session = Secret("t".utf8) }
        _ = try await Journey(try profile { $0.dialect = .openAM }, transport: transport).start("Login", options: options)
        #expect(transport.requests[0].headers["Cookie"] == "iPlanetDirectoryPro=t")
    }

    @Test("sends no session token that is none", arguments: ["", "a b", "a\r\nX: y", "a;b", "ä"])
    func badSession(token: String) async throws {
        let transport = answering((200, Self.end))
        let options = JourneyOptions { $0.session = Secret(token.utf8) }
        await #expect {
            try await Journey(try profile(), transport: transport).start("Login", options: options)
        } throws: { ($0 as? JourneyError)?.code == .invalidRequest }
        #expect(transport.requests.isEmpty)
    }

    @Test("sends a step back with every member it came with")
    func echo() async throws {
        let transport = answering((200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        _ = try await journeys.next(try await journeys.start("Login").step)
        #expect(try JSON.value(of: transport.requests[1].body) == JSON.value(of: Self.step.utf8))
    }

    @Test(
        "drops nothing that it does not know, and adds nothing that did not come",
        arguments: [
            #"{"type":"FutureCallback","input":[{"name":"a","value":"","hint":{"x":[1]}}]}"#,
            #"{"type":"FutureCallback","output":[{"name":"a","value":1,"format":"date"}],"_id":1,"lang":null}"#,
            #"{"type":"FutureCallback","output":null,"input":null}"#, #"{"type":"FutureCallback","output":[],"input":[]}"#,
            #"{"type":"FutureCallback","output":[{"name":"a"},{"name":"b","value":null}]}"#, #"{"type":"FutureCallback"}"#,
        ])
    func unknown(callback: String) async throws {
        let step = #"{"authId":"a","callbacks":[\#(callback)],"stage":null,"future":{"a":1}}"#
        let transport = answering((200, step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        _ = try await journeys.next(try await journeys.start("Login").step)
        #expect(try JSON.value(of: transport.requests[1].body) == JSON.value(of: step.utf8))
    }

    @Test("leaves scripts behind, and nothing else; OpenAM gets them too")
    func scripts() async throws {
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
        "ends with a session, or without one",
        arguments: [
            (Self.end, .loggedIn(SSOToken(value: Secret("t".utf8), successURL: "/console", realm: "/alpha"))),
            (#"{"tokenId":"t"}"#, .loggedIn(SSOToken(value: Secret("t".utf8)))),
        ] as [(String, JourneyState)])
    func success(body: String, state: JourneyState) async throws {
        #expect(try await Journey(try profile(), transport: answering((200, body))).start("Login") == state)
    }

    @Test(
        "comes to its end without a session where none was asked for, or the token is empty",
        arguments: [
            #"{"message":"Authentication Successful","successUrl":"/console","realm":"/"}"#,
            #"{"tokenId":"","successUrl":"/console","realm":"/"}"#,
        ])
    func passage(body: String) async throws {
        let state = try await Journey(try profile(), transport: answering((200, body))).start("Login")
        guard case .completed(let completion) = state else { throw Unexpected() }
        #expect(completion.successURL == "/console")
        #expect(completion.realm == "/")
    }

    @Test("goes on from a link", arguments: ["https://app.test/?realm=/&suspendedId=a%2Bb#x", "app://go?suspendedId=a%2Bb"])
    func resume(link: String) async throws {
        let transport = answering((200, Self.end))
        _ = try await Journey(try profile(), transport: transport).resume(link)
        #expect(transport.requests.map(\.url) == ["\(Self.authenticate)?suspendedId=a%2Bb"])
    }

    @Test(
        "sends nothing for a link that belongs to no journey",
        arguments: ["https://app.test/", "?suspendedId=", "", "suspendedId=a"])
    func foreignLink(link: String) async throws {
        let transport = answering((200, Self.end))
        await #expect {
            try await Journey(try profile(), transport: transport).resume(link)
        } throws: { ($0 as? JourneyError)?.code == .invalidResumeURI }
        #expect(transport.requests.isEmpty)
    }

    @Test("hands over what a person brings back from elsewhere, and no more")
    func comingBack() async throws {
        let transport = answering((200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let step = try await journeys.start("Login").step
        _ = try await journeys.next(step, returnedTo: "https://app.test/cb?code=c+1&state=s&session=x&iss=y")
        #expect(transport.requests[1].url == "\(Self.authenticate)?code=c%201&state=s")
        #expect(try JSON.value(of: transport.requests[1].body)["authId"] == .string("a"))
    }

    @Test("tells interceptors what each request is for, and sends what they give back")
    func interceptors() async throws {
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

@Suite("What an answer means")
struct AnswerTests {
    @Test(
        "A refusal is told by its kind",
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
    func refusals(status: Int, body: String, code: JourneyError.Code) async throws {
        let journeys = Journey(try profile(), transport: answering((status, body)))
        await #expect {
            try await journeys.start("Login")
        } throws: { error in
            guard let error = error as? JourneyError else { return false }
            // A redirect without a word of the server's own is how networks show their page.
            let isRetryable = code == .serverFailed || status == 302
            return error.code == code && error.status == status && error.isRetryable == isRetryable
                && !error.message.isEmpty && !error.message.contains("org.forgerock")
        }
    }

    @Test(
        "What no AM answers is an error with words, and no crash",
        arguments: [
            "<html><body>Welcome to the hotel</body></html>", "", "{}", "[]", "null", "17", #""tokenId""#, #"{"ok":true}"#,
            #"{"authId":"#,
            #"{"authId":1,"callbacks":[]}"#, #"{"authId":"a"}"#, #"{"authId":"a","callbacks":"none"}"#,
            #"{"authId":"a","callbacks":[{}]}"#, #"{"authId":"a","callbacks":[[]]}"#, #"{"authId":"a","callbacks":[null]}"#,
            #"{"authId":"a","callbacks":[{"type":1}]}"#, #"{"authId":"a","callbacks":[{"type":"X","output":{}}]}"#,
            #"{"authId":"a","callbacks":[{"type":"X","output":[{}]}]}"#,
            #"{"authId":"a","callbacks":[{"type":"X","output":[],"input":[{"name":1,"value":2}]}]}"#,
            #"{"tokenId":7}"#, #"{"tokenId":null}"#, "{\"authId\":\"\u{0}\"}", String(repeating: "[", count: 100_000),
            String(repeating: #"{"authId":"#, count: 5_000),
        ])
    func hostile(body: String) async throws {
        let journeys = Journey(try profile(), transport: answering((200, body)))
        await #expect {
            try await journeys.start("Login")
        } throws: { ($0 as? JourneyError)?.code == .serverMisbehaved }
    }

    @Test("A broken step names the member that is wrong, and none of its content")
    func path() async throws {
        let body = #"{"authId":"a","callbacks":[{"type":"X"},{"type":"Y","input":[{"name":"IDToken2","value":"secret"},{}]}]}"#
        await #expect {
            try await Journey(try profile(), transport: answering((200, body))).start("Login")
        } throws: { error in
            let words = "\(error)"
            return words.contains("callbacks[1].input[1].name") && !words.contains("secret")
        }
    }

    @Test("Every cut of an answer is an error, and no crash")
    func cuts() async throws {
        let body = Array(
            #"{"authId":"a","callbacks":[{"type":"NameCallback","output":[{"name":"prompt","value":"ü\u00e9"}]}]}"#.utf8)
        for length in 0..<body.count {
            let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(body[..<length])) }
            await #expect(throws: JourneyError.self) { try await Journey(try profile(), transport: transport).start("Login") }
        }
    }

    @Test("Rules that were not kept come with their parameters")
    func policies() async throws {
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

    @Test("A server that is busy says when to come back")
    func retryAfter() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 503, headers: ["Retry-After": "12"]) }
        await #expect {
            try await Journey(try profile(), transport: transport).start("Login")
        } throws: { ($0 as? JourneyError)?.retryAfter == .seconds(12) }
    }
}

@Suite("Advice of a policy")
struct PolicyAdviceTests {
    private static let xml =
        "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>tx-1</Value></AttributeValuePair></Advices>"

    @Test("is found wherever a server puts it")
    func found() throws {
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

    @Test("survives names and values that XML has marks for")
    func escapes() {
        let advice = PolicyAdvice(PolicyAdvice.service, #"/<al&pha>:"Tree""#)
        #expect(PolicyAdvice(xml: advice.xml) == advice)
        #expect(!advice.xml.contains("al&pha"))
    }

    @Test("is not found where there is none")
    func none() {
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

    @Test("confirms a request by the transaction's id, behind the parameters that are there")
    func confirming() {
        let advice = PolicyAdvice(PolicyAdvice.transaction, "a b")
        #expect(advice.address(confirming: "https://a.test/x") == "https://a.test/x?_txid=a%20b")
        #expect(advice.address(confirming: "https://a.test/x?y=z#f") == "https://a.test/x?y=z&_txid=a%20b#f")
        #expect(PolicyAdvice(PolicyAdvice.service, "x").address(confirming: "https://a.test/x") == "https://a.test/x")
    }
}
