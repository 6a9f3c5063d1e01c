import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("The address in the error of an unreadable answer")
struct AnswerAddressTests {
    /// A redirect with what must not be shown: a user, a session in the path, a code and a fragment.
    private static let redirect = TestProvider.Fault.status(
        307, ["Location: https://user:pw-1@other.example/next;jsessionid=s-1?code=c-1#f-1"], "")
    private static let target = "redirects to https://other.example/next, and the redirect was not followed"

    /// Returns the error of a call, and checks that it has nothing secret.
    private func words(_ error: TokenError?) -> String {
        let text = error?.description ?? ""
        for secret in ["pw-1", "s-1", "c-1", "f-1", "user:", "sso-1", "refresh-old", "access-", "state="] {
            #expect(!text.contains(secret), "\(text)")
        }
        return text
    }

    @Test(
        "The error of a redirect of the token endpoint names both addresses, and the redirect is not followed",
        arguments: [301, 302, 307, 308])
    func namesRedirect(status: Int) async throws {
        guard case .status(_, let headers, _) = Self.redirect else { return }
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(session: nil),
            .set { $0.faults["token"] = .status(status, headers, "") }
        ) { (fixture: TokenSourceFixture) async throws in
            let text = words(await outcome { try await fixture.tokens.token() }.tokenError)
            #expect(text.contains("unreadable (HTTP \(status)): \(fixture.provider.url)/token \(Self.target)"), "\(text)")
        }
    }

    /// The endpoints that a call asks, and a page at their address.
    private static let paths = ["token", "userinfo", "jwks", "authorize", "device"]

    @Test("The error of a page instead of an answer names the address that sent it", arguments: paths)
    func namesAddressOfPage(path: String) async throws {
        let page = TestProvider.Fault.status(200, ["Content-Type: text/html"], "<html>Welcome</html>")
        let isOfGrant = path == "token" || path == "userinfo"
        let token = isOfGrant ? TokenSourceFixture.old(left: path == "token" ? -10 : 3600, session: nil) : nil
        try await TokenSourceFixture.with(
            session: isOfGrant ? nil : TokenSourceFixture.session, token: token,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.faults[path] = path == "authorize" ? TestProvider.Fault.status(403, [], "<p>No") : page
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let error: TokenError?
            switch path {
            case "userinfo": error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            case "device": error = await outcome { try await DeviceLogin(fixture.tokens).begin() }.tokenError
            default: error = await outcome { try await fixture.tokens.token() }.tokenError
            }
            let text = words(error)
            #expect(text.contains("unreadable") && text.contains("\(fixture.provider.url)/\(path)"), "\(text)")
        }
    }

    @Test("The error of a discovery document that is not there names its address", arguments: [404, 307, 200])
    func namesDiscoveryDocument(status: Int) async throws {
        let fault =
            status == 307 ? Self.redirect : .status(status, [], status == 404 ? #"{"error":"not_found"}"# : "<p>Welcome")
        let endpoints = TokenSourceFixture.Addresses.from { OAuthEndpoints(discovery: $0.discoveryAddress) }
        try await TokenSourceFixture.with(session: nil, endpoints: endpoints, .set { $0.faults["discovery"] = fault }) {
            (fixture: TokenSourceFixture) async throws in
            let text = words(await outcome { try await DeviceLogin(fixture.tokens).begin() }.tokenError)
            #expect(text.contains("(HTTP \(status))") && text.contains(fixture.provider.discoveryAddress), "\(text)")
            #expect(text.contains(Self.target) == (status == 307))
        }
    }

    @Test("A revocation and the end of a session name the address of a page")
    func namesAddressOfLogOut() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600),
            .set {
                $0.faults["revoke"] = .status(404, [], "<p>Nothing")
                $0.faults["sessions"] = .status(403, [], "<p>No")
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            guard case .failed(let tokens) = report.tokens, case .failed(let session) = report.session else {
                Issue.record("\(report)")
                return
            }
            #expect(words(tokens).contains("unreadable (HTTP 404): \(fixture.provider.url)/revoke"))
            #expect(words(session).contains("unreadable (HTTP 403): \(fixture.provider.url)/sessions"))
        }
    }

    @Test("An error that the server names is reported in its own words, without the address")
    func keepsNamedErrors() async throws {
        let named = TestProvider.Fault.status(400, [], #"{"error":"invalid_client","error_description":"Unknown client"}"#)
        try await TokenSourceFixture.with(session: nil, .set { $0.faults["device"] = named }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await DeviceLogin(fixture.tokens).begin() }.tokenError
            #expect(error?.description.contains("invalid_client (HTTP 400): Unknown client") == true)
            #expect(error?.description.contains(fixture.provider.url) == false)
        }
    }
}
