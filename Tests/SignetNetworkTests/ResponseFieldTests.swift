import Foundation
import SignetCore
import SignetNetwork
import Testing

@Suite("Header fields of a response")
struct ResponseFieldTests {
    @Test(
        "Joined Set-Cookie headers are split between cookies and not inside a date",
        arguments: [
            ("a=1", ["a=1"]), ("a=1; Path=/, b=2", ["a=1; Path=/", "b=2"]), ("", [""]),
            (
                "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT, c=3",
                [
                    "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "c=3",
                ]
            ),
        ])
    func splitsJoinedCookies(text: String, cookies: [String]) {
        #expect(HTTPHeaders.cookies(joined: text) == cookies)
    }

    static let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "The wait time is read from a Retry-After header in seconds or as a date",
        arguments: [
            ("120", .seconds(120)), ("0", .zero), (" 5 ", .seconds(5)), ("-1", nil), ("soon", nil), ("", nil),
            ("99999999999999999999", .seconds(86_400)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sun, 06 Nov 1994 08:40:00 GMT", .zero),
        ] as [(String, Duration?)])
    func readsRetryAfter(text: String, wait: Duration?) {
        #expect(HTTPResponse(status: 503, headers: ["Retry-After": text]).retryAfter(now: Self.now) == wait)
    }

    @Test("A Retry-After date is relative to the server's clock if the response has a Date header")
    func retryAfterUsesServerTime() {
        let response = HTTPResponse(
            status: 503,
            headers: ["Date": "Sun, 06 Nov 1994 10:00:00 GMT", "Retry-After": "Sun, 06 Nov 1994 10:00:30 GMT"])
        #expect(response.retryAfter(now: Self.now) == .seconds(30))
        #expect(response.date == Date(timeIntervalSince1970: 784_116_000))
        #expect(HTTPResponse(status: 503).retryAfter(now: Self.now) == nil)
    }

    @Test(
        "Cookies of a response with status 200 to 302 are sent back, and those of another status are ignored",
        arguments: [200, 302, 303, 400, 401, 500])
    func sendsCookiesBack(status: Int) {
        var response = HTTPResponse(status: status)
        response.headers.append("Set-Cookie", "a=1; Path=/")
        response.headers.append("set-cookie", "b=2; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT")
        let request = HTTPRequest("GET", "https://am.example.com/")
        var jar = CookieJar()
        jar.take(response, to: request, now: Self.now)
        #expect(jar.header(for: request.url, now: Self.now) == ((200...302).contains(status) ? "a=1; b=2" : nil))
    }

    @Test("The summary of a request for a log contains no secrets")
    func summaryHidesSecrets() {
        let request = HTTPRequest(
            "POST", "https://am.example.com/authorize?code=SECRET1&state=SECRET2&flag#SECRET3",
            headers: [
                "Authorization": "Bearer SECRET4", "iPlanetDirectoryPro": "SECRET5", "Cookie": "a=SECRET6",
                "Content-Type": "application/json",
            ], body: Array("password=SECRET7".utf8))
        let response = HTTPResponse(
            status: 302, headers: ["Location": "https://app/cb?code=SECRET8", "Set-Cookie": "a=SECRET9", "Retry-After": "3"],
            body: Array("SECRET10".utf8))
        let exchange = LoggedRequest(request, action: .authorize, response: response)
        var dumped = ""
        dump(exchange, to: &dumped)
        for text in ["\(exchange)", String(reflecting: exchange), dumped, "\(request)", String(reflecting: request)] {
            #expect(!text.contains("SECRET"))
        }
        #expect(exchange.description == "AUTHORIZE POST https://am.example.com/authorize?code=…&state=…&flag=… 302, 8 bytes")
        let contentTypes = exchange.requestHeaders.filter { $0.name == "Content-Type" }.map(\.value)
        #expect(contentTypes.contains("application/json"))
        let failed = LoggedRequest(request, failure: TransportError(.timeout, host: "am.example.com", "no answer in time"))
        #expect(failed.description.hasSuffix("failed: no answer in time"))
    }

    @Test("Setting a header replaces all headers of that name")
    func settingHeaderReplaces() {
        var headers: SignetNetwork.HTTPHeaders = ["a": "1", "B": "2", "A": "3"]
        headers.set("a", "4")
        #expect(headers.fields.map(\.name) == ["B", "a"] && headers.all("A") == ["4"])
    }
}
