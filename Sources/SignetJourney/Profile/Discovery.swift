public import SignetCore
public import SignetNetwork

extension ServerProfile {
    /// The profile with the addresses that the OpenID provider gives of itself (OpenID Connect Discovery 1.0). An override of the
    /// profile goes before what is discovered; authenticate and session are not the provider's to say and stay as they are.
    ///
    /// Of the two addresses for logging out that Ping's providers have, `end_session_endpoint` is taken; the other is
    /// ``providerEndSession``.
    /// - Parameters:
    ///   - url: where the document is; nil asks ``ServerEndpoint/discovery``.
    ///   - transport: what the request goes through, with the pins of the profile if it has any.
    /// - Throws: ``ProfileError`` with a key such as `discovery.token_endpoint`, `TransportError`.
    public func discovering(at url: String? = nil, over transport: any HTTPTransport) async throws -> ServerProfile {
        let address = try EndpointOverrides.checked(
            url ?? address(of: .discovery), key: "discovery", policy: policy)
        let document = try await DiscoveryDocument(at: address, over: transport, timeout: timeout, policy: policy)
        var profile = self
        profile.issuer = document.issuer
        profile.discovered = document.addresses
        profile.providerEndSession = document.providerEndSession
        return profile
    }

    /// A profile of which only the discovery document's address is known. The issuer of an AM says where the server is and which
    /// realm it speaks for: `https://am.example.com/am/oauth2/realms/root/realms/alpha`.
    /// - Throws: ``ProfileError``; its key is `url` when the issuer is not that of an AM: give the server's address then, and use
    ///   ``discovering(at:over:)``. `TransportError`.
    public static func discovered(
        at url: String, over transport: any HTTPTransport, policy: EndpointPolicy = .secure,
        configure: (inout Self) -> Void = { _ in }
    ) async throws -> ServerProfile {
        let address = try EndpointOverrides.checked(url, key: "discovery", policy: policy)
        let document = try await DiscoveryDocument(at: address, over: transport, timeout: .seconds(30), policy: policy)
        guard let oauth2 = document.issuer.range(of: "/oauth2", after: "://") else {
            throw ProfileError("url", .missing)
        }
        let rest = document.issuer[oauth2.upperBound...]
        guard rest.isEmpty || rest.hasPrefix("/") else { throw ProfileError("url", .missing) }
        var profile = try ServerProfile(
            url: String(document.issuer[..<oauth2.lowerBound]), realm: Realm(rest.percentDecoded() ?? ""), policy: policy,
            configure: configure)
        profile.issuer = document.issuer
        profile.discovered = document.addresses
        profile.providerEndSession = document.providerEndSession
        return profile
    }
}

/// What an OpenID provider says of itself.
private struct DiscoveryDocument {
    let issuer: String
    let addresses: [ServerEndpoint: String]

    private static let providerEndSession = "ping_end_idp_session_endpoint"
    let providerEndSession: String?

    private static let required: [(ServerEndpoint, String)] = [
        (.authorize, "authorization_endpoint"), (.token, "token_endpoint"),
    ]
    private static let optional: [(ServerEndpoint, [String])] = [
        (.userInfo, ["userinfo_endpoint"]), (.revoke, ["revocation_endpoint"]),
        (.endSession, ["end_session_endpoint", Self.providerEndSession]), (.jwks, ["jwks_uri"]),
        (.deviceCode, ["device_authorization_endpoint"]),
    ]

    init(at url: String, over transport: any HTTPTransport, timeout: Duration, policy: EndpointPolicy) async throws {
        let response = try await transport.send(
            HTTPRequest("GET", url, headers: ["Accept": "application/json"], timeout: timeout))
        guard response.status == 200 else {
            throw ProfileError("discovery", .unreadable("the server answered with status \(response.status)"))
        }
        guard let json = try? JSON.value(of: response.body), json.object != nil else {
            throw ProfileError("discovery", .unreadable("the answer is not JSON"))
        }
        try self.init(json, from: url, policy: policy)
    }

    private init(_ json: JSONValue, from url: String, policy: EndpointPolicy) throws(ProfileError) {
        guard let named = try Self.address(json, "issuer", policy) else { throw ProfileError("discovery.issuer", .missing) }
        // The standard wants the issuer to be the document's own address without its end. AM's differ in the path, so what is
        // compared is who is speaking.
        guard let issuer = try? Endpoint(unchecked: named), let source = try? Endpoint(unchecked: url),
            issuer.hasSameOrigin(as: source)
        else { throw ProfileError("discovery.issuer", .value("is another server than the one that was asked")) }
        self.issuer = named
        var addresses: [ServerEndpoint: String] = [:]
        for (endpoint, name) in Self.required {
            guard let address = try Self.address(json, name, policy) else { throw ProfileError("discovery.\(name)", .missing) }
            addresses[endpoint] = address
        }
        for (endpoint, names) in Self.optional {
            for name in names where addresses[endpoint] == nil { addresses[endpoint] = try Self.address(json, name, policy) }
        }
        self.addresses = addresses
        providerEndSession = try Self.address(json, Self.providerEndSession, policy)
    }

    private static func address(_ json: JSONValue, _ name: String, _ policy: EndpointPolicy) throws(ProfileError) -> String? {
        switch json[name] {
        case nil, .null?: return nil
        case .string(let text)?: return try EndpointOverrides.checked(text, key: "discovery.\(name)", policy: policy)
        default: throw ProfileError("discovery.\(name)", .type(expected: "an address"))
        }
    }
}

extension String {
    /// Where `text` is, looked for behind the first `mark`.
    fileprivate func range(of text: String, after mark: String) -> Range<String.Index>? {
        guard let start = firstRange(of: mark)?.upperBound else { return nil }
        return self[start...].firstRange(of: text)
    }
}
