import SignetCore
import Testing

@Suite("Endpoints: https, or plain http to this device")
struct EndpointTests {
    @Test(
        "An endpoint splits its address into parts and keeps the text unchanged",
        arguments: [
            ("https://am.example.test/am/json?_action=register", "https", "am.example.test", 443),
            ("HTTPS://AM.Example.Test:8443", "https", "am.example.test", 8443),
            ("http://localhost/", "http", "localhost", 80), ("http://LOCALHOST:8080/x", "http", "localhost", 8080),
            ("http://127.0.0.1/", "http", "127.0.0.1", 80), ("http://127.255.255.254:1/", "http", "127.255.255.254", 1),
            ("http://[::1]/", "http", "::1", 80), ("http://[::1]:8080/a?b=c#d", "http", "::1", 8080),
            ("https://[2001:db8::1]/", "https", "2001:db8::1", 443), ("https://10.0.0.1/", "https", "10.0.0.1", 443),
        ])
    func acceptsEndpoint(url: String, scheme: String, host: String, port: Int) throws {
        let endpoint = try Endpoint(url)
        #expect(endpoint.url == url)
        #expect(endpoint.scheme == scheme)
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
    }

    @Test(
        "Plain http to a host that only looks like this device is refused",
        arguments: [
            "127.0.0.1.evil.test", "localhost.evil.test", "evil.test", "127.1", "127.0.1", "0.0.0.0", "0", "2130706433",
            "0x7f.0.0.1",
            "0177.0.0.1", "127.0.0.256", "127.0.0.1.", "localhost.", "127.0.0", "127.0.0.1.1", "128.0.0.1", "126.255.255.255",
            "127.0.0.-1",
            "[::]", "[::2]", "[fe80::1]", "[::ffff:10.0.0.1]", "10.0.0.1", "192.168.1.1", "169.254.169.254", "local",
            "localhosts",
        ])
    func refusesLookAlikeHosts(host: String) throws {
        let error = try #require(throws: EndpointError.self) { try Endpoint("http://\(host)/push") }
        guard error.code == .plainHTTP else {
            #expect(error == .notAWebAddress)
            return
        }
    }

    @Test(
        "Percent-encoded brackets or dots do not make another host count as this device",
        arguments: [
            "%5B::1%5D.evil.test", "%5Blocalhost%5D.evil.test", "%5B127.0.0.1%5D.evil.test", "%5B::1%5D",
            "localhost%5D.evil.test",
            "127.0.0.1%2Fevil.test", "127.0.0.1%00.evil.test", "localhost%23.evil.test", "localhost%0A", "127%2E0%2E0%2E1",
            "%6Cocalhost",
        ])
    func refusesEscapedHosts(host: String) {
        #expect(throws: EndpointError.self) { try Endpoint("http://\(host)/push") }
    }

    @Test(
        "Text that is not an absolute web address is refused",
        arguments: [
            "", " ", "am.example.test", "/push", "//am.example.test/push", "push?_action=register", "https:", "https://",
            "https:///push",
            "https:am.example.test", "ftp://am.example.test/", "file:///etc/passwd", "javascript:alert(1)", "httpx://a.test",
            "https://am.example.test/a b", " https://am.example.test/", "https://am.example.test/\n",
            "https://am.example.test/\r\nX: y",
            "https://zürich.test/", "https://am.example.test/\u{202E}", "https://am.example.test:port/", "https://[::1",
            "https://::1/",
            "https://am.example.test:65536/", "https://am.example.test:99999999999999999999/", "https://am.example.test:-1/",
            "https://a%0Ab.test/", "https://%1B%5B31m.test/",
        ])
    func refusesNonWebAddress(url: String) throws {
        let error = try #require(throws: EndpointError.self) { try Endpoint(url) }
        #expect(error == .notAWebAddress)
    }

    @Test(
        "A user name or a password in the address is refused for every host",
        arguments: [
            "https://user:pw@am.example.test/", "https://user@am.example.test/", "https://:pw@am.example.test/",
            "http://127.0.0.1@evil.test/", "http://localhost:80@evil.test/", "http://user:pw@127.0.0.1/",
            "https://@am.example.test/",
        ])
    func refusesCredentialsInAddress(url: String) throws {
        let error = try #require(throws: EndpointError.self) { try Endpoint(url) }
        #expect(error == .carriesCredentials)
        #expect(!error.description.contains("pw") && !error.description.contains("test"))
    }

    @Test("A host is allowed by its exact name in any letter case")
    func allowsHostByName() throws {
        let policy = EndpointPolicy.allowingPlainHTTP(to: ["AM.lab.test", "10.0.0.5", "2001:db8::1"])
        #expect(try Endpoint("http://am.lab.test:8080/", policy: policy).host == "am.lab.test")
        #expect(try Endpoint("http://Am.Lab.Test/", policy: policy).host == "am.lab.test")
        #expect(try Endpoint("http://10.0.0.5/", policy: policy).port == 80)
        #expect(try Endpoint("http://[2001:db8::1]/", policy: policy).host == "2001:db8::1")
        #expect(try Endpoint("http://127.0.0.1/", policy: policy).host == "127.0.0.1")
        for host in ["x.am.lab.test", "am.lab.test.evil.test", "lab.test", "am.lab.tes", "10.0.0.50"] {
            let error = try #require(throws: EndpointError.self) { try Endpoint("http://\(host)/", policy: policy) }
            #expect(error == .plainHTTP(host: host))
        }
    }

    @Test("A stored address is accepted without a check against the host policy, and an invalid one is refused")
    func storedEndpointSkipsPolicy() throws {
        #expect(try Endpoint(unchecked: "http://am.lab.test:8080/a?b").host == "am.lab.test")
        for url in ["", "ftp://am.lab.test/", "http://user:pw@am.lab.test/", "http://am%2Elab.test/"] {
            #expect(throws: EndpointError.self) { try Endpoint(unchecked: url) }
        }
    }

    @Test(
        "Two addresses have the same origin if scheme, host and port are equal",
        arguments: [
            ("https://am.example.test/a", "https://AM.example.test:443/b?c", true),
            ("https://am.example.test", "https://am.example.test:444", false),
            ("http://localhost:443", "https://localhost:443", false), ("https://am.example.test", "https://example.test", false),
        ])
    func comparesOrigins(one: String, other: String, isSame: Bool) throws {
        #expect(try Endpoint(one).hasSameOrigin(as: Endpoint(other)) == isSame)
    }

    @Test("An endpoint's description omits the query, which may carry a secret", arguments: ["?token=abc", "#token=abc", "?a#b"])
    func descriptionOmitsQuery(rest: String) throws {
        let endpoint = try Endpoint("https://am.example.test/push" + rest)
        #expect(endpoint.description == "https://am.example.test/push")
        #expect("\(endpoint)" == endpoint.description)
    }

    @Test(
        "A stored endpoint is read back unchanged",
        arguments: [
            "https://am.example.test/am/json?_action=register", "http://127.0.0.1:8080/am", "https://AM.example.test:8443",
            "http://[::1]:80/x#y",
            "https://h?x=http://y:1/", "https://h/a:b@c", "HTTPS://H/X",
        ])
    func readsStoredEndpoint(url: String) throws {
        #expect(try Endpoint(stored: url) == Endpoint(url))
    }

    @Test(
        "A stored endpoint that is no longer valid is refused",
        arguments: [
            "", "https:", "https://", "https:///x", "ftp://h", "httpsx//h", "https://u@h", "https://h:0", "https://h:x",
            "https://%41",
        ])
    func refusesDamagedEndpoint(url: String) {
        #expect(throws: EndpointError.self) { try Endpoint(stored: url) }
    }
}
