public import SignetCore
public import SignetJourney

/// Asks the app to create a passkey or to sign with one.
///
/// The server sends it as metadata, and its answer goes into a hidden value of the same step.
public class WebAuthnCallback: MetadataCallback {
    /// The challenge that the passkey signs, in base64.
    public final var challenge: String { member("challenge") }

    final func member(_ name: String) -> String { output("data")?[name]?.string ?? "" }

    final class func request(in callback: JourneyCallback) -> WebAuthnRequest? {
        WebAuthnRequest(JourneyStep(authId: "", callbacks: [callback]))
    }
}

/// Asks for a new passkey.
public final class WebAuthnRegistrationCallback: WebAuthnCallback {
    private let request: WebAuthnRegistration

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else or lacks a required part.
    public required init(_ callback: JourneyCallback) throws {
        guard case .registration(let request)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.request = request
        try super.init(callback)
    }

    /// The relying party's identifier: the domain that the passkey is valid for.
    ///
    /// Empty when the server leaves it to a web page, which an app does not have.
    public var relyingPartyId: String { request.relyingPartyID ?? "" }
    /// The relying party's name, to show.
    public var relyingPartyName: String { request.relyingPartyName }
    /// The identifier of the user that the passkey is for, in base64.
    public var userId: String { member("userId") }
    /// The user's name on the server.
    public var userName: String { request.userName }
    /// The user's name, to show.
    public var displayName: String { request.displayName }
    /// The attestation that the server asks for: `none`, `indirect` or `direct`.
    public var attestationPreference: String { request.attestation }
    /// The signature algorithms that the server can verify, as COSE algorithm numbers.
    public var pubKeyCredAlg: [Int] { request.algorithms }
    /// The check of the user that the server asks for.
    public var userVerification: UserVerification { request.userVerification }
    /// True when the passkey must be discoverable: usable without an identifier from the server.
    public var requireResidentKey: Bool { request.residentKey == "required" }
    /// The kind of authenticator, `platform` or `cross-platform`; nil when either may be used.
    public var authenticatorAttachment: String? { request.attachment }
    /// The identifiers of the passkeys that the user already has.
    public var excludeCredentials: [[UInt8]] { request.excludedCredentials }
    /// The number of milliseconds that the user has.
    public var timeout: Int { Int(request.timeout / .milliseconds(1)) }
    /// True when the server accepts the answer as JSON.
    public var supportsJsonResponse: Bool { request.acceptsJSON }

    /// Creates a passkey and enters the result into the step.
    ///
    /// A failure is entered too, so that the server learns about it.
    /// - Parameters:
    ///   - node: The step that has this callback.
    ///   - authenticator: The authenticator that creates passkeys. Nil tells the server that the device has no authenticator.
    ///   - deviceName: The user's name for the device.
    /// - Returns: The result that was entered.
    /// - Throws: `CallbackError` when the step has no input for the answer; `CancellationError` when the task is canceled.
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
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else or lacks a required part.
    public required init(_ callback: JourneyCallback) throws {
        guard case .authentication(let request)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.request = request
        try super.init(callback)
    }

    /// The relying party's identifier: the domain that the passkey is valid for.
    ///
    /// Empty when the server leaves it to a web page, which an app does not have.
    public var relyingPartyId: String { request.relyingPartyID ?? "" }
    /// The identifiers of the passkeys that may sign; empty when any passkey may sign.
    public var allowCredentials: [[UInt8]] { request.allowedCredentials }
    /// The check of the user that the server asks for.
    public var userVerification: UserVerification { request.userVerification }
    /// The number of milliseconds that the user has.
    public var timeout: Int { Int(request.timeout / .milliseconds(1)) }
    /// True when the server accepts the answer as JSON.
    public var supportsJsonResponse: Bool { request.acceptsJSON }

    /// Signs with a passkey and enters the result into the step.
    ///
    /// A failure is entered too, so that the server learns about it.
    /// - Parameters:
    ///   - node: The step that has this callback.
    ///   - authenticator: The authenticator that signs. Nil tells the server that the device has no authenticator.
    /// - Returns: The result that was entered.
    /// - Throws: `CallbackError` when the step has no input for the answer; `CancellationError` when the task is canceled.
    @discardableResult
    public func authenticate(node: Node, authenticator: (any WebAuthnAuthenticator)?) async throws -> WebAuthnOutcome {
        try await node.answer { try await $0.answerWebAuthn(with: authenticator) }
    }
}
