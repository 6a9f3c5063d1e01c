import HTTPTypes
import SignetCore
import YAMLText

/// The documents of AM about OAuth 2.0 clients, in the form of AM 7: groups of settings, each with `inherited` and `value`.
///
/// A secret is taken from a document and never in one.
enum ClientDocument {
    /// The groups of settings.
    private enum Group: String {
        case core = "coreOAuth2ClientConfig"
        case advanced = "advancedOAuth2ClientConfig"
        case openID = "coreOpenIDClientConfig"
        case signing = "signEncOAuth2ClientConfig"
        case override = "overrideOAuth2ClientConfig"
    }

    /// The reference to the type of all documents.
    static let type = JSONValue.object([
        "_id": .string("OAuth2Client"), "name": .string("OAuth2 Clients"), "collection": .bool(true),
    ])

    /// Returns the document of a client as it is stored: without its revision and its secret.
    static func stored(_ body: JSONValue, id: String) -> JSONValue {
        var members = body.withoutSecrets.object ?? [:]
        for name in ["_rev", "_provider"] { members[name] = nil }
        members["_id"] = .string(id)
        members["_type"] = type
        return .object(members)
    }

    // MARK: From the configuration

    /// Returns the document of a client.
    /// - Parameters:
    ///   - client: The client.
    ///   - stored: The document that was stored for it; nil for none.
    /// - Returns: The settings of the client, and the other members of the stored document.
    static func value(of client: RegisteredClient, _ stored: JSONValue?) -> JSONValue {
        var members = stored?.object ?? [:]
        for (group, settings) in settings(of: client) {
            var present = members[group.rawValue]?.object ?? [:]
            // A stored value stays: it can have parts that mean nothing here.
            for (name, value) in settings where present[name] == nil {
                present[name] = .object(["inherited": .bool(false), "value": value])
            }
            if group == .core { present["userpassword"] = .null }
            members[group.rawValue] = .object(present)
        }
        members["_id"] = .string(client.id)
        members["_type"] = type
        return .object(members)
    }

    private static func settings(of client: RegisteredClient) -> [(Group, [String: JSONValue])] {
        let lifetimes = client.lifetimes
        func seconds(_ value: Int?) -> JSONValue { .integer(Int64(value ?? 0)) }
        var core: [String: JSONValue] = [
            "clientType": .string(client.isConfidential ? "Confidential" : "Public"), "status": .string("Active"),
            "redirectionUris": .texts(client.redirectURIs), "scopes": .texts(client.scopes), "defaultScopes": .array([]),
            "authorizationCodeLifetime": seconds(lifetimes?.authorizationCode),
            "accessTokenLifetime": seconds(lifetimes?.accessToken), "refreshTokenLifetime": seconds(lifetimes?.refreshToken),
        ]
        core["clientName"] = .texts([client.name].compactMap(\.self))
        var advanced: [String: JSONValue] = [
            "responseTypes": .texts(client.responseTypes.map(\.rawValue).sorted()), "subjectType": .string("public"),
            "grantTypes": .texts(
                client.grantTypes.filter { $0 != .refreshToken || client.getsRefreshTokens }.map(\.rawValue).sorted()),
            "isConsentImplied": .bool(!client.requiresConsent), "descriptions": .array([]),
            "tokenEndpointAuthMethod": .string(
                !client.keys.isEmpty ? "private_key_jwt" : client.isConfidential ? "client_secret_basic" : "none"),
        ]
        advanced["logoUri"] = .texts([client.logo].compactMap(\.self))
        if case .rotate(let grace) = client.refreshTokens {
            advanced["refreshTokenGracePeriod"] = .integer(grace.components.seconds)
        }
        let openID: [String: JSONValue] = [
            "postLogoutRedirectUri": .texts(client.postLogoutRedirectURIs), "jwtTokenLifetime": seconds(lifetimes?.idToken),
            "backchannel_logout_uri": client.backchannelLogoutURI.map { .string($0) } ?? .null,
            "backchannel_logout_session_required": .bool(client.backchannelLogoutSessionRequired),
        ]
        var signing: [String: JSONValue] = [
            "userinfoResponseFormat": .string(client.userInfoSigningAlgorithm == nil ? "JSON" : "SIGNED_JWT"),
            "userinfoSignedResponseAlg": .string(client.userInfoSigningAlgorithm?.rawValue ?? ""),
            "idTokenSignedResponseAlg": .string(client.idTokenSigningAlgorithm.rawValue),
        ]
        if !client.keys.isEmpty {
            signing["publicKeyLocation"] = .string("jwks")
            signing["jwkSet"] = .string(JSON.text(of: .object(["keys": .array(client.keys.map(\.json))])))
        }
        let override: [String: JSONValue] = [
            "providerOverridesEnabled": .bool(client.accessTokens == .jwt),
            "statelessTokensEnabled": .bool(client.accessTokens == .jwt),
        ]
        return [(.core, core), (.advanced, advanced), (.openID, openID), (.signing, signing), (.override, override)]
    }

    // MARK: To the configuration

    /// Reads a document.
    ///
    /// The settings become those of the configuration file, so that they are checked like them.
    /// - Parameters:
    ///   - document: The document as a client has sent it.
    ///   - key: The realm and the id of the client.
    ///   - present: The client that exists; nil for none. A document without a secret keeps its secret.
    ///   - configuration: The configuration.
    /// - Returns: The client. A confidential client without a secret in the document or in `present` gets a random secret, which
    ///   no response contains.
    /// - Throws: ``APIError`` with status 400 and the problems.
    static func client(
        _ document: JSONValue, _ key: ClientKey, _ present: RegisteredClient?, in configuration: ServerConfiguration
    ) throws(APIError) -> RegisteredClient {
        let isPublic = text(document, .core, "clientType") == "Public"
        var members = entries(document)
        // What AM's document has no member for stays as it is. AM requires a challenge only when the provider is set so; a public
        // client has nothing else.
        members["requirePKCE"] = .bool(present?.requiresPKCE ?? isPublic)
        members["requirePushedAuthorizationRequests"] = .bool(present?.requiresPushedRequests ?? false)
        members["dpopBoundAccessTokens"] = .bool(present?.requiresDPoP ?? false)
        if present?.refreshTokens == .reuse, members["refreshTokens"] == nil { members["refreshTokens"] = .string("reuse") }
        // The reader refuses some grants of a client that can't authenticate itself.
        if !isPublic, members["jwks"] == nil { members["generateSecret"] = .bool(true) }
        members["id"] = .string(key.id)
        members["realm"] = .string(key.realm.description)
        var client: RegisteredClient
        do throws(ConfigurationError) {
            client = try ConfigurationReader.client(MarkedValue(.object(members), at: .start), in: configuration)
        } catch {
            let messages = error.problems.map(\.message).joined(separator: "; ")
            throw APIError(.badRequest, "The client cannot be used here: \(messages)")
        }
        client.generatesSecret = false
        if let present { keep(present, in: &client) }
        guard !isPublic, client.keys.isEmpty else { return client }
        let given = setting(document, .core, "userpassword")?.string.flatMap { $0.isEmpty ? nil : Secret($0.utf8) }
        if given == nil, present?.generatesSecret == true {
            client.generatesSecret = true
        } else {
            client.secret = given ?? present?.secret ?? Secret.random(byteCount: 32)
        }
        return client
    }

    /// Takes over the settings of a client that AM's document has no member for.
    private static func keep(_ present: RegisteredClient, in client: inout RegisteredClient) {
        client.accessTokenSigningAlgorithm = present.accessTokenSigningAlgorithm
        client.audiences = present.audiences
        client.claims = present.claims
        client.mayAct = present.mayAct
        client.requiresPushedRequests = present.requiresPushedRequests
        client.requiresDPoP = present.requiresDPoP
    }

    /// Returns the settings of the configuration file that the document has.
    private static func entries(_ document: JSONValue) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "redirectURIs": .texts(texts(document, .core, "redirectionUris") ?? []),
            "postLogoutRedirectURIs": .texts(texts(document, .openID, "postLogoutRedirectUri") ?? []),
        ]
        // `name|en|description` has a text for the consent page.
        let scopes = texts(document, .core, "scopes")?.compactMap { $0.split(separator: "|").first.map(String.init) }
        if let scopes, !scopes.isEmpty { members["scopes"] = .texts(scopes) }
        members["name"] = texts(document, .core, "clientName")?.first.map { .string($0) }
        let logo = texts(document, .advanced, "logoUri")?.first { $0.hasPrefix("https://") || PageImage.isAddress($0) }
        members["logo"] = logo.map { .string($0) }
        let kinds = Set(RegisteredClient.ResponseType.allCases.map(\.rawValue))
        if let types = texts(document, .advanced, "responseTypes")?.filter(kinds.contains), !types.isEmpty {
            members["responseTypes"] = .texts(types)
        }
        if let grants = texts(document, .advanced, "grantTypes") {
            if !grants.contains("refresh_token") { members["refreshTokens"] = .string("none") }
            // AM has grants that this server doesn't have.
            let known = ConfigurationReader.grantTypes.filter { grants.contains($0.value.rawValue) }
            let isPublic = text(document, .core, "clientType") == "Public"
            members["grantTypes"] = .texts(known.filter { !isPublic || !$0.value.needsConfidentialClient }.map(\.key))
        }
        if isOn(document, .override, "providerOverridesEnabled"), isOn(document, .override, "statelessTokensEnabled") {
            members["accessTokens"] = .string("jwt")
        }
        if text(document, .advanced, "tokenEndpointAuthMethod") == "private_key_jwt",
            let keys = text(document, .signing, "jwkSet").flatMap({ try? JSON.value(of: $0.utf8) })
        {
            members["jwks"] = keys
        }
        if let grace = setting(document, .advanced, "refreshTokenGracePeriod")?.lenientInteger, grace > 0 {
            members["refreshTokenGrace"] = .integer(grace)
        }
        if setting(document, .advanced, "isConsentImplied")?.bool == false { members["requireConsent"] = .bool(true) }
        if let address = text(document, .openID, "backchannel_logout_uri"), !address.isEmpty {
            members["backchannelLogoutURI"] = .string(address)
        }
        if setting(document, .openID, "backchannel_logout_session_required")?.bool == true {
            members["backchannelLogoutSessionRequired"] = .bool(true)
        }
        if text(document, .signing, "userinfoResponseFormat") == "SIGNED_JWT" {
            members["userinfoSignedResponseAlg"] = .string(algorithm(document, "userinfoSignedResponseAlg"))
        }
        members["idTokenSignedResponseAlg"] = .string(algorithm(document, "idTokenSignedResponseAlg"))
        let lifetimes = lifetimes(document)
        if !lifetimes.isEmpty { members["lifetimes"] = .object(lifetimes) }
        return members
    }

    /// Returns the algorithm of a signature; RS256 for one that this server doesn't have.
    private static func algorithm(_ document: JSONValue, _ name: String) -> String {
        (text(document, .signing, name).flatMap(JWSAlgorithm.init) ?? .rs256).rawValue
    }

    private static func isOn(_ document: JSONValue, _ group: Group, _ name: String) -> Bool {
        setting(document, group, name)?.bool == true
    }

    /// Returns the lifetimes that the document has; 0 stands for that of the provider.
    private static func lifetimes(_ document: JSONValue) -> [String: JSONValue] {
        let names: [(String, Group, String)] = [
            ("authorizationCode", .core, "authorizationCodeLifetime"), ("accessToken", .core, "accessTokenLifetime"),
            ("refreshToken", .core, "refreshTokenLifetime"), ("idToken", .openID, "jwtTokenLifetime"),
        ]
        var lifetimes: [String: JSONValue] = [:]
        for (name, group, setting) in names {
            guard let seconds = self.setting(document, group, setting)?.lenientInteger, seconds > 0 else { continue }
            lifetimes[name] = .integer(seconds)
        }
        return lifetimes
    }

    /// Returns the value of a setting, with or without `inherited` beside it; nil for none and for null.
    private static func setting(_ document: JSONValue, _ group: Group, _ name: String) -> JSONValue? {
        guard let setting = document[group.rawValue]?[name] else { return nil }
        let value = setting.object == nil ? setting : setting["value"]
        return value == .null ? nil : value
    }

    private static func text(_ document: JSONValue, _ group: Group, _ name: String) -> String? {
        setting(document, group, name)?.string
    }

    /// Returns the texts of a list, without those that are empty.
    private static func texts(_ document: JSONValue, _ group: Group, _ name: String) -> [String]? {
        setting(document, group, name)?.array?.compactMap(\.string).filter { !$0.isEmpty }
    }
}
