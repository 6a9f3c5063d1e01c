import Foundation
import SignetCore
import SignetJourney

/// The results of an attestation of the app by its platform.
public struct FRAppIntegrityKeys: Sendable, Hashable {
    /// The attestation of the key, in base64; empty without one.
    public private(set) var appAttestKey: String
    /// The assertion of the key, in base64; nil without one.
    public private(set) var assertKey: String?
    /// The identifier of the key.
    public private(set) var keyIdentifier: String
    /// The data that the assertion covers, in base64.
    public private(set) var clientDataHash: String

    /// Creates the results.
    public init(attestKey: String = "", assertKey: String? = nil, keyIdentifier: String = "", clientDataHash: String = "") {
        appAttestKey = attestKey
        self.assertKey = assertKey
        self.keyIdentifier = keyIdentifier
        self.clientDataHash = clientDataHash
    }

    /// Returns true when the key is attested.
    public func isAttestationCompleted() -> Bool { !appAttestKey.isEmpty }
}

/// A service that attests the app, which an app supplies: App Attest of Apple's systems, or one of another platform.
public protocol FRAppAttestation: Sendable {
    /// Returns an attestation, and for an attested key an assertion.
    /// - Parameters:
    ///   - challenge: The challenge of the server.
    ///   - payload: Additional data of the app to sign; nil for none.
    /// - Returns: The results.
    /// - Throws: ``FRDeviceCheckAPIFailure``; other errors are reported to the server as client device errors.
    func requestIntegrityToken(challenge: String, payload: String?) async throws -> FRAppIntegrityKeys
}

/// The reason for a missing attestation of the app.
public enum FRDeviceCheckAPIFailure: String, Error, Sendable, CaseIterable {
    /// The platform's service failed.
    case unknownSystemFailure
    /// The platform has no such service.
    case featureUnsupported
    /// The service refused the data.
    case invalidInput
    /// The service refused the key.
    case invalidKey
    /// The service can't be reached.
    case serverUnavailable
    /// The server sent no challenge.
    case invalidChallenge
    /// The app has no identifier.
    case invalidBundleIdentifier
    /// The data to sign can't be made.
    case invalidClientData
    /// Any other failure.
    case unknownError
    /// The stored key can't be read.
    case keyChainError

    /// The error that the server receives.
    var clientError: String {
        (self == .featureUnsupported ? FRAppIntegrityClientError.unSupported : .clientDeviceErrors).rawValue
    }
}

/// The error that the server receives instead of an attestation.
public enum FRAppIntegrityClientError: String, Sendable {
    /// The platform has no service that attests apps.
    case unSupported = "Unsupported"
    /// The service failed.
    case clientDeviceErrors = "ClientDeviceErrors"
}

/// Asks for an attestation of the app by its platform.
open class FRAppIntegrityCallback: MultipleValuesCallback {
    /// The challenge to attest.
    public final var challenge: String { view.challenge }
    /// The earlier attestation as `keyId::attestation`; empty before the first attestation.
    public final var attestToken: String { view.attestToken }
    /// Additional data of the app to sign.
    public final private(set) var payload: String?
    /// The results of ``requestIntegrityToken(from:)``.
    public final private(set) var appIntegritykeys = FRAppIntegrityKeys()
    private var view: SignetJourney.AppIntegrityCallback { .init(unchecked: received) }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no challenge or attestation token, or lacks an input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require(
            texts: ["challenge", "attestToken"], inputs: ["attestToken", "token", "clientData", "keyId", "clientError"])
    }

    /// Enters the attestation.
    public final func setAttestation(_ token: String) { fill("attestToken", with: token) }
    /// Enters the assertion.
    public final func setAssertion(_ token: String) { fill("token", with: token) }
    /// Enters the client data that the assertion covers.
    public final func setClientData(_ clientData: String) { fill("clientData", with: clientData) }
    /// Enters the identifier of the key.
    public final func setkeyId(_ keyId: String) { fill("keyId", with: keyId) }
    /// Enters the reason for a missing attestation: `Timeout`, `Abort`, `Unsupported` or `ClientDeviceErrors`.
    public final func setClientError(_ error: String) { fill("clientError", with: error) }
    /// Sets the additional data to sign.
    public final func setPayload(_ payload: String) { self.payload = payload }

    /// Returns true when the server knows an attestation of this app, or one was made now.
    public final func isAttestationCompleted() -> Bool { !attestToken.isEmpty || appIntegritykeys.isAttestationCompleted() }

    /// Requests the attestation of the platform and enters it.
    ///
    /// It fails, because this package contains no such service, and the server learns about it. An app with one overrides this method
    /// in a subclass, or calls ``requestIntegrityToken(from:)``.
    /// - Throws: ``FRDeviceCheckAPIFailure/featureUnsupported``.
    open func requestIntegrityToken() async throws { throw fail(.featureUnsupported) }

    /// Requests the attestation of the platform, enters it, and calls the completion once with the error.
    open func requestIntegrityToken(completionHandler: @escaping ((any Error)?) -> Void) {
        completionHandler(fail(.featureUnsupported))
    }

    /// Requests an attestation from a service and enters it.
    ///
    /// A failure is entered as the client error, so that the server learns about it.
    /// - Parameter service: The service.
    /// - Throws: ``FRDeviceCheckAPIFailure``; `CancellationError` when the task is canceled, and then nothing is entered.
    public final func requestIntegrityToken(from service: any FRAppAttestation) async throws {
        guard !challenge.isEmpty else { throw fail(.invalidChallenge) }
        do {
            let keys = try await service.requestIntegrityToken(challenge: challenge, payload: payload)
            setAttestation(keys.appAttestKey)
            keys.assertKey.map(setAssertion)
            setkeyId(keys.keyIdentifier)
            setClientData(keys.clientDataHash)
            appIntegritykeys = keys
        } catch let error as CancellationError {
            throw error
        } catch {
            throw fail(error as? FRDeviceCheckAPIFailure ?? .unknownError)
        }
    }

    private func fail(_ failure: FRDeviceCheckAPIFailure) -> FRDeviceCheckAPIFailure {
        setClientError(failure.clientError)
        return failure
    }
}
