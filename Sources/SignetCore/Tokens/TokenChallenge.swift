/// The refusal of an access token in the `WWW-Authenticate` fields of a response (RFC 6750 section 3, RFC 9449 section 7.1).
package struct TokenChallenge: Sendable, Hashable {
    /// The error name; nil when the server states no reason.
    package let name: String?
    /// The description of the error.
    package let description: String?

    /// Reads the fields, each of which may contain challenges of several schemes (RFC 9110 section 11.6.1).
    ///
    /// Returns nil when none of the challenges has one of the schemes.
    /// - Parameters:
    ///   - fields: The values of the fields.
    ///   - schemes: The schemes in lower case. The default is those of bearer tokens and bound tokens.
    package init?(_ fields: [String], schemes: Set<String> = ["bearer", "dpop"]) {
        var isOurs = false
        var parameters: [String: String]?
        for field in fields {
            isOurs = false
            var rest = field[...]
            while let token = rest.takeToken() {
                rest = rest.drop(while: \.isWhitespace)
                guard rest.first == "=" else {
                    isOurs = schemes.contains(token.lowercased())
                    if isOurs { parameters = parameters ?? [:] }
                    continue
                }
                rest = rest.dropFirst().drop(while: \.isWhitespace)
                let value = rest.takeValue()
                if isOurs, parameters?[token.lowercased()] == nil { parameters?[token.lowercased()] = value }
            }
        }
        guard let parameters else { return nil }
        name = parameters["error"].flatMap { $0.isEmpty ? nil : $0 }
        description = parameters["error_description"]
    }

    /// Returns the error to report for a response with this challenge.
    package func error(status: Int) -> OAuthError {
        OAuthError(
            name: name ?? OAuthError.Code.invalidToken.rawValue,
            explanation: description ?? (name == nil ? "the server refused the access token without a reason" : nil),
            status: status)
    }
}

extension Substring {
    /// Removes the next token, and the separators before it, and returns the token; nil at the end.
    fileprivate mutating func takeToken() -> String? {
        self = drop { $0.isWhitespace || $0 == "," || $0 == "=" }
        let token = prefix { !$0.isWhitespace && $0 != "," && $0 != "=" }
        self = self[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    /// Removes and returns the value of a parameter: a token or a quoted string.
    fileprivate mutating func takeValue() -> String {
        guard first == "\"" else { return takeToken() ?? "" }
        var value = ""
        self = dropFirst()
        while let character = popFirst(), character != "\"" {
            value.append(character == "\\" ? popFirst() ?? "\\" : character)
        }
        return value
    }
}
