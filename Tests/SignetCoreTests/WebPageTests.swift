import SignetCore
import Testing

/// Pages that servers send in place of an answer for programs.
@Suite("Pages of servers")
struct WebPageTests {
    /// A page with a script as OpenAM's authorization endpoint writes it.
    private static func page(_ error: String, title: String = "OAuth2 Error Page") -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>\(title)</title></head>
        <body><p>Loading...</p>
        <script type="text/javascript">
            // The page's data: it's read by the page.
            pageData = { realm : "\\/", baseUrl: "http://openam.example.org:18080/openam/XUI", error: \(error) } ;
        </script></body></html>
        """
    }

    /// A page, and the error and the explanation that are read from it.
    static let errors: [(page: String, name: String, explanation: String?)] = [
        // As recorded from OpenAM 16.0.5.
        (
            page(
                #"{ description: "The redirection URI provided does not match a pre-registered value.", message: "redirect_uri_mismatch" }"#
            ),
            "redirect_uri_mismatch", "The redirection URI provided does not match a pre-registered value."
        ),
        (
            page(#"{ description: "Client authentication failed", message: "invalid_client" }"#), "invalid_client",
            "Client authentication failed"
        ),
        (page(#"{ message: "bad_request" }"#), "bad_request", nil),
        (
            page(#"{ description: "Missing parameter, \'code_challenge\'", message: "invalid_request" }"#), "invalid_request",
            "Missing parameter, 'code_challenge'"
        ),
        // The words of the server may contain anything.
        (
            page(#"{ message: 'invalid_request', description: 'found } message: "x", \u007b' }"#), "invalid_request",
            "found } message: \"x\", {"
        ),
        (page(#"{ inner: { message: "inner" }, message: "outer" }"#), "outer", nil),
        // The names of RFC 6749, as JSON in a page.
        (
            #"<p>No</p><script type="application/json">{"error":"invalid_client","error_description":"Unknown client"}</script>"#,
            "invalid_client", "Unknown client"
        ),
        (#"<SCRIPT>var error = "invalid_scope";</SCRIPT>"#, "invalid_scope", nil),
    ]

    @Test("C11: The error on a page of the authorization endpoint is read from its script", arguments: errors)
    func readsError(page: String, name: String, explanation: String?) {
        let error = AuthorizationResponse.error(status: 400, body: Array(page.utf8))
        #expect(error?.name == name && error?.explanation == explanation && error?.status == 400)
        #expect(error?.isRetryable == false)
    }

    @Test("C11: A page without a readable error is told by its title, and never quoted")
    func fallsBackToTitle() {
        let reason = "the server refused the client or the redirect address"
        let rows: [(page: String, explanation: String)] = [
            (Self.page("undefined", title: " Something went\n wrong &amp; &lt;b&gt; "), "\(reason): Something went wrong & <b>"),
            (Self.page(#"{ message: "two words" }"#), "\(reason): OAuth2 Error Page"),
            (Self.page(#"{ message: "\u{110000}" }"#), "\(reason): OAuth2 Error Page"),
            (Self.page(#"{ message: "unended }"#), "\(reason): OAuth2 Error Page"),
            ("<title></title><h1>secret</h1>", reason), ("<h1>secret", reason), ("<", reason), ("<!--", reason),
            ("<script>", reason),
            ("<title>No end", "\(reason): No end"),
        ]
        for (page, explanation) in rows {
            let error = AuthorizationResponse.error(status: 400, body: Array(page.utf8))
            #expect(error?.code == .invalidRequest && error?.explanation == explanation, "\(page)")
        }
    }

    @Test("C11: The words of a page can't control a terminal")
    func sanitizesWords() {
        let escape = AuthorizationResponse.error(
            status: 400, body: Array(Self.page(#"{ message: "x", description: "a\x1b[2Jb\u202e" }"#).utf8))
        #expect(escape?.explanation == "a[2Jb")
        let title = AuthorizationResponse.error(status: 400, body: Array("<title>a\u{1B}[2Jb</title>".utf8))
        #expect(title?.explanation?.contains("\u{1B}") == false && title?.explanation?.hasSuffix("a[2Jb") == true)
    }

    @Test("A page with another status is not a refusal unless it names one, and JSON is not a page")
    func readsOtherStatuses() {
        let plain = Array("<title>Hotel</title>".utf8)
        for status in [200, 302, 401, 403, 404, 500] { #expect(AuthorizationResponse.error(status: status, body: plain) == nil) }
        let named = Array(Self.page(#"{ message: "access_denied" }"#).utf8)
        #expect(AuthorizationResponse.error(status: 403, body: named)?.code == .accessDenied)
        #expect(AuthorizationResponse.error(status: 500, body: named) == nil)
        for body in ["", "{}", "no page"] { #expect(AuthorizationResponse.error(status: 400, body: Array(body.utf8)) == nil) }
    }

    @Test(
        "K5: A challenge for a bearer token is found among those of other schemes",
        arguments: [
            ([#"Bearer error="invalid_token", error_description="a \"b\", c=d""#], "invalid_token", #"a "b", c=d"#),
            (["Negotiate abc==", "BEARER realm=x,error=invalid_request"], "invalid_request", nil),
            ([#"Digest error="no", Bearer realm="a, Basic", error = "insufficient_scope""#], "insufficient_scope", nil),
            ([#"Bearer error="first", error="second""#], "first", nil), (["Bearer"], nil, nil), ([#"Bearer error="""#], nil, nil),
            ([#"Bearer error_description="open"#], nil, "open"),
        ] as [([String], String?, String?)])
    func readsChallenges(fields: [String], name: String?, description: String?) {
        let challenge = TokenChallenge(fields)
        #expect(challenge != nil && challenge?.name == name && challenge?.description == description)
        #expect(challenge?.error(status: 401).name == name ?? "invalid_token")
    }

    @Test(
        "Fields without a challenge for a bearer token give no challenge",
        arguments: [
            [], [""], ["Basic realm=\"Bearer\""], ["Basic realm=x, error=\"invalid_token\""], ["=,= ,"], ["Bearerx error=a"],
        ])
    func ignoresOtherSchemes(fields: [String]) {
        #expect(TokenChallenge(fields) == nil)
    }
}
