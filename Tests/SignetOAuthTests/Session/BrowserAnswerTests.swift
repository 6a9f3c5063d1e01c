import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

/// Answers that come back to the program in another way than with a redirect, or that are not those of its login.
@Suite("Answers to a login in a browser")
struct BrowserAnswerTests {
    private static let client = OAuthClient(
        clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "read"],
        authorizationParameters: ["response_mode": "form_post"])

    /// Returns the redirect URI of an authorization request, and the answer that the server gives to it, as the query of an address.
    private static func answer(
        _ fixture: TokenSourceFixture, _ address: String
    ) async throws -> (redirectURI: String, query: String) {
        let response = try await fixture.transport.send(
            HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": "sso-1"]))
        let parts = try #require(response.headers["Location"]).split(separator: "?", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
    }

    private static func post(_ fixture: TokenSourceFixture, _ address: String, _ form: String) async throws -> Int {
        try await fixture.transport.send(
            HTTPRequest(
                "POST", address, headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.utf8))
        ).status
    }

    @Test("A browser login with response_mode=form_post takes the answer that the page of the server posts")
    func logsInByFormPost() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let asked = FormCoding.query(of: address)
                #expect(asked["response_mode"] == "form_post")
                let answer = try await Self.answer(fixture, address)
                // A form that can't be read doesn't end the login.
                let malformed = try await Self.post(fixture, answer.redirectURI, answer.query + "&code=other")
                #expect(malformed == 400)
                let status = try await Self.post(fixture, answer.redirectURI, answer.query)
                #expect(status == 200)
            }
            let token = try await login.logIn()
            #expect(token.idToken != nil && fixture.provider.count("token") == 1)
        }
    }

    @Test("A posted error ends a browser login like one in a redirect")
    func readsPostedError() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client, .set { $0.authorizeError = "access_denied" }) {
            (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let answer = try await Self.answer(fixture, address)
                _ = try await Self.post(fixture, answer.redirectURI, answer.query)
            }
            let error = await outcome { try await login.logIn() }.tokenError
            guard case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.code == .refused && refusal.code == .accessDenied)
        }
    }

    @Test(
        "A redirect with a parameter twice, or one that cannot be read, gets 400 and does not end the login",
        arguments: ["code=other", "state=other", "iss=x", "x=%ff"])
    func ignoresUnreadableRedirect(parameter: String) async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let answer = try await Self.answer(fixture, address)
                let back = "\(answer.redirectURI)?\(answer.query)"
                let status = try await fixture.transport.send(HTTPRequest("GET", "\(back)&\(parameter)")).status
                #expect(status == 400)
                _ = try await fixture.transport.send(HTTPRequest("GET", back))
            }
            let token = try await login.logIn()
            #expect(token.idToken != nil && fixture.provider.count("token") == 1)
        }
    }

    @Test(
        "An answer to the app's own scheme that has a parameter twice, or cannot be read, ends the login without a code",
        arguments: [
            ("code=other", .repeatedMember), ("state=other", .repeatedMember), ("iss=x", .repeatedMember), ("x=%zz", .unreadable),
        ] as [(String, OAuthError.Code)])
    func endsLoginAfterUnreadableAnswerOfApp(parameter: String, code: OAuthError.Code) async throws {
        let client = OAuthClient(clientID: "app", redirectURI: "com.example.app:/callback", scopes: ["openid"])
        try await TokenSourceFixture.with(session: nil, client: client) { (fixture: TokenSourceFixture) async throws in
            let receiver = RedirectReceiver()
            let login = BrowserLogin(fixture.tokens) { address in
                let answer = try await Self.answer(fixture, address)
                // An answer with another state is not that of this login, whatever else is wrong with it.
                let isForeignTaken = receiver.leave("state=guess&\(answer.query)&\(parameter)")
                #expect(!isForeignTaken)
                let isTaken = receiver.leave("\(answer.query)&\(parameter)")
                #expect(isTaken)
            }
            let error = await outcome { try await login.logIn(returningTo: receiver) }.tokenError
            guard case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.code == code && fixture.provider.count("token") == 0)
        }
    }

    /// The queries of answers that are not those of the login, and the words about them.
    private static let foreign: [(queries: [String], words: String)] = [
        (["code=stolen&state=guess"], "1 answer that came was not the answer to this login"),
        (["code=c&state=guess", "code=c"], "2 answers that came were not the answer to this login"),
        (["code=c&state=guess&state=guess", "x=%ff", ""], "3 answers that came were not the answer to this login"),
    ]

    @Test("A login that times out tells how many answers were not the answer to it, and nothing of them")
    func countsForeignAnswers() async throws {
        for (queries, words) in Self.foreign {
            try await TokenSourceFixture.with(session: nil, client: Self.client) {
                (fixture: TokenSourceFixture) async throws in
                let timer = ManualTimer()
                let login = BrowserLogin(fixture.tokens, timeout: .seconds(3), clock: timer) { address in
                    let back = try #require(FormCoding.query(of: address)["redirect_uri"])
                    for query in queries {
                        let status = try await fixture.transport.send(HTTPRequest("GET", "\(back)?\(query)")).status
                        #expect(status == 400)
                    }
                    timer.fire()
                }
                let error = await outcome { try await login.logIn() }.tokenError
                let text = error?.description ?? ""
                #expect(error?.code == .cancelled && text.contains("within 3 seconds"))
                #expect(text.contains(words), "\(text)")
                #expect(!text.contains("guess") && !text.contains("stolen"))
            }
        }
    }
}
