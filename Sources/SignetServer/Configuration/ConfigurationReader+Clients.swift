import SignetCore
import YAMLText

// The OAuth 2.0 clients, and what their tokens contain.
extension ConfigurationReader {
    private static let responseTypes: KeyValuePairs<String, RegisteredClient.ResponseType> = [
        "code": .code, "id_token": .idToken, "none": RegisteredClient.ResponseType.none,
    ]

    static let grantTypes: KeyValuePairs<String, RegisteredClient.GrantType> = [
        "authorization_code": .authorizationCode, "refresh_token": .refreshToken, "device_code": .deviceCode,
        "client_credentials": .clientCredentials, "token_exchange": .tokenExchange,
        "ciba": .backchannel,
    ]

    private static let algorithms: KeyValuePairs<String, JWSAlgorithm> = [
        "RS256": .rs256, "PS256": .ps256, "ES256": .es256, "EdDSA": .edDSA,
    ]

    mutating func readClient(_ value: MarkedValue) {
        var reader = ConfigurationDecoder(value, subject: "clients", isProbing: isProbing)
        var client = RegisteredClient(id: "")
        (client.id, client.realm, client.secret) = identity(&reader, name: "id", secret: "secret")
        reader.check("id", client.id, "a string, and not empty") { !$0.isEmpty }
        readAuthentication(of: &client, &reader)
        client.name = reader.optionalString("name", default: "the `id`")
        reader.check("name", client.name, "a name without control characters, and not empty") { !$0.isEmpty && $0.isSafeToShow }
        client.logo = reader.image("logo", default: "none")
        client.redirectURIs = reader.redirects("redirectURIs")
        client.postLogoutRedirectURIs = reader.redirects("postLogoutRedirectURIs")
        client.backchannelLogoutURI = reader.optionalString("backchannelLogoutURI", default: "none")
        reader.check(
            "backchannelLogoutURI", client.backchannelLogoutURI,
            "an https URL without a fragment, or an http URL of a loopback address", RegisteredClient.isBackChannelURI)
        client.backchannelLogoutSessionRequired = reader.bool(
            "backchannelLogoutSessionRequired", client.backchannelLogoutSessionRequired)
        client.scopes = reader.strings("scopes", client.scopes)
        client.responseTypes = reader.choices("responseTypes", Self.responseTypes).map { Set($0) } ?? client.responseTypes
        readGrants(of: &client, &reader)
        client.requiresConsent = reader.bool("requireConsent", client.requiresConsent)
        client.requiresPKCE = reader.bool("requirePKCE", client.requiresPKCE)
        client.requiresPushedRequests = reader.bool("requirePushedAuthorizationRequests", client.requiresPushedRequests)
        client.requiresDPoP = reader.bool("dpopBoundAccessTokens", client.requiresDPoP)
        readTokens(of: &client, &reader)
        let defaults = configuration.lifetimes
        let lifetimes = lifetimes(&reader, defaults)
        if lifetimes != defaults { client.lifetimes = lifetimes }
        if configuration.clients.contains(where: { $0.key == client.key }) {
            reader.report(
                .duplicate, at: value.position,
                "there is already a client `\(client.id.shortened)` in the realm `\(client.key.realm)`")
        }
        configuration.clients.append(client)
        finish(reader, .client)
    }

    /// Reads the public keys of a client, and whether the server generates its secret.
    private func readAuthentication(of client: inout RegisteredClient, _ reader: inout ConfigurationDecoder) {
        client.generatesSecret = reader.bool("generateSecret", client.generatesSecret)
        client.keys = reader.keySet("jwks")
        let given = [
            client.secret == nil ? nil : "secret", client.generatesSecret ? "generateSecret" : nil,
            reader.isGiven("jwks") ? "jwks" : nil,
        ].compactMap(\.self)
        guard let last = given.last, given.count > 1 else { return }
        reader.report(.conflict, in: last, "there is also `\(given[0])`: keep one of the two")
    }

    /// Reads the grants of a client.
    private func readGrants(of client: inout RegisteredClient, _ reader: inout ConfigurationDecoder) {
        let defaults = Self.grantTypes.filter { client.grantTypes.contains($0.value) }.map(\.key)
        let given = reader.choices("grantTypes", Self.grantTypes, default: defaults)
        client.grantTypes = given.map { Set($0) } ?? client.grantTypes
        if let grant = given?.first(where: \.needsConfidentialClient), !client.isConfidential {
            let name = Self.grantTypes.first { $0.value == grant }?.key ?? ""
            reader.report(
                .conflict, in: "grantTypes",
                "a public client can't use `\(name)`: give it a `secret`, `generateSecret: true` or `jwks`")
        }
        client.mayAct = reader.strings("mayAct", client.mayAct)
        let grace = reader.integer("refreshTokenGrace", 0, in: 0...86_400)
        let kinds: KeyValuePairs<String, RegisteredClient.RefreshTokens> = [
            "rotate": .rotate(grace: .seconds(grace)), "reuse": .reuse, "none": RegisteredClient.RefreshTokens.none,
        ]
        client.refreshTokens = reader.choice("refreshTokens", "rotate", kinds) ?? client.refreshTokens
    }

    /// Reads the format, the signatures and the content of the tokens of a client.
    private func readTokens(of client: inout RegisteredClient, _ reader: inout ConfigurationDecoder) {
        client.accessTokens = reader.choice("accessTokens", "opaque", ["opaque": .opaque, "jwt": .jwt]) ?? client.accessTokens
        client.accessTokenSigningAlgorithm =
            reader.choice("accessTokenSigningAlg", "RS256", Self.algorithms) ?? client.accessTokenSigningAlgorithm
        client.idTokenSigningAlgorithm =
            reader.choice("idTokenSignedResponseAlg", "RS256", Self.algorithms) ?? client.idTokenSigningAlgorithm
        client.userInfoSigningAlgorithm = reader.optionalChoice(
            "userinfoSignedResponseAlg", Self.algorithms, default: "JSON without a signature")
        client.audiences = reader.strings("audiences", client.audiences)
        for audience in client.audiences where !ResourceIndicators.isResource(audience) {
            reader.report(
                .invalidValue, in: "audiences",
                "`\(audience.shortened)` can't be an audience: it must be an absolute URI without a fragment, such as "
                    + "`https://api.example.test`")
        }
        client.claims = claims(&reader)
        for name in client.claims.keys.sorted() where TokenClaims.reservedNames.contains(name) {
            reader.report(.invalidValue, in: "claims", "the server sets the claim `\(name)` itself")
        }
    }
}

extension ConfigurationDecoder {
    /// Decodes the claims of users that a scope covers, by scope.
    mutating func scopeClaims() -> [String: [String]] {
        let entries = members("scopeClaims", kind: "lists of claims by scope", example: "{groups: [group, role]}") ?? []
        var claims: [String: [String]] = [:]
        for entry in entries {
            guard let names = entry.value.list, names.allSatisfy({ $0.text?.isEmpty == false }) else {
                report(
                    .wrongType, at: entry.value.position,
                    "`scopeClaims` must be lists of claims by scope, `{groups: [group, role]}`, not \(entry.value.kind)")
                continue
            }
            let texts = names.compactMap(\.text)
            for name in texts where TokenClaims.reservedNames.contains(name) {
                report(.invalidValue, at: entry.value.position, "the server sets the claim `\(name)` itself")
            }
            claims[entry.key] = texts
        }
        return claims
    }

    /// Decodes a JWK set of public keys (RFC 7517 section 5): an object with the member `keys`, or the list alone.
    fileprivate mutating func keySet(_ name: String) -> [JSONWebKey] {
        let kind = "a set of public keys (JWKS), `{keys: [{kty: EC, ...}]}`"
        guard let value = value(name, kind: kind) else { return [] }
        guard let list = value.list ?? value.mapping?.first(where: { $0.key == "keys" })?.value.list, !list.isEmpty else {
            report(.wrongType, at: value.position, "`\(name)` must be \(kind)")
            return []
        }
        var keys: [JSONWebKey] = []
        for element in list {
            do throws(JSONWebKeyError) {
                keys.append(try JSONWebKey(element.json))
            } catch {
                report(.invalidValue, at: element.position, "`\(name)`: \(error)")
            }
        }
        return keys
    }
}
