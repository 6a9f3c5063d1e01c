import SignetCore
import SignetNetwork

extension AuthorizationServerClient {
    /// Ends the session that an ID token identifies (OpenID Connect RP-Initiated Logout).
    ///
    /// A page may confirm the logout or ask for a confirmation. The user must read a page that may ask for something.
    func endSession(_ idToken: Secret) async throws -> LogOutReport.Outcome {
        let url = try await endSessionAddress(idToken, returningTo: try client.signOutRedirectURI)
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
    /// - Parameters:
    ///   - idToken: The ID token, which the address contains.
    ///   - target: The address to which the server redirects the browser afterward; nil for none.
    ///   - state: The state that the server returns to `target`; nil for none.
    /// - Returns: The address, which is confidential.
    /// - Throws: ``OAuthError/Code/notOffered`` when the server has no end-session endpoint; the errors of the request for the
    ///   discovery document.
    func endSessionAddress(
        _ idToken: Secret, returningTo target: String?, state: String? = nil
    ) async throws -> String {
        var fields: [(name: String, value: String)] = [("client_id", try client.clientID), ("id_token_hint", idToken.text)]
        if let target { fields.append(("post_logout_redirect_uri", target)) }
        if let state { fields.append(("state", state)) }
        return FormCoding.address(try await address(\.endSession, "end-session endpoint"), adding: fields)
    }
}

extension HTTPResponse {
    /// True when the content is for the user: not empty, and not JSON.
    fileprivate var isForPeople: Bool { !body.isEmpty && (try? JSON.value(of: body)) == nil }
}
