import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

/// What OpenID providers other than AM answer, and what OpenAM answers with a page.
@Suite("Sessions and tokens at other OpenID providers")
struct ForeignProviderTests {
    private static let idToken = "e30.e30.e30"

    // MARK: Pages of the authorization endpoint

    @Test("C11: OpenAM's page for an unknown redirect address is read, and the session and the tokens stay")
    func readsAuthorizePage() async throws {
        let page = """
            <html><head><title>OAuth2 Error Page</title></head><body>Loading...<script>
            pageData = { realm : "\\/", error: { description: "The redirection URI provided does not match a pre-registered value.", \
            message: "redirect_uri_mismatch" } }
            </script></body></html>
            """
        try await TokenSourceFixture.with(.set { $0.faults["authorize"] = .status(400, ["Content-Type: text/html"], page) }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            guard error?.code == .refused, case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.name == "redirect_uri_mismatch" && refusal.status == 400 && !refusal.isRetryable)
            #expect(refusal.explanation == "The redirection URI provided does not match a pre-registered value.")
            #expect(try await fixture.store.session() == TokenSourceFixture.session)
        }
    }
}
