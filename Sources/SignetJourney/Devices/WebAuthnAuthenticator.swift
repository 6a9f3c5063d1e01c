public import SignetCore

/// An authenticator that creates passkeys and signs with them.
///
/// The app supplies it: a USB security key, a phone, or the platform's authenticator.
public protocol WebAuthnAuthenticator: Sendable {
    /// Creates a passkey.
    /// - Parameter request: The user and the requirements for the passkey.
    /// - Returns: The ID of the new passkey, with the attestation object and the client data.
    /// - Throws: ``WebAuthnError``; any other error is reported to the server as `UnknownError`.
    func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation
    /// Signs with a passkey.
    /// - Parameter request: The allowed passkeys and the requirements for the signature.
    /// - Returns: The signature, with the ID of the passkey and the signed data.
    /// - Throws: ``WebAuthnError``; any other error is reported to the server as `UnknownError`.
    func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion
}

/// The result of creating a passkey.
public struct WebAuthnAttestation: Sendable, Hashable {
    /// The signed client data: the JSON bytes that were hashed.
    public var clientDataJSON: [UInt8]
    /// The attestation object, as CBOR.
    public var attestationObject: [UInt8]
    /// The ID of the passkey.
    public var credentialID: [UInt8]
    /// The kind of authenticator: `platform` or `cross-platform`; nil when it is unknown.
    public var attachment: String?

    /// Creates the result.
    public init(clientDataJSON: [UInt8], attestationObject: [UInt8], credentialID: [UInt8], attachment: String? = nil) {
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.credentialID = credentialID
        self.attachment = attachment
    }
}

/// The signature of a passkey and its data.
public struct WebAuthnAssertion: Sendable, Hashable {
    /// The signed client data: the JSON bytes that were hashed.
    public var clientDataJSON: [UInt8]
    /// The signed authenticator data.
    public var authenticatorData: [UInt8]
    /// The signature.
    public var signature: [UInt8]
    /// The ID of the passkey.
    public var credentialID: [UInt8]
    /// The ID of the user that the passkey belongs to; nil when the authenticator doesn't report it.
    public var userHandle: [UInt8]?
    /// The kind of authenticator: `platform` or `cross-platform`; nil when it is unknown.
    public var attachment: String?

    /// Creates a signature with its data.
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

/// The error of a passkey operation, with the name that browsers use (WebAuthn section 5, WebIDL section 2.8.1).
public struct WebAuthnError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The names of the errors.
    public struct Name: ErrorCode {
        /// The operation was aborted.
        public static let abort = Name(rawValue: "AbortError")
        /// The authenticator can't meet a requirement.
        public static let constraint = Name(rawValue: "ConstraintError")
        /// The data is invalid.
        public static let data = Name(rawValue: "DataError")
        /// The data can't be encoded.
        public static let encoding = Name(rawValue: "EncodingError")
        /// The authenticator already holds a passkey.
        public static let invalidState = Name(rawValue: "InvalidStateError")
        /// The authenticator can't be reached.
        public static let network = Name(rawValue: "NetworkError")
        /// The user declined.
        public static let notAllowed = Name(rawValue: "NotAllowedError")
        /// The authenticator supports none of the requested algorithms.
        public static let notSupported = Name(rawValue: "NotSupportedError")
        /// The relying party's domain doesn't belong to the app.
        public static let security = Name(rawValue: "SecurityError")
        /// The operation timed out.
        public static let timeout = Name(rawValue: "TimeoutError")
        /// Any other error.
        public static let unknown = Name(rawValue: "UnknownError")

        /// All names of this version.
        public static let allCases: [Name] = [
            .abort, .constraint, .data, .encoding, .invalidState, .network, .notAllowed, .notSupported, .security, .timeout,
            .unknown,
        ]

        /// The name as browsers write it.
        public let rawValue: String

        /// Creates a name from its text.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The name of the error.
    public let name: Name
    /// The description of the error, which may be sent to the server.
    public let message: String

    /// Creates an error.
    public init(_ name: Name, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The name and the message.
    public var description: String { "\(name.rawValue): \(message)" }
}

/// The outcome that is entered into the `HiddenValueCallback` of a step that asks for a passkey (protocol/journey.md section
/// 2.7).
public enum WebAuthnOutcome: Sendable, Hashable {
    /// A passkey was created. The name is the user's name for the device; nil for none.
    case attestation(WebAuthnAttestation, deviceName: String?)
    /// A passkey signed.
    case assertion(WebAuthnAssertion)
    /// This device has no authenticator.
    case unsupported
    /// The operation failed.
    case failure(WebAuthnError)

    /// The ID of the callback.
    public static let callbackID = "webAuthnOutcome"

    /// Returns the outcome in the form that the server expects.
    /// - Parameter json: True when the server accepts JSON, ``WebAuthnRegistration/acceptsJSON``.
    /// - Returns: The parts of the outcome with `::` between them, in a JSON object if `json` is true. `unsupported` and an
    ///   error, which begins with `ERROR::`, are never JSON.
    public func text(json: Bool = false) -> String {
        switch self {
        case .unsupported: return "unsupported"
        case .failure(let error): return "ERROR::\(error.name.rawValue):\(error.message)"
        case .attestation(let made, let name):
            var parts = [
                String(decoding: made.clientDataJSON, as: UTF8.self), Self.numbers(made.attestationObject),
                Base64.encode(made.credentialID, as: .url),
            ]
            // Two colons separate the parts, so the name must not contain them.
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

    /// Returns the bytes as JavaScript's `Int8Array` prints them.
    private static func numbers(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int8(bitPattern: $0)) }.joined(separator: ",")
    }
}

extension JourneyStep {
    /// Creates or uses a passkey as the step requests, and enters the outcome.
    ///
    /// A failure is reported to the server, and the journey decides how to continue. Without an authenticator, the server is told
    /// that the device has none.
    /// - Parameters:
    ///   - authenticator: The authenticator that creates passkeys and signs with them; nil when the device has none.
    ///   - deviceName: The user's name for the device in which a passkey is created.
    /// - Returns: The outcome that was entered.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step doesn't ask for a passkey; `CancellationError` when the task
    ///   is canceled, and then nothing is entered.
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
