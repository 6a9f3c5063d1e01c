import SignetCore
import SignetNetwork

extension AuthorizationServerClient {
    /// Ends the session that an ID token identifies (OpenID Connect RP-Initiated Logout).
    ///
    /// A page may confirm the logout or ask for a confirmation. The user must read a page that may ask for something.
    func endSession(_ idToken: Secret) async throws -> LogOutReport.Outcome {
        let url = try await endSessionAddress(idToken)
        let response = try await send("GET", url, headers: ["Accept": "application/json"], for: .endSession).response
        guard (200..<400).contains(response.status) else { throw refusal(response, from: url) }
        if (300..<400).contains(response.status) {
            guard let location = response.headers["Location"], let ours = try client.signOutRedirectURI,
                AuthorizationResponse.isAnswer(location, to: ours)
            else { return .needsBrowser(Secret(text: url)) }
            return .done
        }
        guard response.isForPeople else { return .done }
        return WebPage(response.body)?.mayAskUser == true ? .needsBrowser(Secret(text: url)) : .showedPage
    }

    /// Returns the address that ends the session of an ID token, which may also be opened in a browser.
    func endSessionAddress(_ idToken: Secret) async throws -> String {
        let client = try client
        var fields: [(name: String, value: String)] = [("client_id", client.clientID), ("id_token_hint", idToken.text)]
        if let target = client.signOutRedirectURI { fields.append(("post_logout_redirect_uri", target)) }
        return FormCoding.address(try await address(\.endSession, "end-session endpoint"), adding: fields)
    }
}

extension HTTPResponse {
    /// True when the content is for the user: not empty, and not JSON.
    fileprivate var isForPeople: Bool { !body.isEmpty && (try? JSON.value(of: body)) == nil }
}
