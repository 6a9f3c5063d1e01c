extension ConfigurationDecoder {
    /// Decodes the settings of DPoP proofs.
    mutating func dpop(_ defaults: DPoPSettings) -> DPoPSettings {
        section("dpop", kind: "settings of DPoP proofs") { part in
            DPoPSettings {
                $0.requiresNonce = part.bool("requireNonce", defaults.requiresNonce)
                $0.nonceLifetime = part.integer("nonceLifetime", defaults.nonceLifetime, in: 1...86_400)
            }
        } ?? defaults
    }
}
