public import SignetCore
public import SignetJourney

/// Asks for a passkey: to make one, or to sign with one. It is metadata on the wire, and its answer goes into a hidden value of the
/// same step.
public class WebAuthnCallback: MetadataCallback {
    /// What the passkey signs, in base64.
    public final var challenge: String { member("challenge") }

    final func member(_ name: String) -> String { wire.output("data")?[name]?.string ?? "" }

    final class func request(in callback: JourneyCallback) -> WebAuthnRequest? {
        WebAuthnRequest(JourneyStep(authId: "", callbacks: [callback]))
    }
}

/// Asks for a new passkey.
public final class WebAuthnRegistrationCallback: WebAuthnCallback {
    private let request: WebAuthnRegistration

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it asks for something else, or lacks what it cannot do without.
    public required init(_ callback: JourneyCallback) throws {
        guard case .registration(let request)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.request = request
        try super.init(callback)
    }

    /// For whom the passkey is good: a domain. Empty when the server leaves it to the page, which an app does not have.
    public var relyingPartyId: String { request.relyingPartyID ?? "" }
    /// The name of the same, to show.
    public var relyingPartyName: String { request.relyingPartyName }
    /// Whose passkey it is going to be, in base64.
    public var userId: String { member("userId") }
    /// The person's name on the server.
    public var userName: String { request.userName }
    /// The person's name, to show.
    public var displayName: String { request.displayName }
    /// What the device is to say of itself: `none`, `indirect` or `direct`.
    public var attestationPreference: String { request.attestation }
    /// The kinds of keys that the server can check, as COSE numbers.
    public var pubKeyCredAlg: [Int] { request.algorithms }
    /// How the person is to be checked.
    public var userVerification: UserVerification { request.userVerification }
    /// Whether the passkey must be found without the server's naming it.
    public var requireResidentKey: Bool { request.residentKey == "required" }
    /// `platform` or `cross-platform`; nil for either.
    public var authenticatorAttachment: String? { request.attachment }
    /// The passkeys that there are already.
    public var excludeCredentials: [[UInt8]] { request.excludedCredentials }
    /// How many milliseconds the person has.
    public var timeout: Int { Int(request.timeout / .milliseconds(1)) }
    /// Whether the answer may be JSON.
    public var supportsJsonResponse: Bool { request.acceptsJSON }

    /// Has a passkey made, and enters what came of it into the step: also a failure, which the server is told.
    /// - Parameters:
    ///   - node: the step that this callback is of.
    ///   - authenticator: what makes passkeys; nil tells the server that nothing here can.
    ///   - deviceName: what the person calls the device.
    /// - Returns: what was entered.
    /// - Throws: `CallbackError` when the step has no room for the answer; `CancellationError`.
    @discardableResult
    public func register(
        node: Node, authenticator: (any WebAuthnAuthenticator)?, deviceName: String? = nil
    ) async throws -> WebAuthnOutcome {
        try await node.answer { try await $0.answerWebAuthn(with: authenticator, deviceName: deviceName) }
    }
}

/// Asks for the signature of a passkey.
public final class WebAuthnAuthenticationCallback: WebAuthnCallback {
    private let request: WebAuthnAuthentication

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it asks for something else, or lacks what it cannot do without.
    public required init(_ callback: JourneyCallback) throws {
        guard case .authentication(let request)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.request = request
        try super.init(callback)
    }

    /// For whom the passkey is good: a domain. Empty when the server leaves it to the page, which an app does not have.
    public var relyingPartyId: String { request.relyingPartyID ?? "" }
    /// The passkeys that may sign; empty when any will do.
    public var allowCredentials: [[UInt8]] { request.allowedCredentials }
    /// How the person is to be checked.
    public var userVerification: UserVerification { request.userVerification }
    /// How many milliseconds the person has.
    public var timeout: Int { Int(request.timeout / .milliseconds(1)) }
    /// Whether the answer may be JSON.
    public var supportsJsonResponse: Bool { request.acceptsJSON }

    /// Has a passkey sign, and enters what came of it into the step: also a failure, which the server is told.
    /// - Parameters:
    ///   - node: the step that this callback is of.
    ///   - authenticator: what signs; nil tells the server that nothing here can.
    /// - Returns: what was entered.
    /// - Throws: `CallbackError` when the step has no room for the answer; `CancellationError`.
    @discardableResult
    public func authenticate(node: Node, authenticator: (any WebAuthnAuthenticator)?) async throws -> WebAuthnOutcome {
        try await node.answer { try await $0.answerWebAuthn(with: authenticator) }
    }
}
