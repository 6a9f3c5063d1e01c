import SignetCore

extension DiscoveryController {
    /// Returns the metadata of pushed requests (RFC 9126 section 5), DPoP (RFC 9449 section 5.1) and CIBA (section 4).
    static func extensions(
        in realm: RealmPath, _ clients: ClientRegistry, _ time: RequestTime
    ) -> [String: JSONValue] {
        let own = clients.all.filter { $0.key.realm == realm }
        let algorithms = JSONValue.texts(ReceivedProof.algorithms.map(\.rawValue))
        return [
            "pushed_authorization_request_endpoint": .string(time.url(.pushedAuthorization, in: realm)),
            "require_pushed_authorization_requests": .bool(!own.isEmpty && own.allSatisfy(\.requiresPushedRequests)),
            "dpop_signing_alg_values_supported": algorithms,
            "backchannel_authentication_endpoint": .string(time.url(.backchannelAuthorization, in: realm)),
            "backchannel_token_delivery_modes_supported": .texts(["poll"]),
            "backchannel_authentication_request_signing_alg_values_supported": .texts(JWSAlgorithm.allCases.map(\.rawValue)),
            "backchannel_user_code_parameter_supported": .bool(false),
        ]
    }
}
