import SignetCore
import SignetNetwork

extension OAuthError {
    /// Returns the error of an unreadable response with the address that sent it in the explanation.
    ///
    /// A redirect is such a response, because a request is never sent on to another address. Any other error is returned unchanged.
    func naming(_ url: String, _ response: HTTPResponse) -> OAuthError {
        code == .unreadable ? explaining(Self.origin(of: response, at: url)) : self
    }

    /// Returns the error of a request for a discovery document with the address of the document in the explanation.
    func namingDocument(_ url: String, _ response: HTTPResponse) -> OAuthError {
        explaining(Self.origin(of: response, at: url))
    }

    private func explaining(_ origin: String) -> OAuthError {
        OAuthError(
            code, status: status, name: name, explanation: explanation.map { "\($0) (\(origin))" } ?? origin,
            retryAfter: retryAfter)
    }

    private static func origin(of response: HTTPResponse, at url: String) -> String {
        let address = shown(url)
        guard (300..<400).contains(response.status) else { return address }
        let target = response.headers["Location"].map { " to \(shown($0))" } ?? ""
        return "\(address) redirects\(target), and the redirect was not followed"
    }

    /// Returns an address without what may be secret in it: the user information, the query, the fragment and the parameters of the
    /// path.
    private static func shown(_ url: String) -> String {
        let bare = url.prefix { !"?#;".contains($0) }
        let start = bare.firstRange(of: "//")?.upperBound ?? bare.startIndex
        let authority = start == bare.startIndex ? "" : bare[start...].prefix { $0 != "/" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let text = "\(bare[..<start])\(host)\(bare[start...].dropFirst(authority.count))"
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { String($0).isSafeToShow }.prefix(200)))
    }
}

extension AuthorizationServerClient {
    /// Returns the JSON members of a successful response of `url`.
    /// - Throws: The error of the response. That of an unreadable response names the address.
    func members(_ response: HTTPResponse, from url: String) throws(OAuthError) -> [String: JSONValue] {
        do throws(OAuthError) { return try members(response) } catch { throw error.naming(url, response) }
    }

    /// Throws when a response of `url` without significant content isn't a success.
    func mustBeDone(_ response: HTTPResponse, from url: String) throws(OAuthError) {
        do throws(OAuthError) { try mustBeDone(response) } catch { throw error.naming(url, response) }
    }

    /// Returns the error of a response of `url` that isn't a success.
    func refusal(_ response: HTTPResponse, from url: String) -> OAuthError {
        refusal(response).naming(url, response)
    }
}
