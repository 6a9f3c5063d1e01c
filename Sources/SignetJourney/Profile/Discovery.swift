public import SignetCore
public import SignetNetwork

extension ServerProfile {
    /// The profile with the addresses that the OpenID provider gives of itself (OpenID Connect Discovery 1.0). An override of the
    /// profile goes before what is discovered; authenticate and session are not the provider's to say and stay as they are.
    ///
    /// Of the two addresses for logging out that Ping's providers have, `end_session_endpoint` is taken; the other is
    /// ``providerEndSession``. Where a profile is used without this, only what is missing is asked for, when it is needed.
    /// - Parameters:
    ///   - url: where the document is; nil asks ``ServerEndpoint/discovery``.
    ///   - transport: what the request goes through.
    ///   - interceptors: see the request before it is sent; they are told `WELL_KNOWN`.
    /// - Throws: ``ProfileError`` with a key such as `discovery.token_endpoint`, which says whether to try again; `TransportError`.
    public func discovering(
        at url: String? = nil, over transport: any HTTPTransport, interceptors: [any RequestInterceptor] = []
    ) async throws -> ServerProfile {
        try validate()
        return try completed(by: await described(at: url, RequestPipeline(transport, interceptors: interceptors)))
    }

    /// A profile of which only the discovery document's address is known. The issuer of an AM says where the server is and which
    /// realm it speaks for: `https://am.example.com/am/oauth2/realms/root/realms/alpha`.
    /// - Parameters:
    ///   - url: The address of the server.
    ///   - transport: How servers are reached.
    ///   - policy: Which addresses are acceptable.
    ///   - configure: changes what has a default. It is called twice: its pins and timeout hold for the document too.
    /// - Throws: ``ProfileError``; its key is `url` when the issuer is not that of an AM: give the server's address then, and use
    ///   ``discovering(at:over:interceptors:)``. `TransportError`.
    public static func discovered(
        at url: String, over transport: any HTTPTransport, policy: EndpointPolicy = .secure,
        configure: (inout Self) -> Void = { _ in }
    ) async throws -> ServerProfile {
        let address = try EndpointOverrides.checked(url, key: "discovery", policy: policy)
        let asking = try ServerProfile(url: Endpoint(unchecked: address).origin, policy: policy, configure: configure)
        let document = try await asking.described(at: address, RequestPipeline(transport))
        guard let oauth2 = document.issuer.range(of: "/oauth2", after: "://") else {
            throw ProfileError("url", .missing)
        }
        let rest = document.issuer[oauth2.upperBound...]
        guard rest.isEmpty || rest.hasPrefix("/") else { throw ProfileError("url", .missing) }
        guard let realm = rest.percentDecoded() else { throw ProfileError("realm", .value("is not written as in an address")) }
        return try ServerProfile(
            url: String(document.issuer[..<oauth2.lowerBound]), realm: Realm(realm), policy: policy, configure: configure
        ).completed(by: document)
    }

    private func described(at url: String?, _ pipeline: RequestPipeline) async throws -> ProviderDescription {
        let address = try EndpointOverrides.checked(url ?? address(of: .discovery), key: "discovery", policy: policy)
        return try await ProviderDescription(at: address, pipeline, timeout: timeout, pins: pins, policy: policy)
    }

    private func completed(by document: ProviderDescription) throws(ProfileError) -> ServerProfile {
        guard issuer == nil || issuer == document.issuer else {
            throw ProfileError("discovery.issuer", .value("is another one than the profile names"))
        }
        var profile = self
        profile.issuer = document.issuer
        profile.discovered = document
        return profile
    }
}

/// What an OpenID provider says of itself (OpenID Connect Discovery 1.0): the one reading of it, for profiles and for tokens.
struct ProviderDescription: Sendable, Hashable {
    let issuer: String
    let addresses: [ServerEndpoint: String]
    /// Where Ping's own session ends without a browser.
    let providerEndSession: String?
    /// Whether it says who it is in each answer of its authorization endpoint (RFC 9207).
    let namesIssuer: Bool

    private static let required: [(ServerEndpoint, String)] = [
        (.authorize, "authorization_endpoint"), (.token, "token_endpoint"),
    ]
    private static let optional: [(ServerEndpoint, String)] = [
        (.userInfo, "userinfo_endpoint"), (.revoke, "revocation_endpoint"), (.endSession, "end_session_endpoint"),
        (.jwks, "jwks_uri"), (.deviceCode, "device_authorization_endpoint"),
    ]

    /// Asks for it.
    /// - Throws: ``ProfileError``, `TransportError`, what an interceptor throws.
    init(
        at url: String, _ pipeline: RequestPipeline, timeout: Duration, pins: Set<PublicKeyPin>, policy: EndpointPolicy,
        clock: any WallClock = SystemWallClock()
    ) async throws {
        let request = HTTPRequest("GET", url, headers: ["Accept": "application/json"], timeout: timeout, pins: pins)
        let response = try await pipeline.send(request, for: .wellKnown)
        let members: [String: JSONValue]
        do throws(OAuthError) {
            members = try TokenResponse.members(
                status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now))
        } catch {
            throw ProfileError("discovery", .refused(error))
        }
        try self.init(members, from: url, policy: policy)
    }

    private init(_ members: [String: JSONValue], from url: String, policy: EndpointPolicy) throws(ProfileError) {
        guard let named = try Self.address(members, "issuer", policy) else { throw ProfileError("discovery.issuer", .missing) }
        // The standard wants the issuer to be the document's own address without its end. AM's differ in the path, so what is
        // compared is who is speaking.
        guard let issuer = try? Endpoint(unchecked: named), let source = try? Endpoint(unchecked: url),
            issuer.hasSameOrigin(as: source)
        else {
            let reason =
                "is \(named.prefix(200)), another server than the one that was asked; ask it at the address it gives itself"
            throw ProfileError("discovery.issuer", .value(reason))
        }
        self.issuer = named
        var addresses: [ServerEndpoint: String] = [:]
        for (endpoint, name) in Self.required {
            guard let address = try Self.address(members, name, policy) else {
                throw ProfileError("discovery.\(name)", .missing)
            }
            addresses[endpoint] = address
        }
        for (endpoint, name) in Self.optional { addresses[endpoint] = try Self.address(members, name, policy) }
        providerEndSession = try Self.address(members, "ping_end_idp_session_endpoint", policy)
        if addresses[.endSession] == nil { addresses[.endSession] = providerEndSession }
        self.addresses = addresses
        namesIssuer = members["authorization_response_iss_parameter_supported"]?.bool == true
    }

    private static func address(
        _ members: [String: JSONValue], _ name: String, _ policy: EndpointPolicy
    ) throws(ProfileError) -> String? {
        switch members[name] {
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
