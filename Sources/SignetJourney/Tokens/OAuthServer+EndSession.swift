import SignetCore
import SignetNetwork

extension OAuthServer {
    /// Ends the session that an id_token names (OpenID Connect RP-Initiated Logout). Gives the address at which a person has to
    /// confirm it, if the server asks for that.
    func endSession(_ idToken: Secret) async throws -> String? {
        let url = try await endSessionAddress(idToken)
        let response = try await send("GET", url, headers: ["Accept": "application/json"], for: .endSession).response
        guard (200..<400).contains(response.status) else { throw refusal(response) }
        if (300..<400).contains(response.status) {
            guard let location = response.headers["Location"], let ours = try client.signOutRedirectURI,
                AuthorizationResponse.isAnswer(location, to: ours)
            else { return url }
            return nil
        }
        // A page may say that all is over, or ask whether it shall be: it is a person's to read.
        return response.isForPeople ? url : nil
    }

    /// The address that ends the session that an id_token names, for a browser too.
    func endSessionAddress(_ idToken: Secret) async throws -> String {
        let client = try client
        var fields: [(name: String, value: String)] = [("client_id", client.clientID), ("id_token_hint", idToken.text)]
        if let target = client.signOutRedirectURI { fields.append(("post_logout_redirect_uri", target)) }
        return FormCoding.address(try await address(\.endSession, "end-session endpoint"), adding: fields)
    }
}

extension HTTPResponse {
    /// Whether its content is a page, in whose place a network of its own, as a hotel's, may have put it.
    var isPage: Bool { body.first { $0 > 0x20 } == UInt8(ascii: "<") }

    /// Whether its content is for people: it is there, and no JSON.
    fileprivate var isForPeople: Bool { !body.isEmpty && (try? JSON.value(of: body)) == nil }
}
