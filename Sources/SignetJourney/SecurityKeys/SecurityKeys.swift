#if canImport(CFIDO2) && canImport(Glibc)
import SignetCore
import SignetStorage

/// An authenticator that uses the security keys of this machine, with libfido2.
///
/// The library is loaded when the first request is made: `libfido2.so.1`, of the package `libfido2-1`. The user must be allowed to
/// open the device, which the rules of that package do for the user at the machine.
///
/// The key verifies the user with its fingerprint reader, or with its PIN. Passkeys of the key, their counters and their
/// attestation are its own.
public struct SecurityKeys: WebAuthnAuthenticator {
    private let origin: WebAuthnOrigin
    private let user: any SecurityKeyUser
    private let timer: any Clock<Duration>
    private let ports: @Sendable () throws -> [SecurityKeyPort]

    /// The kind of this authenticator (WebAuthn Level 2 section 5.4.5).
    static let attachment = "cross-platform"

    /// Creates an authenticator for the keys that are connected when a request is made.
    /// - Parameters:
    ///   - origin: The origin of the server at which the user logs in.
    ///   - user: The dialog with the user.
    ///   - timer: The clock for the timeout of a request.
    public init(origin: WebAuthnOrigin, user: any SecurityKeyUser, timer: any Clock<Duration> = ContinuousClock()) {
        self.init(origin: origin, user: user, timer: timer) { try LibFIDO2.load().connectedKeys() }
    }

    /// Creates an authenticator for other keys than the connected ones.
    package init(
        origin: WebAuthnOrigin, user: any SecurityKeyUser, timer: any Clock<Duration> = ContinuousClock(),
        ports: @escaping @Sendable () throws -> [SecurityKeyPort]
    ) {
        self.origin = origin
        self.user = user
        self.timer = timer
        self.ports = ports
    }

    /// Creates a passkey on a security key (WebAuthn Level 2 section 5.1.3).
    /// - Parameter request: The user and the requirements for the passkey.
    /// - Returns: The attestation object, the client data and the credential ID. The attestation of the key is included only when the
    ///   server requests `direct` or `enterprise`.
    /// - Throws: ``WebAuthnError``, as ``VaultPasskeys/register(_:)`` does; the errors of the dialog; `CancellationError`.
    public func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
        let relyingPartyID = try origin.relyingPartyID(for: request.relyingPartyID)
        guard (1...64).contains(request.userID.count) else {
            throw WebAuthnError(.data, "the user handle must have 1 to 64 bytes")
        }
        guard request.attachment == nil || request.attachment == Self.attachment else {
            throw WebAuthnError(.notAllowed, "the server asks for an authenticator of this device")
        }
        let client = WebAuthnClientData(.create, challenge: request.challenge, origin: origin)
        let made = try await within(request.timeout) {
            let key = try await chosenKey(request.timeout)
            let verification = try key.verification(for: request.userVerification, creates: true)
            return try await perform(key, verification, relyingPartyID, client, request.timeout) {
                (open, order) throws(SecurityKeyFailure) in try open.make(order, request)
            }
        }
        return WebAuthnAttestation(
            clientDataJSON: client.json, attestationObject: Self.attestation(of: made, request.attestation),
            credentialID: made.id, attachment: Self.attachment)
    }

    /// Signs with a passkey of a security key (WebAuthn Level 2 section 5.1.4).
    /// - Parameter request: The allowed passkeys and the requirements for the signature.
    /// - Returns: The signature with the authenticator data, the client data, the credential ID and the user handle.
    /// - Throws: ``WebAuthnError``, as ``VaultPasskeys/authenticate(_:)`` does; the errors of the dialog; `CancellationError`.
    public func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
        let relyingPartyID = try origin.relyingPartyID(for: request.relyingPartyID)
        let client = WebAuthnClientData(.get, challenge: request.challenge, origin: origin)
        let signed = try await within(request.timeout) {
            let key = try await chosenKey(request.timeout)
            let verification = try key.verification(for: request.userVerification, creates: false)
            let signatures = try await perform(key, verification, relyingPartyID, client, request.timeout) {
                (open, order) throws(SecurityKeyFailure) in try open.sign(order, request)
            }
            return try await chosen(among: signatures)
        }
        return WebAuthnAssertion(
            clientDataJSON: client.json, authenticatorData: signed.authenticatorData, signature: signed.signature,
            credentialID: signed.account.credentialID,
            userHandle: signed.account.userID.isEmpty ? nil : signed.account.userID, attachment: Self.attachment)
    }

    private func chosen(among signatures: [SecurityKeySignature]) async throws -> SecurityKeySignature {
        guard let first = signatures.first else {
            throw WebAuthnError(.notAllowed, "the security key has no passkey for this request")
        }
        guard signatures.count > 1 else { return first }
        guard let account = try await user.choose(among: signatures.map(\.account)),
            let chosen = signatures.first(where: { $0.account == account })
        else { throw Self.declined }
        return chosen
    }

    /// Returns the attestation object that the server gets (WebAuthn Level 2 section 5.1.3, step 22).
    private static func attestation(of made: NewSecurityKeyPasskey, _ requested: String) -> [UInt8] {
        if ["direct", "enterprise"].contains(requested) {
            return AttestationObject.bytes(format: made.format, statement: made.statement, made.authenticatorData)
        }
        // Without attestation, the server doesn't learn the model of the key: its AAGUID is zero.
        var data = made.authenticatorData
        if data.count >= 53 { data.replaceSubrange(37..<53, with: repeatElement(0, count: 16)) }
        return AttestationObject.none(data)
    }

    // MARK: Keys

    /// A security key and its abilities.
    private struct ChosenKey: Sendable {
        let port: SecurityKeyPort
        let abilities: SecurityKeyAbilities

        /// The verification of the user for an operation.
        enum Verification: Sendable {
            case none, builtIn, pin
        }

        /// Returns the verification for a request.
        ///
        /// A key with a PIN creates passkeys only with it (CTAP 2.0 section 5.5.8.2).
        func verification(for requirement: UserVerification, creates: Bool) throws(WebAuthnError) -> Verification {
            if abilities.hasUserVerification, requirement != .discouraged { return .builtIn }
            if abilities.hasPIN, creates || requirement != .discouraged { return .pin }
            guard requirement != .required else {
                throw WebAuthnError(.constraint, "the server requires user verification, and the security key has no PIN")
            }
            return .none
        }
    }

    private func chosenKey(_ timeout: Duration) async throws -> ChosenKey {
        let ports = try ports()
        guard var port = ports.first else { throw WebAuthnError(.notAllowed, "no security key is connected") }
        if ports.count > 1 {
            guard let key = try await user.choose(among: ports.map(\.key)), let chosen = ports.first(where: { $0.key == key })
            else { throw Self.declined }
            port = chosen
        }
        let abilities = try await onThread(nil) { [port] (library) throws(SecurityKeyFailure) in
            try OpenSecurityKey(port, library, timeout: timeout).abilities
        }
        guard abilities.isFIDO2 else { throw WebAuthnError(.notSupported, "the security key does not support FIDO2") }
        return ChosenKey(port: port, abilities: abilities)
    }

    /// Performs an operation, with the PIN if it is needed, and again after a wrong PIN.
    private func perform<Value: Sendable>(
        _ key: ChosenKey, _ verification: ChosenKey.Verification, _ relyingPartyID: String, _ client: WebAuthnClientData,
        _ timeout: Duration,
        _ operation: @escaping @Sendable (OpenSecurityKey, SecurityKeyOrder) throws(SecurityKeyFailure) -> Value
    ) async throws -> Value {
        var order = SecurityKeyOrder(
            relyingPartyID: relyingPartyID, clientDataHash: client.hash, usesBuiltInVerification: verification == .builtIn)
        var attempts = key.abilities.pinAttempts
        var isAgain = false
        while true {
            if verification == .pin {
                guard let pin = try await user.pin(of: key.port.key, attempts: attempts, isAgain: isAgain) else {
                    throw Self.declined
                }
                order.pin = pin
            }
            await user.touch(key.port.key, for: relyingPartyID)
            let cancellation = SecurityKeyCancellation()
            do {
                return try await onThread(cancellation) { [order] (library) throws(SecurityKeyFailure) in
                    let open = try OpenSecurityKey(key.port, library, timeout: timeout, cancellation: cancellation)
                    return try operation(open, order)
                }
            } catch let failure as SecurityKeyFailure {
                guard failure.isWrongPIN, verification == .pin else { throw failure }
                attempts = attempts.map { max($0 - 1, 0) }
                isAgain = true
            }
        }
    }

    // MARK: Time and threads

    private static let declined = WebAuthnError(.notAllowed, "the user declined")

    /// Runs `body` within the time of a request.
    private func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            guard let value = try await withTimeout(limit, on: timer, undoing: { _ in }, body) else {
                throw WebAuthnError(.timeout, "the user did not answer in time")
            }
            return value
        } catch let failure as SecurityKeyFailure {
            throw failure.webAuthnError
        }
    }

    /// Runs a blocking call of the library on a thread of its own, and cancels it with the task.
    private func onThread<Value: Sendable>(
        _ cancellation: SecurityKeyCancellation?,
        _ body: @escaping @Sendable (LibFIDO2) throws(SecurityKeyFailure) -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            let outcome = try await Blocking.run { () throws(StoreError) -> Result<Value, any Error> in
                Result { try body(LibFIDO2.load()) }
            }
            return try outcome.get()
        } onCancel: {
            cancellation?.cancel()
        }
    }
}
#endif
