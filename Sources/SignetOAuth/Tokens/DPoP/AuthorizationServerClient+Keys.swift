import SignetCore
import SignetStorage

/// The keys to which tokens are bound (RFC 9449).
extension AuthorizationServerClient {
    /// Creates the key for the tokens of a new grant; nil for a client whose tokens are not bound.
    ///
    /// The key is stored only with the tokens.
    /// - Throws: `StoreError` when the place that the client requires has no keys here.
    func newKey() async throws -> DPoPKey? {
        guard let requirement = try client.dpop.requirement else { return nil }
        let created = try await Blocking.run { [keys] () throws(StoreError) in try keys.create(requirement) }
        let key = try DPoPKey(created)
        remember(key)
        return key
    }

    /// Returns the key for tokens that replace others of the same session: their key, or a new one when it can't be used or is not
    /// where the client requires it.
    func key(replacing old: AccessToken?) async throws -> DPoPKey? {
        let mode = try client.dpop
        guard mode != .none else { return nil }
        if let old, old.binding != nil, let key = try? await self.key(of: old), mode != .hardware || key.key.level == .hardware {
            return key
        }
        return try await newKey()
    }

    /// Returns the key to which a token is bound; nil for a bearer token.
    /// - Throws: ``LostKey`` when the key can never be used again; `StoreError` when it can't be used now.
    func key(of token: AccessToken) async throws -> DPoPKey? {
        guard let binding = token.binding else {
            guard token.isBound else { return nil }
            throw LostKey.missing
        }
        proofs.recall(binding.nonces)
        if let key = opened.withLock({ $0 }), key.key.reference == binding.key { return key }
        do throws(StoreError) {
            let found = try await Blocking.run { [keys] () throws(StoreError) in try keys.open(binding.key) }
            let key = try DPoPKey(found)
            remember(key)
            return key
        } catch {
            throw LostKey.error(for: error)
        }
    }

    /// Keeps a key open, because a key in hardware is slow to open.
    private func remember(_ key: DPoPKey) { opened.withLock { $0 = key } }
}
