import SignetCore

/// The claims that each scope covers: those of the standard scopes (OpenID Connect Core 1.0 section 5.4), and those of the
/// configuration (``ServerConfiguration/scopeClaims``).
struct ScopeClaims: Sendable {
    private static let standard: [String: Set<String>] = [
        "profile": [
            "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
            "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
        ],
        "email": ["email", "email_verified"], "address": ["address"], "phone": ["phone_number", "phone_number_verified"],
    ]

    private let byScope: [String: Set<String>]
    private let configured: [String: [String]]

    /// Creates the claims.
    /// - Parameter configured: The claims of the scopes of the configuration.
    init(_ configured: [String: [String]]) {
        self.configured = configured
        byScope = configured.isEmpty ? Self.standard : Self.standard.merging(configured.mapValues { Set($0) }) { $0.union($1) }
    }

    /// The names of all claims.
    var names: [String] {
        let own = configured.values.flatMap(\.self)
        return ["sub"] + Set(Self.standard.values.flatMap(\.self) + own).sorted()
    }

    /// Returns the names of the claims that only other scopes than these cover.
    func names(outside scopes: [String]) -> Set<String> {
        byScope.reduce(into: Set()) { if !scopes.contains($1.key) { $0.formUnion($1.value) } }.subtracting(names(of: scopes))
    }

    private func names(of scopes: [String]) -> Set<String> { scopes.reduce(into: Set()) { $0.formUnion(byScope[$1] ?? []) } }

    /// Returns the claims of a user to disclose in the response of `userinfo`.
    ///
    /// Claims that a scope covers need such a scope; all other claims are always included.
    func claims(of record: UserRecord, _ user: UserKey, scopes: [String]) -> [String: JSONValue] {
        let guarded = byScope.values.reduce(into: Set()) { $0.formUnion($1) }
        let open = names(of: scopes)
        var claims = record.claims.filter { !guarded.contains($0.key) || open.contains($0.key) }
        claims["sub"] = .string(user.name)
        if open.contains("name"), claims["name"] == nil { claims["name"] = .string(user.name) }
        return claims
    }

    /// Returns the claims of a user in a JWT access token: those that its scopes cover by the configuration.
    ///
    /// The standard scopes add none, because services need no personal data (RFC 9068 section 6).
    func accessTokenClaims(of record: UserRecord, scopes: [String]) -> [String: JSONValue] {
        guard !configured.isEmpty else { return [:] }
        let open = Set(scopes.flatMap { configured[$0] ?? [] })
        return record.claims.filter { open.contains($0.key) }
    }

    /// Returns the claims that a client requested by name, as far as the user has them with an accepted value.
    ///
    /// A claim without an accepted value is left out, also when it is essential (OpenID Connect Core 1.0 section 5.5.1).
    static func claims(
        of record: UserRecord, _ user: UserKey, requested: [String: ClaimRequest]
    ) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [:]
        for (name, request) in requested where !ClaimsRequest.reservedNames.contains(name) {
            var value = record.claims[name]
            if name == "name", value == nil { value = .string(user.name) }
            if let known = value, request.accepts(known) { claims[name] = known }
        }
        return claims
    }
}

extension ServerConfiguration {
    /// The claims that each scope covers.
    var claimsByScope: ScopeClaims { ScopeClaims(scopeClaims) }
}
