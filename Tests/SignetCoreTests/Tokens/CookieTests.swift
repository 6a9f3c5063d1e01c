import Foundation
import SignetCore
import Testing

@Suite("Cookies (RFC 6265)")
struct CookieTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func jar(_ lines: String..., from url: String = "https://openam.example.com/am/json/authenticate") -> CookieJar {
        var jar = CookieJar()
        for line in lines { jar.set(line, from: url, now: Self.now) }
        return jar
    }

    @Test(
        "A cookie with a domain goes to that name and its subdomains, and one without goes back to its host",
        arguments: [
            ("Domain=.example.com", "openam.example.com", true), ("Domain=.example.com", "test.example.com", true),
            ("Domain=.example.com", "www.example.com", true), ("Domain=.example.com", "example.com", true),
            ("Domain=.example.com", "eexample.com", false), ("Domain=.example.com", "example.coma", false),
            ("Domain=.example.com", "xexample.com", false), ("Domain=.example.com", "a.b.example.com", true),
            ("Domain=example.com", "openam.example.com", true), ("Domain=example.com", "example.com", true),
            ("Domain=example.com", "eexample.com", false), ("Domain=EXAMPLE.com", "test.example.com", true),
            ("Domain=openam.example.com", "openam.example.com", true),
            ("Domain=openam.example.com", "a.openam.example.com", true),
            ("Domain=openam.example.com", "test.example.com", false), ("Domain=openam.example.com", "example.com", false),
            ("Domain=.openam.example.com", "a.b.openam.example.com", true),
            ("Domain=.openam.example.com", "testfr.openamexample.com", false),
            ("", "openam.example.com", true), ("", "OPENAM.example.com", true), ("", "a.openam.example.com", false),
            ("", "example.com", false), ("Domain=", "openam.example.com", true), ("Domain=", "a.openam.example.com", false),
        ])
    func cookieDomains(attribute: String, host: String, isSent: Bool) {
        let jar = jar("a=1; Path=/; \(attribute)")
        #expect((jar.header(for: "https://\(host)/", now: Self.now) == "a=1") == isSent)
    }

    @Test(
        "A domain that the sender does not belong to, or that is a public suffix, is refused",
        arguments: ["other.com", "com", ".com", "a.openam.example.com", "ample.com", "openam.example.com."])
    func refusesForeignCookieDomain(domain: String) {
        #expect(jar("a=1; Domain=\(domain)").cookies.isEmpty)
    }

    @Test("An IP address matches only itself as a cookie domain")
    func ipAddressCookieDomains() {
        let jar = jar("a=1; Domain=127.0.0.1", "b=2; Domain=0.0.1", "c=3", from: "http://127.0.0.1:8080/x")
        #expect(jar.header(for: "http://127.0.0.1:9999/x", now: Self.now) == "a=1; c=3")
        #expect(jar.header(for: "http://4.127.0.0.1/x", now: Self.now) == nil)
        let six = self.jar("d=4", from: "http://[::1]:8080/")
        #expect(six.header(for: "http://[::1]/", now: Self.now) == "d=4")
    }

    @Test(
        "A cookie path covers itself and the paths below it",
        arguments: [
            ("/abc", "/abc", true), ("/abc", "/abc/def", true), ("/abc", "/abcd", false), ("/abc", "/", false),
            ("/abc", "", false), ("/abc/", "/abc/", true), ("/abc/", "/abc/d", true), ("/abc/", "/abc", false),
            ("/", "", true), ("/", "/x?y=/z", true), ("abc", "/am/json/x", true), ("abc", "/am/jsonx", false),
            ("", "/am/json/authenticate", true), ("/abc", "/abc?x", true), ("/abc", "/abc#x", true), ("/abc", "/ABC", false),
        ])
    func cookiePaths(path: String, asked: String, isSent: Bool) {
        let jar = jar("a=1; Path=\(path)")
        #expect((jar.header(for: "https://openam.example.com\(asked)", now: Self.now) != nil) == isSent)
    }

    @Test(
        "A cookie without a path gets the request's path up to its last slash",
        arguments: [
            ("", "/"), ("/", "/"), ("/x", "/"), ("/x/", "/x"), ("/x/y", "/x"), ("/x/y?z=/a/b", "/x"), ("?q", "/"),
        ])
    func defaultCookiePath(asked: String, path: String) {
        #expect(jar("a=1", from: "https://h.example.com\(asked)").cookies.first?.path == path)
    }

    @Test(
        "A secure cookie is sent over https only, in any letter case",
        arguments: [("https", true), ("HTTPS", true), ("http", false)])
    func secureCookies(scheme: String, isSent: Bool) {
        let jar = jar("a=1; Path=/; SECURE")
        #expect((jar.header(for: "\(scheme)://openam.example.com/", now: Self.now) != nil) == isSent)
    }

    @Test(
        "No cookie is sent to an address that is not a web address",
        arguments: ["openam.example.com/", "ftp://openam.example.com/", ""])
    func sendsNoCookieToOtherSchemes(url: String) {
        #expect(jar("a=1; Path=/").header(for: url, now: Self.now) == nil)
    }

    @Test(
        "Max-Age takes precedence over Expires, and both end a cookie",
        arguments: [
            ("", 0, nil), ("Max-Age=60", 0, 60), ("Max-Age=0", 0, -1), ("Max-Age=-5", 0, -1), ("Max-Age=x", 0, nil),
            ("Max-Age=99999999999999999999", 0, 34_560_000_000),
            ("Expires=Fri, 15 Jan 2027 08:01:00 GMT", 0, 60), ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, -1),
            ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, 60),
            ("Expires=Fri, 15 Jan 2038 08:01:00 GMT; Max-Age=0", 0, -1), ("Expires=whenever", 0, nil),
            ("Max-Age=60; Max-Age=120", 0, 120),
        ] as [(String, Int, Int?)])
    func cookieExpiry(attributes: String, _: Int, seconds: Int?) throws {
        let jar = jar("a=1; \(attributes)")
        if seconds == -1 {
            #expect(jar.cookies.isEmpty)
        } else {
            let cookie = try #require(jar.cookies.first)
            let expiry = seconds.map { Self.now + Double($0) }
            #expect(cookie.expiry == expiry)
            #expect(jar.cookies(for: "https://openam.example.com/am/json/x", now: Self.now).count == 1)
            if let seconds {
                let end = Self.now + Double(seconds)
                #expect(jar.cookies(for: "https://openam.example.com/am/json/x", now: end).isEmpty)
                #expect(jar.cookies(for: "https://openam.example.com/am/json/x", now: end - 1).count == 1)
            }
        }
    }

    @Test("A repeated cookie keeps the position and creation time of the first; with another path it is another cookie")
    func replacesCookie() {
        var jar = jar("a=1; Path=/")
        jar.set("a=2; Path=/", from: "https://openam.example.com/", now: Self.now + 10)
        #expect(jar.header(for: "https://openam.example.com/", now: Self.now) == "a=2")
        #expect(jar.cookies.first?.created == Self.now)
        jar.set("a=3; Path=/am", from: "https://openam.example.com/", now: Self.now + 20)
        #expect(jar.header(for: "https://openam.example.com/am", now: Self.now) == "a=3; a=2")
        jar.set("a=4; Path=/; Domain=example.com", from: "https://openam.example.com/", now: Self.now + 30)
        #expect(jar.cookies.count == 3)
    }

    @Test("An expired cookie removes the one with its name, domain and path, and no other")
    func expiredCookieRemoves() {
        var jar = jar("a=1; Path=/", "b=2; Path=/", "a=3; Path=/am")
        jar.set("a=; Path=/; Max-Age=0", from: "https://openam.example.com/", now: Self.now)
        #expect(jar.header(for: "https://openam.example.com/am", now: Self.now) == "a=3; b=2")
        jar.set("b=; Path=/; Domain=example.com; Max-Age=0", from: "https://openam.example.com/", now: Self.now)
        #expect(jar.cookies.count == 2)
    }

    @Test("Cookies are sent by longest path, then by age")
    func cookieOrder() {
        var jar = CookieJar()
        for (index, line) in ["a=1; Path=/", "b=2; Path=/am", "c=3; Path=/", "d=4; Path=/am/json"].enumerated() {
            jar.set(line, from: "https://openam.example.com/", now: Self.now + Double(index))
        }
        #expect(jar.header(for: "https://openam.example.com/am/json", now: Self.now) == "d=4; b=2; a=1; c=3")
    }

    @Test(
        "A cookie's value is the text between the equals sign and the first semicolon",
        arguments: [
            ("a=b=c; Path=/", "a", "b=c"), (" a = b ;Path=/", "a", "b"), ("a=\"q r\"; Path=/", "a", "\"q r\""),
            ("a=; Path=/", "a", ""), ("a=1;Path=/;;=;x;y=z", "a", "1"), ("a=AQIC5w..*AAJTSQ*; path=/", "a", "AQIC5w..*AAJTSQ*"),
        ])
    func cookieValues(line: String, name: String, value: String) throws {
        let cookie = try #require(jar(line).cookies.first)
        #expect(cookie.name == name && cookie.value == Secret(value.utf8) && cookie.path == "/")
    }

    @Test(
        "An invalid Set-Cookie header sets no cookie",
        arguments: ["", "a", ";", "=1", " =1", "a\u{0}=1", "a=1\r\nX: y", "a=1\u{7F}"])
    func ignoresInvalidCookies(line: String) {
        #expect(jar(line).cookies.isEmpty)
    }

    @Test(
        "Non-ASCII text in any part of a cookie matches only itself",
        arguments: [
            // The Kelvin sign equals K under Unicode case folding, but its UTF-8 bytes differ.
            ("a=1; Path=/\u{212A}", "/K", nil), ("a=1; Path=/\u{212A}", "/K/x", nil), ("a=1; Path=/\u{212A}/", "/K/", nil),
            ("a=1; Path=/e\u{301}", "/e", nil), ("a=1; Path=/\u{E9}", "/%C3%A9", nil),
            ("\u{212A}=1; Path=/", "/", "\u{212A}=1"), ("a=\u{E9}\u{1F36A}; Path=/", "/", "a=\u{E9}\u{1F36A}"),
            ("a=1; Path=/; Domain=\u{E9}xample.com", "/", nil), ("a=1; Path=/; Domain=example.com\u{301}", "/", nil),
            ("a=1; Path=/; Max-Age=\u{663}", "/", "a=1"), ("a=1; Path=/; Expires=\u{661} Jan 1970 00:00:00", "/", "a=1"),
            ("a=1; Path=/; \u{E9}=x; Secur\u{E9}", "/", "a=1"),
        ] as [(String, String, String?)])
    func nonASCIICookieParts(line: String, asked: String, header: String?) {
        #expect(jar(line).header(for: "https://openam.example.com\(asked)", now: Self.now) == header)
    }

    @Test(
        "Cookie dates are read in every common form",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6 nov 94 8:49:37", 784_111_777), ("08:49:37 94 nov 6", nil),
            ("Wed, 31 Feb 2027 00:00:00 GMT", nil), ("29 Feb 2028 00:00:00", 1_835_395_200), ("29 Feb 2027 00:00:00", nil),
            ("1 Jan 69 00:00:00", 3_124_224_000), ("1 Jan 70 00:00:00", 0), ("1 Jan 1600 00:00:00", nil),
            ("1 Jan 2027 24:00:00", nil), ("1 Jan 2027 00:60:00", nil), ("1 Jan 2027", nil), ("", nil),
        ] as [(String, Int?)])
    func readsCookieDates(text: String, seconds: Int?) {
        let date = seconds.map { Date(timeIntervalSince1970: Double($0)) }
        #expect(CookieDate.date(from: text) == date)
    }

    @Test("A cookie jar is unchanged after encoding to JSON and back, and shows no values")
    func cookieJarCoding() throws {
        let jar = jar("iPlanetDirectoryPro=AQIC5; Domain=example.com; Secure; HttpOnly; Max-Age=60", "b=2")
        let bytes = try JSONEncoder().encode(jar)
        #expect(try JSONDecoder().decode(CookieJar.self, from: bytes) == jar)
        #expect(!"\(jar)".contains("AQIC5") && !String(reflecting: jar).contains("AQIC5"))
    }

    @Test("A server that sets cookies without end cannot exhaust the memory")
    func limitsCookieCount() {
        var jar = CookieJar()
        for index in 0..<1000 { jar.set("c\(index)=1", from: "https://h.example.com/", now: Self.now) }
        #expect(jar.cookies.count == 300 && jar.cookies.last?.name == "c999")
    }
}
