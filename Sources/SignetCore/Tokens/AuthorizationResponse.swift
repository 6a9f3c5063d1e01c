/// Parses the answer of an authorization endpoint: a redirect to the client's address with the answer in its query.
package enum AuthorizationResponse {
    /// Returns the authorization code of a redirect.
    /// - Parameters:
    ///   - location: The address to which the server redirects; nil when it does not.
    ///   - redirectURI: The client's redirect URI, as it was sent.
    ///   - state: The state that was sent.
    ///   - issuer: The issuer identifier of the server, if it is known.
    ///   - requiresIssuer: True when the server's metadata promises an `iss` parameter (RFC 9207 section 3).
    /// - Returns: The value of the parameter `code`, after the state and the issuer were checked.
    /// - Throws: ``OAuthError``. An error that the server reports in the answer has a name and no status. A state in the answer
    ///   must match the state that was sent. An answer without a state can only report an error; it never gives a code.
    package static func code(
        location: String?, redirectURI: String, state: String, issuer: String? = nil, requiresIssuer: Bool = false
    ) throws(OAuthError) -> Secret {
        guard let location, isAnswer(location, to: redirectURI) else {
            throw OAuthError(.notRedirected, explanation: "the server shows a page instead of answering")
        }
        return try code(
            query: try fields(of: FormCoding.queryText(of: location)), state: state, issuer: issuer,
            requiresIssuer: requiresIssuer)
    }

    /// Returns the fields of an answer: the query of an address, or a posted form.
    /// - Throws: ``OAuthError/Code/repeatedMember`` when a name occurs twice (RFC 6749 section 3.1);
    ///   ``OAuthError/Code/unreadable`` when an escape is invalid or isn't UTF-8.
    package static func fields(of answer: some StringProtocol) throws(OAuthError) -> [String: String] {
        do throws(FormError) {
            return try FormCoding.decodeOnce(answer)
        } catch {
            switch error {
            case .duplicate:
                throw OAuthError(.repeatedMember, explanation: "a parameter occurs twice in the answer of the server")
            case .coding:
                throw OAuthError(.unreadable, explanation: "the answer of the server has an invalid percent-encoding")
            }
        }
    }

    /// Returns the authorization code of the fields of an answer (``fields(of:)``).
    package static func code(
        query: [String: String], state: String, issuer: String? = nil, requiresIssuer: Bool = false
    ) throws(OAuthError) -> Secret {
        if let theirs = query["state"] {
            guard ConstantTime.areEqual(theirs, state) else { throw OAuthError(.stateMismatch) }
        } else if query["error"] == nil {
            throw OAuthError(.stateMismatch, explanation: "the answer has no state")
        }
        if let issuer {
            let theirs = query["iss"]
            // `==` also accepts other spellings of a character.
            guard theirs.map({ $0.utf8.elementsEqual(issuer.utf8) }) ?? !requiresIssuer else {
                throw OAuthError(
                    .issuerMismatch,
                    explanation: theirs == nil
                        ? "the answer has no iss, which the server promises"
                        : "the iss of the answer is not the issuer \(OAuthError.plain(issuer))")
            }
        }
        if let name = query["error"] {
            throw OAuthError(name: name, explanation: query["error_description"], status: nil)
        }
        guard let code = query["code"], !code.isEmpty else { throw OAuthError(.noCode) }
        return Secret(text: code)
    }

    /// Returns the error of a page that the endpoint shows because it can't redirect to the client (RFC 6749 section 4.1.2.1).
    ///
    /// Most such pages refuse the client or the redirect URI. OpenAM's names the error in a script.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The page.
    /// - Returns: The error in the words of the page, or one with its title if a page with status 400 names no error; nil for any
    ///   other response. The page itself is never part of the error.
    package static func error(status: Int, body: [UInt8]) -> OAuthError? {
        guard (400..<500).contains(status), let page = WebPage(body) else { return nil }
        if let error = page.error { return OAuthError(name: error.name, explanation: error.description, status: status) }
        guard status == 400 else { return nil }
        let reason = "the server refused the client or the redirect address"
        return OAuthError(
            name: OAuthError.Code.invalidRequest.rawValue, explanation: page.title.map { "\(reason): \($0)" } ?? reason,
            status: status)
    }

    /// Returns true when `location` is the client's redirect URI with an answer.
    ///
    /// A trailing slash is ignored, because some servers add one (Glewlwyd does it with a custom scheme).
    package static func isAnswer(_ location: String, to redirectURI: String) -> Bool {
        func bare(_ text: String) -> Substring {
            let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            return Substring(path.last == UInt8(ascii: "/") ? path.dropLast() : path)
        }
        return bare(location) == bare(redirectURI)
    }
}
