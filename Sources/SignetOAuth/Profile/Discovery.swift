public import SignetCore
public import SignetNetwork

extension ServerProfile {
    /// Returns the profile with the addresses from the OpenID provider's discovery document (OpenID Connect Discovery 1.0).
    ///
    /// An override of the profile takes precedence over a discovered address. The addresses of authenticate and session aren't
    /// part of the document and stay unchanged.
    ///
    /// The issuer in the document must be ``issuer``, or, when that is nil, the address of the document without its well-known
    /// part. Otherwise another tenant of the same server could pose as this one. For AM, other notations of the same realm are
    /// accepted as well.
    ///
    /// The providers of Ping have two logout addresses. This method uses `end_session_endpoint`; the other address is
    /// ``providerEndSession``. A profile that is used without this method requests the document when it needs a missing address.
    /// - Parameters:
    ///   - url: The address of the document; nil for ``ServerEndpoint/discovery``.
    ///   - transport: The transport that sends the request.
    ///   - interceptors: The interceptors that see the request before it is sent. The action is `WELL_KNOWN`.
    /// - Returns: A copy of the profile, which also has the document's issuer.
    /// - Throws: ``ProfileError`` with a key such as `discovery.token_endpoint`, which also states whether a retry may succeed;
    ///   `TransportError`.
    public func discovering(
        at url: String? = nil, over transport: any HTTPTransport, interceptors: [any RequestInterceptor] = []
    ) async throws -> ServerProfile {
        try validate()
        return completed(by: try await described(at: url, RequestPipeline(transport, interceptors: interceptors)))
    }

    /// Returns a profile that is created from a discovery document alone.
    ///
    /// The issuer of an AM contains the server's address and the realm:
    /// `https://am.example.com/am/oauth2/realms/root/realms/alpha`.
    /// - Parameters:
    ///   - url: The address of the discovery document.
    ///   - transport: The transport that sends the request.
    ///   - policy: The policy that decides which addresses are allowed.
    ///   - configure: A closure that changes the properties with defaults. It is called twice, because its pins and timeout also
    ///     apply to the request for the document.
    /// - Returns: A profile with the server's address and the realm of the issuer, and with the addresses of the document.
    /// - Throws: ``ProfileError``. Its key is `url` when the issuer isn't that of an AM; in that case, create a profile with the
    ///   server's address and use ``discovering(at:over:interceptors:)``. `TransportError`.
    public static func discovered(
        at url: String, over transport: any HTTPTransport, policy: EndpointPolicy = .secure,
        configure: (inout Self) -> Void = { _ in }
    ) async throws -> ServerProfile {
        try await discovered(
            at: url, isAccessManager: true, over: transport, policy: policy, interceptors: [], configure: configure)
    }

    /// Returns a profile that is created from the discovery document of any OpenID provider.
    ///
    /// The issuer of a provider that is not an AM is the address of the profile, and its realm is the top-level realm.
    package static func discovered(
        ofAnyProviderAt url: String, over transport: any HTTPTransport, policy: EndpointPolicy,
        interceptors: [any RequestInterceptor] = [], configure: (inout Self) -> Void
    ) async throws -> ServerProfile {
        try await discovered(
            at: url, isAccessManager: false, over: transport, policy: policy, interceptors: interceptors, configure: configure)
    }

    private static func discovered(
        at url: String, isAccessManager: Bool, over transport: any HTTPTransport, policy: EndpointPolicy,
        interceptors: [any RequestInterceptor], configure: (inout Self) -> Void
    ) async throws -> ServerProfile {
        let address = try EndpointOverrides.checked(url, key: "discovery", policy: policy)
        let asking = try ServerProfile(url: Endpoint(unchecked: address).origin, policy: policy, configure: configure)
        let document = try await asking.described(at: address, RequestPipeline(transport, interceptors: interceptors))
        let root = document.issuer.range(of: "/oauth2", after: "://")
        let rest = root.map { document.issuer[$0.upperBound...] } ?? ""
        guard let oauth2 = root, rest.isEmpty || rest.hasPrefix("/") else {
            guard !isAccessManager else { throw ProfileError("url", .missing) }
            return try ServerProfile(url: document.issuer, policy: policy, configure: configure).completed(by: document)
        }
        guard let realm = rest.percentDecoded() else { throw ProfileError("realm", .value("is not written as in an address")) }
        return try ServerProfile(
            url: String(document.issuer[..<oauth2.lowerBound]), realm: Realm(realm), policy: policy, configure: configure
        ).completed(by: document)
    }

    private func described(at url: String?, _ pipeline: RequestPipeline) async throws -> ProviderDescription {
        let address = try EndpointOverrides.checked(url ?? address(of: .discovery), key: "discovery", policy: policy)
        return try await ProviderDescription(
            at: address, issuer: issuer, pipeline, timeout: timeout, pins: pins, policy: policy)
    }

    private func completed(by document: ProviderDescription) -> ServerProfile {
        var profile = self
        profile.issuer = document.issuer
        profile.discovered = document
        return profile
    }
}

/// The discovery document of an OpenID provider (OpenID Connect Discovery 1.0).
///
/// Profiles and tokens both use this type to read it.
struct ProviderDescription: Sendable, Hashable {
    let issuer: String
    let addresses: [ServerEndpoint: String]
    /// The address at which a session of a Ping provider ends without a browser.
    let providerEndSession: String?
    /// The endpoint that a service asks about the tokens that it receives (RFC 7662).
    let introspection: String?
    /// True when the provider sends its issuer in each authorization response (RFC 9207).
    let namesIssuer: Bool
    /// The methods of client authentication at the token endpoint; nil when the document has no list of them.
    let authenticationMethods: [String]?
    /// The signature algorithms of ID tokens; empty when the document lists none.
    let idTokenSigningAlgs: Set<String>
    /// True when the provider requires pushed authorization requests (RFC 9126 section 5).
    let requiresPushedRequests: Bool
    /// The algorithms of signed authentication requests (OpenID Connect CIBA section 4); empty when the document lists none.
    let backchannelSigningAlgs: Set<String>

    private static let required: [(ServerEndpoint, String)] = [
        (.authorize, "authorization_endpoint"), (.token, "token_endpoint"),
    ]
    private static let optional: [(ServerEndpoint, String)] = [
        (.userInfo, "userinfo_endpoint"), (.revoke, "revocation_endpoint"), (.endSession, "end_session_endpoint"),
        (.jwks, "jwks_uri"), (.deviceCode, "device_authorization_endpoint"),
        (.pushedAuthorization, "pushed_authorization_request_endpoint"),
        (.backchannelAuthentication, "backchannel_authentication_endpoint"),
    ]

    /// Requests and reads the document.
    /// - Parameters:
    ///   - url: The address of the document.
    ///   - issuer: The issuer that the app configured; nil for the issuer that the address contains (``DiscoveryIssuer``).
    ///   - pipeline: The pipeline that sends the request.
    ///   - timeout: The timeout of the request.
    ///   - pins: The pins of the server's public keys.
    ///   - policy: The policy that decides which addresses are allowed.
    ///   - clock: The clock for the time in `Retry-After`.
    /// - Throws: ``ProfileError``, `TransportError`, the errors of interceptors.
    init(
        at url: String, issuer: String?, _ pipeline: RequestPipeline, timeout: Duration, pins: Set<PublicKeyPin>,
        policy: EndpointPolicy, clock: any WallClock = SystemWallClock()
    ) async throws {
        let members = try await Self.members(at: url, pipeline, timeout: timeout, pins: pins, clock: clock)
        try self.init(members, expecting: DiscoveryIssuer(configured: issuer, documentAddress: url), policy: policy)
    }

    /// Requests the document and returns its members, none of which is checked.
    /// - Throws: ``ProfileError``, `TransportError`, the errors of interceptors.
    static func members(
        at url: String, _ pipeline: RequestPipeline, timeout: Duration, pins: Set<PublicKeyPin>, clock: any WallClock
    ) async throws -> [String: JSONValue] {
        let request = HTTPRequest("GET", url, headers: ["Accept": "application/json"], timeout: timeout, pins: pins)
        let response = try await pipeline.send(request, for: .wellKnown)
        do throws(OAuthError) {
            return try TokenResponse.members(
                status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now))
        } catch {
            throw ProfileError("discovery", .refused(error.namingDocument(url, response)))
        }
    }

    private init(
        _ members: [String: JSONValue], expecting expected: DiscoveryIssuer, policy: EndpointPolicy
    ) throws(ProfileError) {
        guard let named = try Self.address(members, "issuer", policy) else { throw ProfileError("discovery.issuer", .missing) }
        guard expected.allows(named) else {
            throw ProfileError("discovery.issuer", .issuer(expected: expected.name, received: named))
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
        introspection = try Self.address(members, "introspection_endpoint", policy)
        if addresses[.endSession] == nil { addresses[.endSession] = providerEndSession }
        self.addresses = addresses
        namesIssuer = members["authorization_response_iss_parameter_supported"]?.bool == true
        authenticationMethods = members["token_endpoint_auth_methods_supported"]?.array?.compactMap(\.string)
        func names(_ member: String) -> Set<String> { Set(members[member]?.array?.compactMap(\.string) ?? []) }
        idTokenSigningAlgs = names("id_token_signing_alg_values_supported")
        requiresPushedRequests = members["require_pushed_authorization_requests"]?.bool == true
        backchannelSigningAlgs = names("backchannel_authentication_request_signing_alg_values_supported")
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
    /// Returns the range of `text` after the first `mark`.
    fileprivate func range(of text: String, after mark: String) -> Range<String.Index>? {
        guard let start = firstRange(of: mark)?.upperBound else { return nil }
        return self[start...].firstRange(of: text)
    }
}
