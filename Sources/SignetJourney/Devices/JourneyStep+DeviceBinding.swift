public import SignetCore
import SignetStorage

/// The reason for a failed device binding or signature: the error that the server receives, and the local cause.
public struct DeviceFailure: Error, Sendable, CustomStringConvertible {
    /// The error that the server receives.
    public let clientError: DeviceClientError
    /// The local error of the key store, which isn't sent to the server, for example the `StoreError` of a locked vault.
    ///
    /// Nil when ``clientError`` contains all information.
    public let cause: (any Error)?

    /// The description of the cause, or only its type when the error isn't Signet's own, and the error that the server receives.
    public var description: String {
        guard let cause else { return clientError.rawValue }
        // The errors of an app's own key store may contain any data, so only the type is printed.
        let words = (cause as? StoreError)?.description ?? "\(type(of: cause))"
        return "\(words) (the server was told \(clientError.rawValue))"
    }

    /// Creates the failure for an error.
    /// - Throws: The error itself when it is a `CancellationError`.
    fileprivate init(_ error: any Error) throws {
        if error is CancellationError { throw error }
        if let error = error as? DeviceClientError {
            (clientError, cause) = (error, nil)
        } else {
            (clientError, cause) = (.abort, error)
        }
    }
}

/// The outcome of a step that asks to bind the device.
public enum DeviceBindingOutcome: Sendable {
    /// The key was created. Pass it to ``DeviceBinding/confirm(_:)`` when the server has accepted the step, or else to
    /// ``DeviceBinding/discard(_:)``.
    case bound(DeviceKey)
    /// No key was created, and the step contains the error.
    case failed(DeviceFailure)

    /// The key; nil after a failure.
    public var key: DeviceKey? { if case .bound(let key) = self { key } else { nil } }
    /// The reason for the failure; nil when a key was created.
    public var failure: DeviceFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension JourneyStep {
    /// Binds the device as the step requests, and enters the result.
    ///
    /// A failure is entered as an error name, and the journey decides how to continue.
    /// - Returns: The key, or the failure: the error that the server receives and the local cause.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step doesn't request a binding; `CancellationError` when the task
    ///   is canceled, and then nothing is entered.
    @discardableResult
    public mutating func answerDeviceBinding(with binding: DeviceBinding) async throws -> DeviceBindingOutcome {
        guard var callback = first(DeviceBindingCallback.self) else {
            throw CallbackError(.noSuchCallback, DeviceBindingCallback.type, "the step does not ask for it")
        }
        let outcome: DeviceBindingOutcome
        do {
            let (key, jws) = try await binding.bind(callback)
            callback.fill(jws: jws, deviceID: binding.device.identifier, deviceName: binding.device.name)
            outcome = .bound(key)
        } catch {
            let failure = try DeviceFailure(error)
            callback.fail(failure.clientError)
            outcome = .failed(failure)
        }
        try fill(DeviceBindingCallback.self) { $0 = callback }
        return outcome
    }

    /// Signs as the step requests, and enters the result.
    ///
    /// A failure is entered as an error name, and the journey decides how to continue.
    /// - Parameters:
    ///   - binding: The device binding client that signs.
    ///   - claims: Additional claims to sign.
    ///   - choose: A closure that selects one of several keys; see ``DeviceBinding/sign(_:claims:choose:)``.
    /// - Returns: The failure: the error that the server receives and the local cause; nil when the step was signed.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step doesn't request a signature, ``CallbackError/Code/invalid``
    ///   for a claim that isn't allowed; `CancellationError` when the task is canceled. After these errors nothing is entered.
    @discardableResult
    public mutating func answerDeviceSigning(
        with binding: DeviceBinding, claims: [String: JSONValue] = [:],
        choose: (@Sendable ([DeviceKey]) async throws -> DeviceKey?)? = nil
    ) async throws -> DeviceFailure? {
        guard var callback = first(DeviceSigningVerifierCallback.self) else {
            throw CallbackError(.noSuchCallback, DeviceSigningVerifierCallback.type, "the step does not ask for it")
        }
        var failure: DeviceFailure?
        do {
            callback.fill(jws: try await binding.sign(callback, claims: claims, choose: choose))
        } catch let error as CallbackError {
            throw error
        } catch {
            let deviceFailure = try DeviceFailure(error)
            callback.fail(deviceFailure.clientError)
            failure = deviceFailure
        }
        try fill(DeviceSigningVerifierCallback.self) { $0 = callback }
        return failure
    }
}
