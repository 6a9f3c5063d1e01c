public import SignetCore
public import SignetStorage

/// An authenticator whose passkeys are sealed in a vault.
///
/// Its passkeys are discoverable: a login needs no user name. The private keys are in this process's memory while they sign. They
/// have the protection of the vault, and a process that can open the vault can copy them.
///
/// Each passkey has a signature counter of its own, which is durable before the signature is made. The standard recommends one
/// where keys are less protected than in hardware, because it shows the server that a vault was copied and both copies sign
/// (WebAuthn Level 2 section 6.1.1). A counter for each passkey doesn't link a user's accounts.
///
/// Attestation is `none`; for `direct`, it is a self attestation (`packed`). docs/reference/passkeys.md has the details.
public struct VaultPasskeys: WebAuthnAuthenticator {
    /// The keychain that runs the vault's blocking calls on a thread where blocking is allowed.
    private let keychain: VaultProvider
    private let origin: WebAuthnOrigin
    private let consent: any PasskeyConsent
    private let verification: (any DevicePresence)?
    private let clock: any WallClock
    private let timer: any Clock<Duration>

    /// The kind of this authenticator (WebAuthn Level 2 section 5.4.5).
    static let attachment = "platform"

    /// Creates an authenticator for the passkeys in a vault.
    /// - Parameters:
    ///   - vault: The vault. Stores that don't seal their records aren't accepted.
    ///   - origin: The origin of the server at which the user logs in.
    ///   - consent: The questions to the user.
    ///   - verification: The check that verifies the user, for example by a fingerprint. With nil, the authenticator can't meet a
    ///     request that requires user verification, and says so.
    ///   - clock: The clock for the times of the passkeys.
    ///   - timer: The clock for the timeout of a request.
    public init(
        _ vault: Vault, origin: WebAuthnOrigin, consent: any PasskeyConsent, verification: (any DevicePresence)? = nil,
        clock: any WallClock = SystemWallClock(), timer: any Clock<Duration> = ContinuousClock()
    ) {
        keychain = VaultProvider { () throws(StoreError) in vault }
        self.origin = origin
        self.consent = consent
        self.verification = verification
        self.clock = clock
        self.timer = timer
    }

    /// Creates a passkey (WebAuthn Level 2 section 6.3.2).
    ///
    /// The passkey is durable when this method returns. An earlier passkey of the same user stays, because the server may still
    /// refuse the new one; remove it with ``PasskeyStore/remove(_:)``.
    /// - Parameter request: The user and the requirements for the passkey.
    /// - Returns: The attestation object, the client data and the credential ID.
    /// - Throws: ``WebAuthnError``: ``WebAuthnError/Name/security`` for a relying party of another domain,
    ///   ``WebAuthnError/Name/notSupported``, ``WebAuthnError/Name/constraint`` when user verification is required and impossible,
    ///   ``WebAuthnError/Name/invalidState`` when the vault holds an excluded passkey, ``WebAuthnError/Name/notAllowed``,
    ///   ``WebAuthnError/Name/timeout``; `StoreError`; the errors of the questions; `CancellationError`.
    public func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
        let relyingPartyID = try origin.relyingPartyID(for: request.relyingPartyID)
        guard (1...64).contains(request.userID.count) else {
            throw WebAuthnError(.data, "the user handle must have 1 to 64 bytes")
        }
        guard request.attachment == nil || request.attachment == Self.attachment else {
            throw WebAuthnError(.notAllowed, "the server asks for a security key")
        }
        guard let algorithm = request.algorithms.lazy.compactMap({ PasskeyAlgorithm(rawValue: $0) }).first else {
            throw WebAuthnError(.notSupported, "the server accepts neither ES256 nor EdDSA")
        }
        let verification = try check(for: request.userVerification)
        let make = { @Sendable () async throws -> WebAuthnAttestation in
            try await makePasskey(request, relyingPartyID, algorithm, verification)
        }
        let made = try await withTimeout(request.timeout, on: timer, undoing: { await discard($0) }, make)
        guard let made else { throw Self.tooLate }
        return made
    }

    /// Removes a passkey that the caller never gets, even when the calling task is canceled.
    private func discard(_ made: WebAuthnAttestation) async {
        await Task { [keychain] in _ = try? await PasskeyStore(keychain).remove(made.credentialID) }.value
    }

    private func makePasskey(
        _ request: WebAuthnRegistration, _ relyingPartyID: String, _ algorithm: PasskeyAlgorithm,
        _ verification: Verification?
    ) async throws -> WebAuthnAttestation {
        let excluded = try await candidates(relyingPartyID, request.excludedCredentials, acceptsAll: false)
        if let existing = excluded.first {
            guard try await consent.allows(.reportExisting(existing)) else { throw Self.declined }
            throw WebAuthnError(.invalidState, "the vault already holds a passkey for this account")
        }
        guard try await consent.allows(.create(request, relyingPartyID: relyingPartyID)) else { throw Self.declined }
        try await verify(verification, request.userName)
        let key = PasskeyKey(algorithm)
        let passkey = Passkey(
            id: Secret.random(byteCount: 32).bytes, relyingPartyID: relyingPartyID, relyingPartyName: request.relyingPartyName,
            userID: request.userID, userName: request.userName, displayName: request.displayName, algorithm: algorithm,
            createdAt: clock.now)
        let client = WebAuthnClientData(.create, challenge: request.challenge, origin: origin)
        let data = AuthenticatorDataWriter(isVerified: verification != nil, signatureCount: 0).bytes(
            for: relyingPartyID, creating: passkey.id, publicKey: key.publicKey)
        // A client that gets no attestation statement can't tell the model, so `indirect` is answered like `none` (section 5.4.7).
        let isAttested = ["direct", "enterprise"].contains(request.attestation)
        let object =
            try isAttested
            ? AttestationObject.packed(data, algorithm: algorithm.rawValue, signature: key.signature(of: data + client.hash))
            : AttestationObject.none(data)
        let stored = StoredPasskey(passkey, key)
        try await keychain.write { (records) throws(StoreError) in try PasskeyRecords.add(stored, in: records) }
        return WebAuthnAttestation(
            clientDataJSON: client.json, attestationObject: object, credentialID: passkey.id, attachment: Self.attachment)
    }

    /// Signs with a passkey (WebAuthn Level 2 section 6.3.3).
    /// - Parameter request: The allowed passkeys and the requirements for the signature.
    /// - Returns: The signature with the authenticator data, the client data, the credential ID and the user handle.
    /// - Throws: ``WebAuthnError``: ``WebAuthnError/Name/security`` for a relying party of another domain,
    ///   ``WebAuthnError/Name/notAllowed`` when the vault has no passkey for it or the user refuses,
    ///   ``WebAuthnError/Name/constraint`` when user verification is required and impossible, ``WebAuthnError/Name/timeout``;
    ///   `StoreError`, also when the only passkeys for the request are damaged; the errors of the questions; `CancellationError`.
    public func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
        let relyingPartyID = try origin.relyingPartyID(for: request.relyingPartyID)
        let verification = try check(for: request.userVerification)
        let signing = { @Sendable () async throws -> WebAuthnAssertion in
            try await sign(request, relyingPartyID, verification)
        }
        let signed = try await withTimeout(request.timeout, on: timer, undoing: { _ in }, signing)
        guard let signed else { throw Self.tooLate }
        return signed
    }

    private func sign(
        _ request: WebAuthnAuthentication, _ relyingPartyID: String, _ verification: Verification?
    ) async throws -> WebAuthnAssertion {
        let candidates = try await candidates(
            relyingPartyID, request.allowedCredentials, acceptsAll: request.allowedCredentials.isEmpty)
        guard var passkey = candidates.first else {
            throw WebAuthnError(.notAllowed, "the vault has no passkey for this request")
        }
        if candidates.count > 1 {
            guard let chosen = try await consent.choose(among: candidates), candidates.contains(where: { $0.id == chosen.id })
            else { throw Self.declined }
            passkey = chosen
        }
        guard try await consent.allows(.sign(passkey)) else { throw Self.declined }
        try await verify(verification, passkey.userName)
        let stored = try await counted(passkey)
        let client = WebAuthnClientData(.get, challenge: request.challenge, origin: origin)
        let writer = AuthenticatorDataWriter(
            isVerified: verification != nil, signatureCount: stored.passkey.signatureCount)
        let data = writer.bytes(for: relyingPartyID)
        return WebAuthnAssertion(
            clientDataJSON: client.json, authenticatorData: data, signature: try stored.key.signature(of: data + client.hash),
            credentialID: passkey.id, userHandle: passkey.userID, attachment: Self.attachment)
    }

    /// Counts a signature of a passkey, durably.
    /// - Returns: The passkey with its new counter.
    private func counted(_ passkey: Passkey) async throws -> StoredPasskey {
        let now = clock.now
        let entry = PasskeyRecords.Entry(id: passkey.id, relyingPartyID: passkey.relyingPartyID)
        let stored = try await keychain.write { (records) throws(StoreError) -> StoredPasskey? in
            // Another process may have removed it since.
            guard try PasskeyRecords.entries(in: records).contains(entry) else { return nil }
            var stored = try PasskeyRecords.passkey(entry, in: records)
            guard stored.countSignature(at: now) else { return nil }
            try PasskeyRecords.replace(stored, in: records)
            return stored
        }
        guard let stored else { throw WebAuthnError(.notAllowed, "the passkey was removed, or has signed too often") }
        return stored
    }

    /// Returns the passkeys of a relying party, the newest first.
    /// - Parameters:
    ///   - relyingPartyID: The ID of the relying party.
    ///   - ids: The credential IDs in the request.
    ///   - acceptsAll: True when passkeys with other IDs are returned too.
    /// - Returns: The passkeys that can be read.
    /// - Throws: The error of a damaged passkey when no other one can be read; `StoreError`.
    private func candidates(
        _ relyingPartyID: String, _ ids: [[UInt8]], acceptsAll: Bool
    ) async throws(StoreError) -> [Passkey] {
        let wanted = Set(ids)
        return try await keychain.read { (records) throws(StoreError) in
            var passkeys: [Passkey] = []
            var failure: StoreError?
            for entry in try PasskeyRecords.entries(in: records).reversed()
            where entry.relyingPartyID == relyingPartyID && (acceptsAll || wanted.contains(entry.id)) {
                do throws(StoreError) {
                    passkeys.append(try PasskeyRecords.passkey(entry, in: records).passkey)
                } catch {
                    failure = error
                }
            }
            if let failure, passkeys.isEmpty { throw failure }
            return passkeys
        }
    }

    // MARK: User verification

    /// The check that verifies the user.
    private struct Verification: Sendable {
        let presence: any DevicePresence
        let type: DeviceAuthenticationType
    }

    /// Returns the check for a request; nil for a request that is met without one.
    private func check(for requirement: UserVerification) throws(WebAuthnError) -> Verification? {
        guard requirement != .discouraged else { return nil }
        let types: [DeviceAuthenticationType] = [.biometricOnly, .biometricAllowFallback, .applicationPIN]
        if let verification, let type = types.first(where: { verification.supported.contains($0) }) {
            return Verification(presence: verification, type: type)
        }
        guard requirement != .required else {
            throw WebAuthnError(.constraint, "the server requires user verification, and this device has none")
        }
        return nil
    }

    private func verify(_ verification: Verification?, _ userName: String) async throws {
        guard let verification else { return }
        guard try await verification.presence.confirm(verification.type, username: userName) else {
            throw WebAuthnError(.notAllowed, "the user was not verified")
        }
    }

    private static let declined = WebAuthnError(.notAllowed, "the user declined")
    private static let tooLate = WebAuthnError(.timeout, "the user did not answer in time")
}
