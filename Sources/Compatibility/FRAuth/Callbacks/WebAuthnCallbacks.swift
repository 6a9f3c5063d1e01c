import Foundation
import SignetCore
import SignetJourney

/// Asks for a new passkey.
///
/// A request for a security key of another kind than the device's own reaches the app as a ``MetadataCallback``: answer it with
/// ``Node/answer(_:)``.
open class WebAuthnRegistrationCallback: WebAuthnCallback {
    /// The type of the metadata, `WebAuthn`.
    public final var _type: String
    /// The relying party's name, to show.
    public final var relyingPartyName: String
    /// The attestation that the server asks for.
    public final var attestationPreference: WAAttestationPreference
    /// The user's name, to show.
    public final var displayName: String
    /// The relying party's identifier: the domain that the passkey is valid for.
    ///
    /// Empty when the server leaves it to a web page, which an app does not have.
    public final var relyingPartyId: String
    /// The user's name on the server.
    public final var userName: String
    /// The identifier of the user that the passkey is for, in base64.
    public final var userId: String
    /// The number of milliseconds that the user has.
    public final var timeout: Int
    /// The identifiers of the passkeys that the user already has.
    public final var excludeCredentials: [[UInt8]]
    /// The signature algorithms that the server can verify, as the server writes them.
    public final var pubKeyCredParams: [[String: Any]]
    /// The challenge that the passkey signs, in base64.
    public final var challenge: String
    /// The check of the user that the server asks for.
    public final var userVerification: WAUserVerification
    /// True when the passkey must be discoverable: usable without an identifier from the server.
    public final var requireResidentKey: Bool
    /// The kind of authenticator that the server asks for.
    public final var authenticatorAttachment: WAAuthenticatorAttachment
    /// The object that asks the user before a passkey is created; nil when the authenticator asks.
    public final weak var delegate: (any PlatformAuthenticatorRegistrationDelegate)?

    /// The signature algorithms that the server can verify, as COSE algorithm numbers.
    public final var pubKeyCredAlg: [Int] { pubKeyCredParams.compactMap { $0["alg"] as? Int } }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the request lacks a part, can't be read, or asks for an authenticator
    ///   that is not the device's own.
    public required init(json: [String: Any]) throws {
        let members = try PasskeyMembers(JourneyCallback(untyped: json), action: "webauthn_registration")
        relyingPartyName = try members.text("relyingPartyName")
        attestationPreference = try members.value(
            members["attestationPreference"]?.string.flatMap(WAAttestationPreference.init), "attestationPreference")
        displayName = try members.text("displayName")
        userName = try members.text("userName")
        userId = try members.base64("userId")
        guard let type = members["_type"]?.string else { throw AuthError.invalidCallbackResponse("Missing or invalid _type") }
        _type = type
        timeout = try members.milliseconds()
        challenge = try members.base64("challenge")
        relyingPartyId = try members.relyingParty("id")
        let selection = try members.authenticatorSelection()
        requireResidentKey = selection["requireResidentKey"]?.lenientBool ?? false
        userVerification = selection["userVerification"]?.string.flatMap(WAUserVerification.init) ?? .preferred
        authenticatorAttachment =
            selection["authenticatorAttachment"]?.string.flatMap(WAAuthenticatorAttachment.init) ?? .unspecified
        guard authenticatorAttachment != .crossPlatform else {
            throw AuthError.invalidCallbackResponse("Unsupported Authenticator Attachment type")
        }
        pubKeyCredParams = try members.algorithms()
        guard case .registration(let request)? = members.request else {
            throw AuthError.invalidCallbackResponse("Invalid excludeCredentials byte")
        }
        excludeCredentials = request.excludedCredentials
        try super.init(json: json)
        supportsJsonResponse = request.acceptsJSON
        self.type = "WebAuthnRegistrationCallback"
    }

    /// The request with the values that the app changed.
    private func request() throws(AuthError) -> JourneyStep {
        let selection: [String: JSONValue] = [
            "requireResidentKey": .bool(requireResidentKey), "userVerification": .string(userVerification.rawValue),
        ]
        let attachment: [String: JSONValue] =
            authenticatorAttachment == .unspecified ? [:] : ["authenticatorAttachment": .string(authenticatorAttachment.rawValue)]
        return try request(changing: [
            "challenge": .string(challenge), "userId": .string(userId), "userName": .string(userName),
            "displayName": .string(displayName), "relyingPartyName": .string(relyingPartyName),
            "_relyingPartyId": .string(relyingPartyId), "attestationPreference": .string(attestationPreference.rawValue),
            "timeout": .integer(Int64(timeout)), "supportsJsonResponse": .bool(supportsJsonResponse),
            "_excludeCredentials": PasskeyMembers.json(of: excludeCredentials),
            "_pubKeyCredParams": JSONValue(any: pubKeyCredParams) ?? .array([]),
            "_authenticatorSelection": .object(selection.merging(attachment) { $1 }), "_action": .string("webauthn_registration"),
        ])
    }

    /// Creates a passkey and enters the result into the step.
    ///
    /// A failure is entered too, so that the server learns about it.
    /// - Parameters:
    ///   - node: The step that has this callback.
    ///   - authenticator: The authenticator that creates passkeys. Nil tells the server that the device has no authenticator.
    ///   - deviceName: The user's name for the device.
    /// - Returns: The result that was entered.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the step has no input for the answer; `CancellationError` when the
    ///   task is canceled.
    @discardableResult
    public final func register(
        node: Node, authenticator: (any WebAuthnAuthenticator)?, deviceName: String? = nil
    ) async throws -> WebAuthnOutcome {
        try await enterOutcome(of: request(), authenticator, deviceName: deviceName, into: node)
    }

    /// Creates a passkey with ``WebAuthnCallback/authenticator``, enters the result or the failure into the step, and calls one of the
    /// closures once, on the global executor.
    /// - Parameters:
    ///   - node: The step that has this callback; nil when the app itself enters the result.
    ///   - deviceName: The user's name for the device.
    ///   - usePasskeysIfAvailable: Has no effect, because the app's authenticator decides what it creates.
    ///   - onSuccess: Receives the result in the form that the server expects.
    ///   - onError: Receives a ``WebAuthnError``.
    public final func register(
        node: Node? = nil, deviceName: String? = nil, usePasskeysIfAvailable: Bool = true,
        onSuccess: @escaping @Sendable (String) -> Void, onError: @escaping @Sendable (any Error) -> Void
    ) {
        let (hidden, authenticator, step): (LateOutcome?, (any WebAuthnAuthenticator)?, JourneyStep)
        do {
            (hidden, authenticator, step) = (node?.webAuthnOutcome, self.authenticator, try request())
        } catch {
            return onError(error)
        }
        let create: @Sendable () -> Void = {
            Self.report(
                of: step, authenticator, deviceName: deviceName, to: hidden, onSuccess: onSuccess, onError: onError)
        }
        guard let delegate, authenticator != nil else { return create() }
        delegate.createNewCredentialConsent(
            keyName: userName, rpName: relyingPartyName, rpId: relyingPartyId, userName: userName, userDisplayName: displayName
        ) { result in
            guard result == .reject else { return create() }
            let refusal = WebAuthnError.notAllowed(platformError: nil, message: nil)
            hidden?.text = refusal.convertToWebAuthnOutcome()
            onError(refusal)
        }
    }
}

/// Asks for the signature of a passkey.
open class WebAuthnAuthenticationCallback: WebAuthnCallback {
    /// The type of the metadata, `WebAuthn`.
    public final var _type: String
    /// The check of the user that the server asks for.
    public final var userVerification: WAUserVerification
    /// The challenge that the passkey signs, in base64.
    public final var challenge: String
    /// The relying party's identifier: the domain that the passkey is valid for.
    ///
    /// Empty when the server leaves it to a web page, which an app does not have.
    public final var relyingPartyId: String
    /// The identifiers of the passkeys that may sign; empty when any passkey may sign.
    public final var allowCredentials: [[UInt8]]
    /// The number of milliseconds that the user has.
    public final var timeout: Int
    /// An object of the app for the ForgeRock SDK's own passkeys.
    ///
    /// It is never called: the app's authenticator lets the user select a passkey.
    public final weak var delegate: (any PlatformAuthenticatorAuthenticationDelegate)?

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the request lacks a part or can't be read.
    public required init(json: [String: Any]) throws {
        let members = try PasskeyMembers(JourneyCallback(untyped: json), action: "webauthn_authentication")
        _type = try members.text("_type")
        challenge = try members.base64("challenge")
        timeout = try members.milliseconds()
        userVerification = try members.value(
            members["userVerification"]?.string.flatMap(WAUserVerification.init), "userVerification")
        relyingPartyId = try members.relyingParty("rpId")
        let listed = members.either("allowCredentials")
        _ = try members.value(members.isNewer ? listed?.array.map { _ in "" } : listed?.string, "allowCredentials")
        guard case .authentication(let request)? = members.request else {
            throw AuthError.invalidCallbackResponse("Invalid allowCredentials byte")
        }
        allowCredentials = request.allowedCredentials
        try super.init(json: json)
        supportsJsonResponse = request.acceptsJSON
        self.type = "WebAuthnAuthenticationCallback"
    }

    /// The request with the values that the app changed.
    private func request() throws(AuthError) -> JourneyStep {
        try request(changing: [
            "challenge": .string(challenge), "userVerification": .string(userVerification.rawValue),
            "_relyingPartyId": .string(relyingPartyId), "timeout": .integer(Int64(timeout)),
            "supportsJsonResponse": .bool(supportsJsonResponse),
            "_allowCredentials": PasskeyMembers.json(of: allowCredentials), "_action": .string("webauthn_authentication"),
        ])
    }

    /// Signs with a passkey and enters the result into the step.
    ///
    /// A failure is entered too, so that the server learns about it.
    /// - Parameters:
    ///   - node: The step that has this callback.
    ///   - authenticator: The authenticator that signs. Nil tells the server that the device has no authenticator.
    /// - Returns: The result that was entered.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the step has no input for the answer; `CancellationError` when the
    ///   task is canceled.
    @discardableResult
    public final func authenticate(node: Node, authenticator: (any WebAuthnAuthenticator)?) async throws -> WebAuthnOutcome {
        try await enterOutcome(of: request(), authenticator, deviceName: nil, into: node)
    }

    /// Signs with ``WebAuthnCallback/authenticator``, enters the result or the failure into the step, and calls one of the closures
    /// once, on the global executor.
    /// - Parameters:
    ///   - node: The step that has this callback; nil when the app itself enters the result.
    ///   - preferImmediatelyAvailableCredentials: Has no effect, because the app's authenticator selects the passkey.
    ///   - usePasskeysIfAvailable: Has no effect, because the app's authenticator selects the passkey.
    ///   - onSuccess: Receives the result in the form that the server expects.
    ///   - onError: Receives a ``WebAuthnError``.
    public final func authenticate(
        node: Node? = nil, preferImmediatelyAvailableCredentials: Bool = false, usePasskeysIfAvailable: Bool = true,
        onSuccess: @escaping @Sendable (String) -> Void, onError: @escaping @Sendable (any Error) -> Void
    ) {
        do {
            Self.report(
                of: try request(), authenticator, deviceName: nil, to: node?.webAuthnOutcome, onSuccess: onSuccess,
                onError: onError)
        } catch {
            onError(error)
        }
    }
}

extension PasskeyMembers {
    /// Returns identifiers of passkeys as AM 7.1 and later write them.
    static func json(of credentials: [[UInt8]]) -> JSONValue {
        .array(
            credentials.map { bytes in
                .object([
                    "type": .string("public-key"), "id": .array(bytes.map { .integer(Int64(Int8(bitPattern: $0))) }),
                ])
            })
    }

    /// Returns the requirements for the authenticator.
    ///
    /// The older form is JSON in a string, which may be unreadable.
    fileprivate func authenticatorSelection() throws(AuthError) -> [String: JSONValue] {
        let member = either("authenticatorSelection")
        if isNewer { return try value(member?.object, "authenticatorSelection") }
        let text = try value(member?.string, "authenticatorSelection")
        return (try? JSON.value(of: text.utf8))?.object ?? [:]
    }

    /// Returns the signature algorithms.
    ///
    /// The older form is JSON in a string. COSE numbers of signature algorithms are negative (RFC 9053 section 2).
    fileprivate func algorithms() throws(AuthError) -> [[String: Any]] {
        let member = either("pubKeyCredParams")
        let listed: [JSONValue]
        if isNewer {
            guard let array = member?.array else { throw .invalidCallbackResponse("Invalid pubKeyCredParams format") }
            listed = array
        } else {
            let text = member?.string ?? ""
            let array = (try? JSON.value(of: text.utf8))?.array
            listed = try value(array?.isEmpty == false ? array : nil, "pubKeyCredParams")
        }
        let isValid = listed.allSatisfy { $0["type"]?.string == "public-key" && ($0["alg"]?.lenientInteger ?? 0) < 0 }
        guard isValid else { throw .invalidCallbackResponse("Invalid pubKeyCredParams format") }
        return listed.map { $0.object?.mapValues(\.any) ?? [:] }
    }
}
