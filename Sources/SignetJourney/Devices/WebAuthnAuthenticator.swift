public import SignetCore

/// What makes passkeys and signs with them. The app brings it: a security key over USB, a phone, the platform's own.
public protocol WebAuthnAuthenticator: Sendable {
    /// Makes a passkey.
    /// - Parameter request: for whom, and how.
    /// - Throws: ``WebAuthnError``; anything else is told the server as `UnknownError`.
    func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation
    /// Signs with a passkey.
    /// - Parameter request: with which, and how.
    /// - Throws: ``WebAuthnError``; anything else is told the server as `UnknownError`.
    func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion
}

/// A passkey that was made.
public struct WebAuthnAttestation: Sendable, Hashable {
    /// The client data that were signed, as JSON in the bytes that were hashed.
    public var clientDataJSON: [UInt8]
    /// The attestation object, as CBOR.
    public var attestationObject: [UInt8]
    /// The passkey's id.
    public var credentialID: [UInt8]
    /// What kind of device it is in: `platform` or `cross-platform`; nil when it is not known.
    public var attachment: String?

    /// A passkey as given.
    public init(clientDataJSON: [UInt8], attestationObject: [UInt8], credentialID: [UInt8], attachment: String? = nil) {
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.credentialID = credentialID
        self.attachment = attachment
    }
}

/// A signature of a passkey.
public struct WebAuthnAssertion: Sendable, Hashable {
    /// The client data that were signed, as JSON in the bytes that were hashed.
    public var clientDataJSON: [UInt8]
    /// The authenticator data that were signed.
    public var authenticatorData: [UInt8]
    /// The signature.
    public var signature: [UInt8]
    /// The passkey's id.
    public var credentialID: [UInt8]
    /// Whose passkey it is; nil when the device does not say.
    public var userHandle: [UInt8]?
    /// What kind of device it is in: `platform` or `cross-platform`; nil when it is not known.
    public var attachment: String?

    /// A signature as given.
    public init(
        clientDataJSON: [UInt8], authenticatorData: [UInt8], signature: [UInt8], credentialID: [UInt8],
        userHandle: [UInt8]? = nil, attachment: String? = nil
    ) {
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.credentialID = credentialID
        self.userHandle = userHandle
        self.attachment = attachment
    }
}

/// Why there is no passkey or no signature, by the names that browsers have for it (WebAuthn section 5, WebIDL section 2.8.1).
public struct WebAuthnError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The names.
    public enum Name: String, Sendable, CaseIterable {
        /// Given up.
        case abort = "AbortError"
        /// The device cannot do what is required of it.
        case constraint = "ConstraintError"
        /// The data are not what they should be.
        case data = "DataError"
        /// The data cannot be written.
        case encoding = "EncodingError"
        /// The device holds a passkey already.
        case invalidState = "InvalidStateError"
        /// The device cannot be reached.
        case network = "NetworkError"
        /// The person said no.
        case notAllowed = "NotAllowedError"
        /// No key of the kinds that are asked for can be made.
        case notSupported = "NotSupportedError"
        /// The domain is not the app's.
        case security = "SecurityError"
        /// It took too long.
        case timeout = "TimeoutError"
        /// Something else.
        case unknown = "UnknownError"
    }

    /// The name.
    public let name: Name
    /// What is wrong, in words that the server may have.
    public let message: String

    /// An error as given.
    public init(_ name: Name, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The name and the message.
    public var description: String { "\(name.rawValue): \(message)" }
}

/// What is written into the `HiddenValueCallback` of a step that asks for a passkey (protocol/journey.md section 2.7).
public enum WebAuthnOutcome: Sendable, Hashable {
    /// A passkey was made; the name is what the person calls the device, nil for none.
    case attestation(WebAuthnAttestation, deviceName: String?)
    /// A passkey has signed.
    case assertion(WebAuthnAssertion)
    /// There is nothing here that could.
    case unsupported
    /// There is none.
    case failure(WebAuthnError)

    /// The id of the callback.
    public static let callbackID = "webAuthnOutcome"

    /// As it is written.
    /// - Parameter json: whether the server takes JSON, ``WebAuthnRegistration/acceptsJSON``.
    public func text(json: Bool = false) -> String {
        switch self {
        case .unsupported: return "unsupported"
        case .failure(let error): return "ERROR::\(error.name.rawValue):\(error.message)"
        case .attestation(let made, let name):
            var parts = [
                String(decoding: made.clientDataJSON, as: UTF8.self), Self.numbers(made.attestationObject),
                Base64.encode(made.credentialID, as: .url),
            ]
            // Two colons would begin another part.
            if let name, !name.isEmpty { parts.append(name.replacing("::", with: ":")) }
            return Self.text(parts, made.attachment, json: json)
        case .assertion(let signed):
            var parts = [
                String(decoding: signed.clientDataJSON, as: UTF8.self), Self.numbers(signed.authenticatorData),
                Self.numbers(signed.signature), Base64.encode(signed.credentialID, as: .url),
            ]
            if let handle = signed.userHandle, !handle.isEmpty { parts.append(String(decoding: handle, as: UTF8.self)) }
            return Self.text(parts, signed.attachment, json: json)
        }
    }

    private static func text(_ parts: [String], _ attachment: String?, json: Bool) -> String {
        let plain = parts.joined(separator: "::")
        guard json else { return plain }
        let attachment = attachment.map { JSONValue.string($0) } ?? .null
        return JSON.text(of: .object(["authenticatorAttachment": attachment, "legacyData": .string(plain)]))
    }

    /// As JavaScript's `Int8Array` prints itself.
    private static func numbers(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int8(bitPattern: $0)) }.joined(separator: ",")
    }
}

extension JourneyStep {
    /// Has a passkey made or used as the step asks for, and enters what came of it: also a failure, which the server is told and the
    /// journey decides about. When there is no authenticator, the server is told that none is here.
    /// - Parameters:
    ///   - authenticator: what makes passkeys and signs with them; nil where there is nothing.
    ///   - deviceName: what the person calls the device that a passkey is made in.
    /// - Returns: what was entered.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step asks for no passkey; `CancellationError` when the task is
    ///   cancelled, and nothing is entered.
    @discardableResult
    public mutating func answerWebAuthn(
        with authenticator: (any WebAuthnAuthenticator)?, deviceName: String? = nil
    ) async throws -> WebAuthnOutcome {
        guard let request = WebAuthnRequest(self) else {
            throw CallbackError(.noSuchCallback, MetadataCallback.type, "the step asks for no passkey")
        }
        let acceptsJSON =
            switch request {
            case .registration(let request): request.acceptsJSON
            case .authentication(let request): request.acceptsJSON
            }
        let outcome: WebAuthnOutcome
        do {
            outcome = try await Self.outcome(of: request, authenticator, deviceName)
        } catch let error as CancellationError {
            throw error
        } catch let error as WebAuthnError {
            outcome = .failure(error)
        } catch {
            outcome = .failure(WebAuthnError(.unknown, "the authenticator failed"))
        }
        try fillHiddenValue(WebAuthnOutcome.callbackID, outcome.text(json: acceptsJSON))
        return outcome
    }

    private static func outcome(
        of request: WebAuthnRequest, _ authenticator: (any WebAuthnAuthenticator)?, _ deviceName: String?
    ) async throws -> WebAuthnOutcome {
        guard let authenticator else { return .unsupported }
        switch request {
        case .registration(let request):
            return .attestation(try await authenticator.register(request), deviceName: deviceName)
        case .authentication(let request):
            return .assertion(try await authenticator.authenticate(request))
        }
    }
}
