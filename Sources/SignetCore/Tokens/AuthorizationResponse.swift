/// What comes back from an authorization endpoint: an address of the client with an answer in its query.
package enum AuthorizationResponse {
    /// The code in an answer.
    /// - Parameters:
    ///   - location: Where the server redirects to; nil when it does not.
    ///   - redirectURI: The client's own address, as it was sent.
    ///   - state: The state that was sent.
    ///   - issuer: Who the server is, if that is known.
    ///   - requiresIssuer: Whether the server promised to say who it is (RFC 9207 section 3).
    /// - Throws: ``OAuthError``. One that carries the server's word and no status was said in answer to this very request,
    ///   since the state is checked first; without a state nothing but the word is taken from it.
    package static func code(
        location: String?, redirectURI: String, state: String, issuer: String? = nil, requiresIssuer: Bool = false
    ) throws(OAuthError) -> Secret {
        guard let location, isAnswer(location, to: redirectURI) else {
            throw OAuthError(.notRedirected, explanation: "the server shows a page instead of answering")
        }
        return try code(query: FormCoding.query(of: location), state: state, issuer: issuer, requiresIssuer: requiresIssuer)
    }

    /// The code in the fields of an answer.
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
            guard theirs == nil ? !requiresIssuer : theirs == issuer else { throw OAuthError(.issuerMismatch) }
        }
        if let name = query["error"] {
            throw OAuthError(name: name, explanation: query["error_description"], status: nil)
        }
        guard let code = query["code"], !code.isEmpty else { throw OAuthError(.noCode) }
        return Secret(text: code)
    }

    /// Whether `location` is the client's address with an answer. A slash that a server adds after the host is no difference
    /// (Glewlwyd does it with a custom scheme).
    package static func isAnswer(_ location: String, to redirectURI: String) -> Bool {
        func bare(_ text: String) -> Substring {
            let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            return Substring(path.last == UInt8(ascii: "/") ? path.dropLast() : path)
        }
        return bare(location) == bare(redirectURI)
    }
}
