public import SignetCore
import SignetStorage

/// Why a device was not bound, or did not sign: what the server was told, and what only this machine knows.
public struct DeviceFailure: Error, Sendable, CustomStringConvertible {
    /// What the server was told.
    public let told: DeviceClientError
    /// What the keys failed with, which no server is told: a `StoreError` of a vault that is locked, for example. Nil where ``told`` says all
    /// there is to say.
    public let cause: (any Error)?

    /// Both, in words; of an error that is not this SDK's own its type.
    public var description: String {
        guard let cause else { return told.rawValue }
        // What an app's own keys throw may quote anything.
        let words = (cause as? StoreError)?.description ?? "\(type(of: cause))"
        return "\(words) (the server was told \(told.rawValue))"
    }

    /// - Throws: the error itself when it means that nobody waits any more.
    fileprivate init(_ error: any Error) throws {
        if error is CancellationError { throw error }
        if let error = error as? DeviceClientError {
            (told, cause) = (error, nil)
        } else {
            (told, cause) = (.abort, error)
        }
    }
}

/// What became of a step that asks to bind the device.
public enum DeviceBindingOutcome: Sendable {
    /// There is a key, for ``DeviceBinding/confirm(_:)`` once the server has taken the step, or for ``DeviceBinding/discard(_:)``.
    case bound(DeviceKey)
    /// There is none, and the step says so.
    case failed(DeviceFailure)

    /// The key; nil when there is none.
    public var key: DeviceKey? { if case .bound(let key) = self { key } else { nil } }
    /// Why there is no key; nil when there is one.
    public var failure: DeviceFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension JourneyStep {
    /// Binds the device as the step asks for, and enters what came of it: also a failure, by its name, which the journey decides about.
    /// - Returns: the key, or why there is none: what the server is told, and what failed on this machine.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step asks for none; `CancellationError` when the task is cancelled,
    ///   and nothing is entered.
    @discardableResult
    public mutating func answerDeviceBinding(with binding: DeviceBinding) async throws -> DeviceBindingOutcome {
        guard var callback = first(DeviceBindingCallback.self) else {
            throw CallbackError(.noSuchCallback, DeviceBindingCallback.type, "the step does not ask for it")
        }
        let outcome: DeviceBindingOutcome
        do {
            let (key, jws) = try await binding.bind(callback)
            callback.fill(jws: jws, deviceID: binding.identity.identifier, deviceName: binding.identity.name)
            outcome = .bound(key)
        } catch {
            let failure = try DeviceFailure(error)
            callback.fail(failure.told)
            outcome = .failed(failure)
        }
        try fill(DeviceBindingCallback.self) { $0 = callback }
        return outcome
    }

    /// Signs as the step asks for, and enters what came of it: also a failure, by its name, which the journey decides about.
    /// - Parameters:
    ///   - binding: what signs.
    ///   - claims: more to sign.
    ///   - choose: which of several keys to sign with; see ``DeviceBinding/sign(_:claims:choose:)``.
    /// - Returns: why there is no signature: what the server is told, and what failed on this machine; nil when there is one.
    /// - Throws: ``CallbackError/Code/noSuchCallback`` when the step asks for none, ``CallbackError/Code/invalid`` for a claim that
    ///   cannot be; `CancellationError` when the task is cancelled. Nothing is entered then.
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
            let told = try DeviceFailure(error)
            callback.fail(told.told)
            failure = told
        }
        try fill(DeviceSigningVerifierCallback.self) { $0 = callback }
        return failure
    }
}
