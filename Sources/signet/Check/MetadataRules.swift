import SignetCore
import SignetOAuth

/// The comparison of a provider's metadata with RFC 9700.
///
/// It sends no request. A list that is missing has the default of RFC 8414 section 2.
struct MetadataRules: Sendable {
    let metadata: ProviderMetadata

    /// All findings, in the order of their sections.
    var findings: [CheckFinding] {
        var findings = [issuerParameter, pushedRequests, codeChallenge]
        findings += plainChallenge
        findings += [implicitGrant, hybridFlow, senderConstraint]
        findings += proofAlgorithms
        findings += [passwordGrant, clientAuthentication]
        findings += assertionAlgorithms
        findings += [issuerName, transport, keyOrigin, tokenAlgorithms]
        return findings
    }

    private var members: [String: JSONValue] { metadata.members }

    /// Returns the texts of a list; nil when the member is missing or isn't a list.
    private func list(_ name: String) -> [String]? { members[name]?.array.map { $0.compactMap(\.string) } }

    private func names(_ texts: some Sequence<String>) -> String {
        texts.prefix(10).map { String($0.prefix(60)) }.joined(separator: ", ")
    }

    // MARK: Requests and responses

    private var issuerParameter: CheckFinding {
        let name = "authorization_response_iss_parameter_supported"
        guard members[name]?.bool == true else {
            return CheckFinding(
                "issuer-parameter", .redirects, .warn,
                "\(name) is not true: a client of several providers can't detect a mix-up by the response (RFC 9207)")
        }
        return CheckFinding("issuer-parameter", .redirects, .pass, "authorization responses name the issuer (RFC 9207)")
    }

    private var pushedRequests: CheckFinding {
        guard members["pushed_authorization_request_endpoint"]?.string != nil else {
            return CheckFinding(
                "pushed-requests", .redirects, .warn,
                "there is no pushed_authorization_request_endpoint: the browser can read and change requests (RFC 9126)")
        }
        let isRequired = members["require_pushed_authorization_requests"]?.bool == true
        return CheckFinding(
            "pushed-requests", .redirects, .pass, "pushed requests are \(isRequired ? "required" : "supported") (RFC 9126)")
    }

    private var codeChallenge: CheckFinding {
        guard let methods = list("code_challenge_methods_supported") else {
            return CheckFinding(
                "pkce", .codeGrant, .warn,
                "code_challenge_methods_supported is missing: clients can't detect the support of PKCE, which is required")
        }
        guard methods.contains("S256") else {
            return CheckFinding("pkce", .codeGrant, .fail, "code_challenge_methods_supported lacks S256: \(names(methods))")
        }
        return CheckFinding("pkce", .codeGrant, .pass, "PKCE with S256 is supported")
    }

    private var plainChallenge: [CheckFinding] {
        guard let methods = list("code_challenge_methods_supported") else { return [] }
        guard methods.contains("plain") else {
            return [CheckFinding("pkce-plain", .codeGrant, .pass, "the method plain is not supported")]
        }
        return [
            CheckFinding(
                "pkce-plain", .codeGrant, .warn, "the method plain is supported: it shows the verifier to readers of the request")
        ]
    }

    private var implicitGrant: CheckFinding {
        guard let types = list("response_types_supported") else {
            return CheckFinding("implicit", .implicitGrant, .warn, "response_types_supported, which is required, is missing")
        }
        let issuing = types.filter { $0.split(separator: " ").contains("token") }
        guard issuing.isEmpty else {
            return CheckFinding(
                "implicit", .implicitGrant, .fail, "response types with an access token in the response: \(names(issuing))")
        }
        if let grants = list("grant_types_supported"), grants.contains("implicit") {
            return CheckFinding(
                "implicit", .implicitGrant, .warn,
                "no response type issues an access token, but grant_types_supported has implicit")
        }
        return CheckFinding("implicit", .implicitGrant, .pass, "no response type issues an access token in the response")
    }

    private var hybridFlow: CheckFinding {
        let types = list("response_types_supported") ?? []
        let hybrid = types.filter { $0.split(separator: " ").contains("id_token") && !$0.split(separator: " ").contains("token") }
        guard hybrid.isEmpty else {
            return CheckFinding(
                "hybrid", .implicitGrant, .warn,
                "response types with an ID token in the response of the browser: \(names(hybrid))")
        }
        return CheckFinding("hybrid", .implicitGrant, .pass, "no response type issues only an ID token in the response")
    }

    // MARK: Tokens

    private var senderConstraint: CheckFinding {
        var ways: [String] = []
        if !(list("dpop_signing_alg_values_supported") ?? []).isEmpty { ways.append("DPoP (RFC 9449)") }
        if members["tls_client_certificate_bound_access_tokens"]?.bool == true { ways.append("mutual TLS (RFC 8705)") }
        guard !ways.isEmpty else {
            return CheckFinding(
                "sender-constraint", .accessTokens, .warn,
                "neither DPoP nor mutual TLS is supported: a stolen access token can be used")
        }
        return CheckFinding(
            "sender-constraint", .accessTokens, .pass, "access tokens can be bound by \(ways.joined(separator: " and "))")
    }

    private var proofAlgorithms: [CheckFinding] {
        guard let algorithms = list("dpop_signing_alg_values_supported") else { return [] }
        let bad = algorithms.filter(Self.isSymmetricOrNone)
        guard bad.isEmpty else {
            return [
                CheckFinding(
                    "dpop-algorithms", .accessTokens, .fail, "proofs may be signed with \(names(bad)) (RFC 9449 section 5.1)")
            ]
        }
        return [CheckFinding("dpop-algorithms", .accessTokens, .pass, "proofs are signed with \(names(algorithms))")]
    }

    private var passwordGrant: CheckFinding {
        guard (list("grant_types_supported") ?? []).contains("password") else {
            return CheckFinding("password-grant", .passwordGrant, .pass, "the password grant is not supported")
        }
        return CheckFinding("password-grant", .passwordGrant, .fail, "the password grant is supported, which must not be used")
    }

    // MARK: Clients

    private static let asymmetric: Set<String> = ["private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth"]

    private var clientAuthentication: CheckFinding {
        let methods = list("token_endpoint_auth_methods_supported") ?? ["client_secret_basic"]
        let strong = methods.filter(Self.asymmetric.contains)
        guard !strong.isEmpty else {
            return CheckFinding(
                "client-authentication", .clientAuthentication, .warn,
                "clients authenticate only with what the provider stores too: \(names(methods)); private_key_jwt or mutual TLS is recommended"
            )
        }
        return CheckFinding(
            "client-authentication", .clientAuthentication, .pass, "clients may authenticate with \(names(strong))")
    }

    private var assertionAlgorithms: [CheckFinding] {
        guard let algorithms = list("token_endpoint_auth_signing_alg_values_supported") else { return [] }
        if algorithms.contains("none") {
            return [
                CheckFinding(
                    "assertion-algorithms", .clientAuthentication, .fail,
                    "unsigned client assertions are accepted (RFC 8414 section 2)")
            ]
        }
        let shared = algorithms.filter(Self.isSymmetricOrNone)
        guard shared.isEmpty else {
            return [
                CheckFinding(
                    "assertion-algorithms", .clientAuthentication, .warn,
                    "client assertions with a shared secret: \(names(shared))")
            ]
        }
        return [
            CheckFinding(
                "assertion-algorithms", .clientAuthentication, .pass, "client assertions are signed with \(names(algorithms))")
        ]
    }

    static func isSymmetricOrNone(_ algorithm: String) -> Bool { algorithm == "none" || algorithm.hasPrefix("HS") }
}

// The addresses and the algorithms.
extension MetadataRules {
    private var issuerName: CheckFinding {
        guard let issuer = members["issuer"]?.string else {
            return CheckFinding("issuer", .other, .fail, "the metadata has no issuer")
        }
        guard metadata.namesOwnIssuer else {
            return CheckFinding(
                "issuer", .other, .fail,
                "the document at \(metadata.address) is that of the issuer \(issuer) (RFC 8414 section 3.3)")
        }
        guard !issuer.contains("?"), !issuer.contains("#") else {
            return CheckFinding("issuer", .other, .fail, "the issuer has a query or a fragment (RFC 8414 section 2)")
        }
        return CheckFinding("issuer", .other, .pass, "the metadata is published at the address of the issuer")
    }

    /// The addresses in the metadata by their names.
    private var addresses: [(name: String, address: String)] {
        members.filter { $0.key == "issuer" || $0.key.hasSuffix("_endpoint") || $0.key == "jwks_uri" }
            .compactMap { name, value in value.string.map { (name: name, address: $0) } }.sorted { $0.name < $1.name }
    }

    private var transport: CheckFinding {
        let plain = addresses.filter { !$0.address.lowercased().hasPrefix("https://") }
        guard !plain.isEmpty else { return CheckFinding("https", .other, .pass, "all addresses are https") }
        let open = plain.filter { address in
            guard let endpoint = try? Endpoint(unchecked: address.address) else { return true }
            return !EndpointPolicy.isLoopback(endpoint.host)
        }
        guard open.isEmpty else {
            return CheckFinding("https", .other, .fail, "addresses without https: \(names(open.map(\.name)))")
        }
        return CheckFinding("https", .other, .warn, "plain http on this machine: \(names(plain.map(\.name)))")
    }

    private var keyOrigin: CheckFinding {
        guard let address = members["jwks_uri"]?.string else {
            return CheckFinding("jwks-origin", .other, .warn, "there is no jwks_uri: clients can't verify signatures")
        }
        guard let keys = try? Endpoint(unchecked: address), let issuer = members["issuer"]?.string,
            let origin = try? Endpoint(unchecked: issuer)
        else { return CheckFinding("jwks-origin", .other, .fail, "jwks_uri or the issuer is not an absolute address") }
        guard keys.hasSameOrigin(as: origin) else {
            return CheckFinding("jwks-origin", .other, .warn, "the keys are at another origin than the issuer: \(keys.host)")
        }
        return CheckFinding("jwks-origin", .other, .pass, "the keys are at the origin of the issuer")
    }

    /// The lists of algorithms with which the provider signs.
    private static let signatures = [
        "id_token_signing_alg_values_supported", "userinfo_signing_alg_values_supported",
        "authorization_signing_alg_values_supported", "introspection_signing_alg_values_supported",
    ]

    private var tokenAlgorithms: CheckFinding {
        // OpenID Connect Core section 5.3.2 lets userinfo be unsigned: then `none` stands for plain JSON.
        let unsigned = Self.signatures.filter { name in
            !name.hasPrefix("userinfo") && (list(name) ?? []).contains("none")
        }
        guard unsigned.isEmpty else {
            return CheckFinding("signature-algorithms", .other, .fail, "unsigned tokens or responses: \(names(unsigned))")
        }
        let shared = Self.signatures.filter { name in (list(name) ?? []).contains { $0.hasPrefix("HS") } }
        guard shared.isEmpty else {
            return CheckFinding("signature-algorithms", .other, .warn, "signatures with a shared secret: \(names(shared))")
        }
        return CheckFinding("signature-algorithms", .other, .pass, "the provider signs with private keys only")
    }
}
