import Foundation
import SignetCore
import SignetNetwork
import TestSupport
import Testing

@testable import SignetServer

/// The module of the Config plan, and the modules about the discovery document of the plans about logout.
@Suite("OpenID provider: discovery", .timeLimit(.minutes(5)))
struct OpenIDDiscoveryTests {
    /// The members that a specification of the IETF or of the OpenID Foundation defines, of those that a server like this may have.
    private static let known: Set = [
        // RFC 8414 section 2
        "issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "registration_endpoint", "scopes_supported",
        "response_types_supported", "response_modes_supported", "grant_types_supported", "token_endpoint_auth_methods_supported",
        "token_endpoint_auth_signing_alg_values_supported", "service_documentation", "ui_locales_supported", "op_policy_uri",
        "op_tos_uri", "revocation_endpoint", "revocation_endpoint_auth_methods_supported", "introspection_endpoint",
        "introspection_endpoint_auth_methods_supported", "code_challenge_methods_supported",
        "revocation_endpoint_auth_signing_alg_values_supported", "introspection_endpoint_auth_signing_alg_values_supported",
        // OpenID Connect Discovery 1.0 section 3
        "userinfo_endpoint", "acr_values_supported", "subject_types_supported", "id_token_signing_alg_values_supported",
        "id_token_encryption_alg_values_supported", "id_token_encryption_enc_values_supported",
        "userinfo_signing_alg_values_supported", "userinfo_encryption_alg_values_supported",
        "userinfo_encryption_enc_values_supported", "request_object_signing_alg_values_supported", "display_values_supported",
        "claim_types_supported", "claims_supported", "claims_locales_supported", "claims_parameter_supported",
        "request_parameter_supported", "request_uri_parameter_supported", "require_request_uri_registration",
        // RFC 8628, RFC 9207, Initiating User Registration, RP-Initiated Logout and Back-Channel Logout
        "device_authorization_endpoint", "authorization_response_iss_parameter_supported", "prompt_values_supported",
        "end_session_endpoint", "backchannel_logout_supported", "backchannel_logout_session_supported",
        // RFC 9126, RFC 9449 and CIBA
        "pushed_authorization_request_endpoint", "require_pushed_authorization_requests", "dpop_signing_alg_values_supported",
        "backchannel_authentication_endpoint", "backchannel_token_delivery_modes_supported",
        "backchannel_user_code_parameter_supported", "backchannel_authentication_request_signing_alg_values_supported",
    ]

    @Test("The discovery document has only members that a specification defines, with values of their types")
    func discoveryDocumentHasKnownMembers() async throws {
        try await ProviderUnderTest.runSecure { provider in
            let unknown = Set(provider.metadata.keys).subtracting(Self.known)
            #expect(unknown.isEmpty)
            let issuer = try provider.endpoint("issuer")
            #expect(provider.discovery.url == "\(issuer)/.well-known/openid-configuration")
            #expect(issuer == "\(provider.origin)/am/oauth2")
            try checkAddresses(provider)
            for (name, value) in provider.metadata {
                if name.hasSuffix("_parameter_supported") || name.hasPrefix("backchannel_logout") {
                    #expect(value.bool != nil, "\(name)")
                } else if name.hasSuffix("_supported") {
                    let texts = provider.list(name)
                    #expect(!texts.isEmpty && texts.count == value.array?.count && Set(texts).count == texts.count, "\(name)")
                }
            }
            #expect(provider.list("response_types_supported").contains("code"))
            #expect(provider.list("response_modes_supported") == ["query", "fragment", "form_post"])
            #expect(provider.list("subject_types_supported") == ["public"])
            #expect(provider.list("id_token_signing_alg_values_supported").contains("RS256"))
            #expect(provider.list("userinfo_signing_alg_values_supported").contains("RS256"))
            #expect(provider.list("scopes_supported").contains("openid"))
            let scopes = provider.list("scopes_supported").joined().utf8
            let isPlain = scopes.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            #expect(isPlain)
        }
    }

    /// Checks that the required addresses exist, and that each address is a URL with https.
    private func checkAddresses(_ provider: ProviderUnderTest) throws {
        for name in ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint"] {
            #expect(provider.metadata[name] != nil, "\(name)")
        }
        for name in provider.metadata.keys where name.hasSuffix("_endpoint") || name == "jwks_uri" || name == "issuer" {
            let address = try provider.endpoint(name)
            #expect(address.hasPrefix("https://") && URL(string: address)?.host() == "127.0.0.1", "\(name)")
        }
    }

    @Test("The published keys are public keys with different names, and the RSA keys have 2048 bits or more")
    func publishesDistinctSigningKeys() async throws {
        try await ProviderUnderTest.runSecure { provider in
            let answer = try await provider.send("GET", "jwks_uri")
            #expect(answer.status == 200)
            let keys = try #require(answer.json["keys"]?.array)
            #expect(!keys.isEmpty)
            for key in keys {
                let algorithms = ["RSA": ["RS256", "PS256"], "EC": ["ES256"], "OKP": ["EdDSA"]][key["kty"]?.string ?? ""] ?? []
                #expect(key["use"] == "sig" && algorithms.contains(key["alg"]?.string ?? "") && key["d"] == nil)
                guard key["kty"] == "RSA" else { continue }
                let modulus = try Base64.decode(try #require(key["n"]?.string))
                #expect(modulus.count >= 256 && modulus.first != 0)
            }
            let names = Set(keys.compactMap { $0["kid"]?.string })
            #expect(names.count == keys.count)
        }
    }

    @Test("The discovery document names the address for a logout, with https")
    func discoveryNamesEndSession() async throws {
        try await ProviderUnderTest.runSecure { provider in
            try checkAddresses(provider)
            #expect(try provider.endpoint("end_session_endpoint").hasPrefix(provider.origin))
        }
    }

    @Test("The discovery document offers back-channel logout with session IDs")
    func discoveryOffersBackChannelLogout() async throws {
        try await ProviderUnderTest.runSecure { provider in
            try checkAddresses(provider)
            #expect(provider.metadata["backchannel_logout_supported"] == .bool(true))
            #expect(provider.metadata["backchannel_logout_session_supported"] == .bool(true))
        }
    }
}
