import SignetCore

/// The claims that a client requests by name, with the parameter `claims` (OpenID Connect Core 1.0 section 5.5).
struct ClaimsRequest: Codable, Sendable, Hashable {
    /// The requested claims of the `userinfo` response, by name.
    var userInfo: [String: ClaimRequest]
    /// The requested claims of the id_token, by name.
    var idToken: [String: ClaimRequest]

    /// The maximum length of the parameter, in bytes.
    ///
    /// The request is stored with every token of the login.
    static let maxLength = 4096

    /// The claims of tokens that the server sets itself.
    ///
    /// No attribute of a user replaces them.
    static let reservedNames: Set = [
        "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "s_hash",
        "sid", "events", "cnf", "realm", "tokenName", "act", "may_act",
    ]

    /// Reads the parameter: a JSON object with the members `userinfo` and `id_token`.
    ///
    /// Other members are ignored, as the specification requires.
    /// - Throws: `invalid_request` for text that is too long, isn't JSON or contains a name twice, and for a wrong type.
    init(_ text: String) throws(AuthorizationErrorResponse) {
        guard text.utf8.count <= Self.maxLength else {
            throw .invalidRequest("The parameter claims is longer than \(Self.maxLength) bytes")
        }
        guard let members = (try? JSON.value(of: text.utf8))?.object else {
            throw .invalidRequest("The parameter claims is not a JSON object without repeated names")
        }
        userInfo = try Self.claims(members["userinfo"], "userinfo")
        idToken = try Self.claims(members["id_token"], "id_token")
    }

    private static func claims(
        _ value: JSONValue?, _ member: String
    ) throws(AuthorizationErrorResponse) -> [String: ClaimRequest] {
        guard let value, value != .null else { return [:] }
        guard let members = value.object else { throw .invalidRequest("The member \(member) of claims is not an object") }
        var claims: [String: ClaimRequest] = [:]
        for (name, value) in members {
            guard let claim = ClaimRequest(value) else {
                throw .invalidRequest("A claim in \(member) is neither null nor an object with essential, value or values")
            }
            claims[name] = claim
        }
        return claims
    }

    /// Returns the request without the claims of scopes that are not among `scopes`.
    ///
    /// With the scopes that the client may request, the parameter discloses no more than scopes can.
    func limited(to scopes: [String], _ claims: ScopeClaims) -> ClaimsRequest {
        let withheld = claims.names(outside: scopes)
        var request = self
        request.userInfo = userInfo.filter { !withheld.contains($0.key) }
        request.idToken = idToken.filter { !withheld.contains($0.key) }
        return request
    }

    /// The names of the requested attributes of the user, in alphabetical order.
    ///
    /// The user's consent covers them.
    var names: [String] {
        Set(userInfo.keys).union(idToken.keys).subtracting(Self.reservedNames).sorted()
    }

    /// The names of the users that the login may be of; nil for any user.
    ///
    /// The claim `sub` with a value requests a login of that user (OpenID Connect Core 1.0 sections 3.1.2.2 and 5.5.1).
    var subjects: Set<String>? {
        let requested = [idToken["sub"]?.texts, userInfo["sub"]?.texts].compactMap { $0 }
        guard let first = requested.first else { return nil }
        return requested.dropFirst().reduce(into: Set(first)) { $0.formIntersection($1) }
    }
}

/// The request for one claim.
struct ClaimRequest: Codable, Sendable, Hashable {
    /// True when the client says that it needs the claim.
    var isEssential = false
    /// The values that the claim may have; nil for any value.
    var values: [JSONValue]?

    /// Reads `null`, or an object with any of the members `essential`, `value` and `values`; nil for anything else.
    ///
    /// Other members are ignored, as the specification requires.
    init?(_ value: JSONValue) {
        guard value != .null else { return }
        guard let members = value.object else { return nil }
        if let essential = members["essential"] {
            guard let flag = essential.bool else { return nil }
            isEssential = flag
        }
        if let only = members["value"] { values = [only] }
        if let list = members["values"] {
            guard let elements = list.array, !elements.isEmpty else { return nil }
            values = (values ?? []) + elements
        }
    }

    /// The values that are strings; nil when any value is accepted.
    var texts: [String]? { values?.compactMap(\.string) }

    /// Returns true when the claim may have this value.
    func accepts(_ value: JSONValue) -> Bool { values?.contains(value) ?? true }
}
