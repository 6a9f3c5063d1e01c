import FRCore
import SignetCore
import SignetNetwork
import Testing

@Suite("FRCore requests")
struct RequestTests {
    @Test(
        "A request becomes a URLRequest with its method, and an invalid address becomes nil",
        arguments: Request.HTTPMethod.allCases)
    func buildsURLRequest(method: Request.HTTPMethod) throws {
        let built = try #require(Request(url: "https://am.example.com/any", method: method).build())
        #expect(built.url?.absoluteString == "https://am.example.com/any")
        #expect(built.httpMethod == method.rawValue)
        for address in ["invalid_url", ""] { #expect(Request(url: address, method: method).build() == nil) }
    }

    @Test("Query parameters with every special character come back as they were")
    func escapesQuery() {
        let values = ["test", "*&^", "+-=", "!@#$%^&*()_+[]{}\\|;:'\",.<>?`~"]
        for value in values {
            let built = Request(url: "https://am.example.com", method: .POST, urlParams: ["123": value], requestType: .urlEncoded)
                .build()
            #expect(built?.url?.valueOf("123") == value)
        }
    }

    @Test("A body goes with POST and PUT, as JSON or as a form, and never with GET or DELETE")
    func sendsBody() {
        let cases: [(Request.HTTPMethod, Request.ContentType, String?)] = [
            (.POST, .json, #"{"a":"1 2"}"#), (.PUT, .urlEncoded, "a=1%202"), (.GET, .json, nil), (.DELETE, .urlEncoded, nil),
        ]
        for (method, type, body) in cases {
            let built = Request(url: "https://am.example.com", method: method, bodyParams: ["a": "1 2"], requestType: type)
                .build()
            let sent = built?.httpBody.map { String(decoding: $0, as: UTF8.self) }
            #expect(sent == body)
            #expect(built?.value(forHTTPHeaderField: "Content-Type") == type.rawValue)
        }
    }

    @Test("The SDK's own headers can't be replaced")
    func keepsHeadersOfSDK() {
        let headers = ["header1": "one", "x-requested-with": "other", "X-Requested-Platform": "other"]
        let built = Request(url: "https://am.example.com", method: .GET, headers: headers).build()
        #expect(built?.value(forHTTPHeaderField: "header1") == "one")
        #expect(built?.value(forHTTPHeaderField: "x-requested-with") == "forgerock-sdk")
        #expect(built?.value(forHTTPHeaderField: "x-requested-platform") == "ios")
    }

    @Test("A request's text names its parts and shows no value of a header, a parameter or the body")
    func hidesValues() {
        let request = Request(
            url: "https://am.example.com", method: .GET, headers: ["headerKey": "hValue"], bodyParams: ["bodyKey": "bValue"],
            urlParams: ["urlKey": "uValue"], requestType: .plainText, responseType: .json, timeoutInterval: 77)
        let text = request.debugDescription
        for part in ["https://am.example.com", "GET", "headerKey", "bodyKey", "urlKey", "text/plain", "application/json", "77"] {
            #expect(text.contains(part))
        }
        for secret in ["hValue", "bValue", "uValue"] { #expect(!text.contains(secret) && !"\(request)".contains(secret)) }
    }

    @Test("Actions have the names that servers' documents use")
    func namesActions() {
        for type in ActionType.allCases { #expect(Action(type: type).type == "\(type)") }
        #expect(Action(type: .AUTHENTICATE, payload: ["tree": "Login"]).payload?["tree"] as? String == "Login")
        #expect(Action(type: .LOGOUT).payload == nil)
    }

    @Test("An interceptor's change of one part leaves the others as the SDK made them")
    func appliesChanges() throws {
        let message = HTTPRequest(
            "POST", "https://am.example.com/authorize?scope=a+b&x=1&x=2",
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("code=c%2B1&z=2".utf8))
        let view = try #require(Request(message))
        #expect(view.url == "https://am.example.com/authorize" && view.urlParams == ["scope": "a b", "x": "1"])
        #expect(view.bodyParams as? [String: String] == ["code": "c+1", "z": "2"])
        #expect(view.changes(of: message, from: view) == message)

        func changed(url: String? = nil, query: [String: String]? = nil, body: [String: Any]? = nil) -> HTTPRequest {
            Request(
                url: url ?? view.url, method: view.method, headers: view.headers, bodyParams: body ?? view.bodyParams,
                urlParams: query ?? view.urlParams, requestType: view.requestType, responseType: view.responseType,
                timeoutInterval: view.timeoutInterval
            ).changes(of: message, from: view)
        }
        let added = changed(query: ["scope": "a b", "x": "1", "acr": "2 &"])
        #expect(added.url == "https://am.example.com/authorize?scope=a+b&x=1&x=2&acr=2%20%26" && added.body == message.body)
        #expect(changed(query: ["x": "1"]).url == "https://am.example.com/authorize?x=1&x=2")
        #expect(changed(url: "https://other.example.com").url == "https://other.example.com?scope=a%20b&x=1")
        #expect(String(decoding: changed(body: ["code": "c+1", "n": 1]).body, as: UTF8.self) == "code=c%2B1&n=1")
    }
}
