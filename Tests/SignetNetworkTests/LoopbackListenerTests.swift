import SignetCore
import SignetNetwork
import SignetTesting
import Testing

@Suite("The loopback port of a browser")
struct LoopbackListenerTests {
    private static let form = "application/x-www-form-urlencoded"

    /// Runs `browser` with the redirect address of a listener, and returns the accepted answer and the number of refused ones.
    ///
    /// The listener accepts an answer with the state `right`.
    private func answer(
        _ browser: @escaping @Sendable (_ transport: AsyncHTTPTransport, _ address: String) async throws -> Void
    ) async throws -> (query: String, refusedCount: Int) {
        let listener = try await LoopbackListener.listening(at: "http://127.0.0.1/callback", title: "Test")
        let query = try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
            try await listener.answer(
                within: .seconds(240), accepting: { FormCoding.decode($0)["state"] == "right" },
                whileOpening: {
                    // A task of its own reads the response also when the listener, which has the answer then, cancels this one.
                    try await Task { try await browser(transport, listener.redirectURI) }.value
                })
        }
        return (query, listener.refusedCount)
    }

    private static func post(
        _ address: String, _ body: String, type: String? = form, headers: HTTPHeaders = [:]
    ) -> HTTPRequest {
        var headers = headers
        if let type { headers.append("Content-Type", type) }
        return HTTPRequest("POST", address, headers: headers, body: Array(body.utf8))
    }

    @Test(
        "A form that the browser posts is the answer, like the query of the address",
        arguments: [form, "\(form); charset=UTF-8", "Application/X-WWW-Form-Urlencoded ;charset=utf-8"])
    func takesPostedForm(type: String) async throws {
        let page = Mutex<HTTPResponse?>(nil)
        let result = try await answer { transport, address in
            // The page of the server posts the form, so the browser names the server, or nothing.
            let request = Self.post(
                address, "code=c%2B1&state=right&iss=https%3A%2F%2Fid.example.com", type: type, headers: ["Origin": "null"])
            let response = try await transport.send(request)
            page.withLock { $0 = response }
        }
        let fields = FormCoding.decode(result.query)
        #expect(fields == ["code": "c+1", "state": "right", "iss": "https://id.example.com"] && result.refusedCount == 0)
        let shown = page.withLock { $0 }
        let text = shown.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
        #expect(shown?.status == 200 && text.contains("You can close this window") && text.contains("<title>Test</title>"))
        #expect(shown?.headers["Cache-Control"] == "no-store" && shown?.headers["Referrer-Policy"] == "no-referrer")
    }

    @Test("An address with a query does not add to the form that is posted there")
    func ignoresQueryOfPost() async throws {
        let result = try await answer { transport, address in
            let wrong = try await transport.send(Self.post("\(address)?state=right", "state=wrong"))
            #expect(wrong.status == 400)
            _ = try await transport.send(Self.post("\(address)?code=query", "code=form&state=right"))
        }
        #expect(result.query == "code=form&state=right" && result.refusedCount == 1)
    }

    /// A body and its type, which is nil for none.
    private static let malformed: [(body: String, type: String?)] = [
        ("state=right&code=c", nil), ("state=right&code=c", "text/plain"), (#"{"state":"right"}"#, "application/json"),
        ("state=right&code=c", "multipart/form-data; boundary=state"), ("state=right&code=c", "\(form), text/plain"),
        ("state=right&code=c&code=d", form), ("state=right&state=right", form), ("state=wrong&state=right", form),
        ("state=right&co%64e=c&code=c", form), ("state=right&code=%zz", form), ("state=right&code=%ff", form),
        ("state=right&code=ü", form), ("state=right\r\n", form), ("state=wrong&code=c", form), ("code=c", form), ("", form),
        ("right", form),
    ]

    @Test("A posted form that cannot be read, or has not the right state, gets 400, and the port waits on")
    func refusesMalformedForms() async throws {
        let result = try await answer { transport, address in
            for (body, type) in Self.malformed {
                let response = try await transport.send(Self.post(address, body, type: type))
                #expect(response.status == 400, "\(body) \(type ?? "")")
                let text = String(decoding: response.body, as: UTF8.self)
                #expect(!text.contains("right") && response.headers["Cache-Control"] == "no-store")
            }
            _ = try await transport.send(Self.post(address, "state=right"))
        }
        #expect(result.query == "state=right" && result.refusedCount == Self.malformed.count)
    }

    @Test("A redirect that cannot be read, or has a parameter twice, gets 400, and the port waits on")
    func refusesUnreadableQueries() async throws {
        let queries = [
            "state=right&code=c&code=d", "state=right&state=right", "state=wrong&state=right", "state=right&co%64e=c&code=c",
            "state=right&code=%ff",
        ]
        let result = try await answer { transport, address in
            for query in queries {
                let response = try await transport.send(HTTPRequest("GET", "\(address)?\(query)"))
                #expect(response.status == 400, "\(query)")
                let text = String(decoding: response.body, as: UTF8.self)
                #expect(text.contains("cannot be read") && !text.contains("right"))
            }
            _ = try await transport.send(HTTPRequest("GET", "\(address)?state=right&code=c"))
        }
        #expect(result.query == "state=right&code=c" && result.refusedCount == queries.count)
    }

    @Test("A posted form of up to 64 KiB is read, and a longer one gets 413")
    func limitsLengthOfForm() async throws {
        let (start, limit) = ("state=right&code=", 64 << 10)
        let longest = start + String(repeating: "c", count: limit - start.utf8.count)
        let result = try await answer { transport, address in
            for (body, status) in [(longest + "c", 413), (longest + longest + longest, 413), (longest, 200)] {
                let response = try await transport.send(Self.post(address, body))
                #expect(response.status == status, "\(body.utf8.count)")
            }
        }
        #expect(result.query == longest && result.refusedCount == 2)
    }

    @Test("A post to another path or with another host is refused like a request without a form")
    func refusesPostElsewhere() async throws {
        let result = try await answer { transport, address in
            let origin = address.replacing("/callback", with: "")
            let refused: [(request: HTTPRequest, status: Int)] = [
                (Self.post("\(origin)/other", "state=right"), 404),
                (Self.post(address, "state=right", headers: ["Host": "evil.example.com"]), 404),
                (HTTPRequest("PUT", address, headers: ["Content-Type": Self.form]), 405),
                (HTTPRequest("OPTIONS", address, headers: ["Origin": "https://id.example.com"]), 405),
            ]
            for (request, status) in refused {
                let response = try await transport.send(request)
                #expect(response.status == status, "\(request)")
            }
            _ = try await transport.send(Self.post(address, "state=right"))
        }
        // Only answers are counted.
        #expect(result.refusedCount == 0)
    }

    @Test("The page that leads to a confidential address takes no form")
    func refusesPostToConfidentialPage() async throws {
        let page = try await LoopbackListener.sendingOn(to: Secret("https://am.example.test/".utf8))
        try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
            _ = try await page.answer(
                within: .seconds(240), accepting: { _ in true },
                whileOpening: {
                    let refused = try await transport.send(Self.post(page.redirectURI, "state=right"))
                    #expect(refused.status == 405 && refused.headers["Location"] == nil)
                    let answer = try await transport.send(HTTPRequest("GET", page.redirectURI))
                    #expect(answer.status == 303)
                })
        }
    }

    @Test(
        "A port can be opened for plain HTTP on the loopback interface only",
        arguments: [
            ("http://127.0.0.1/bye", true), ("http://127.0.0.1:8400/bye", true), ("http://[::1]/bye", true),
            ("http://localhost/bye", true), ("https://127.0.0.1/bye", false), ("http://app.example.com/bye", false),
            ("com.example.app:/bye", false), ("", false),
        ])
    func tellsLoopbackAddresses(address: String, isLoopback: Bool) {
        #expect(LoopbackListener.canListen(at: address) == isLoopback)
    }
}
