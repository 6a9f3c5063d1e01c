import SignetAuthenticator
import SignetCore

/// Answers to a notification. Each function exists with callbacks and as an `async` function. One of the callbacks is called,
/// once, on the global executor of Swift's tasks. When an answer fails, the notification is unchanged and can be answered again.
/// A `NetworkError` says whether another attempt can help.
///
/// The functions throw these errors, or pass them to `onError`:
/// - ``PushNotificationError/notificationInvalidStatus`` when the notification was already answered, is being answered, or has
///   expired.
/// - ``AccountError/accountLocked(_:)``.
/// - ``MechanismError/invalidInformation(_:)`` when the notification requires another type of answer.
/// - ``PushNotificationError/storageError(_:)`` when the notification's mechanism was removed.
/// - `NetworkError`.
/// - ``FRAError/failToSaveIntoStorageClient(_:)``.
extension PushNotification {
    /// Approves a notification of the type ``PushType/default``.
    public func accept(onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback) {
        Callbacks.run({ try await self.accept() }, onSuccess: onSuccess, onError: onError)
    }

    /// Approves a notification of the type ``PushType/default``.
    public func accept() async throws {
        try check(.default, "accept()")
        try await engine().answer(self) { authenticator, id in try await authenticator.approve(id) }
    }

    /// Approves a notification of the type ``PushType/challenge``.
    /// - Parameters:
    ///   - challengeResponse: The number from the login page.
    ///   - onSuccess: Called when the server has accepted the answer.
    ///   - onError: Called with the error.
    public func accept(challengeResponse: String, onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback) {
        Callbacks.run(
            { try await self.accept(challengeResponse: challengeResponse) }, onSuccess: onSuccess, onError: onError)
    }

    /// Approves a notification of the type ``PushType/challenge``.
    /// - Parameter challengeResponse: The number from the login page.
    /// - Throws: ``MechanismError/invalidInformation(_:)`` when `challengeResponse` isn't one of the offered numbers, or the
    ///   notification has another type; ``PushNotificationError``, ``AccountError/accountLocked(_:)``, `NetworkError`,
    ///   ``FRAError/failToSaveIntoStorageClient(_:)``.
    public func accept(challengeResponse: String) async throws {
        try check(.challenge, "accept(challengeResponse:)")
        guard let number = Int(challengeResponse) else {
            throw MechanismError.invalidInformation("the challenge response is not a number")
        }
        try await engine().answer(self) { authenticator, id in try await authenticator.approve(id, number: number) }
    }

    /// Approves a notification of the type ``PushType/biometric`` after a check of the user; see ``FRAUserPresence``.
    /// - Parameters:
    ///   - title: The text of the prompt.
    ///   - allowDeviceCredentials: True when the device's PIN or password is accepted too.
    ///   - onSuccess: Called when the server has accepted the answer.
    ///   - onError: Called with the error.
    public func accept(
        title: String, allowDeviceCredentials: Bool, onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback
    ) {
        Callbacks.run(
            { try await self.accept(title: title, allowDeviceCredentials: allowDeviceCredentials) }, onSuccess: onSuccess,
            onError: onError)
    }

    /// Approves a notification of the type ``PushType/biometric`` after a check of the user; see ``FRAUserPresence``.
    /// - Parameters:
    ///   - title: The text of the prompt.
    ///   - allowDeviceCredentials: True when the device's PIN or password is accepted too.
    /// - Throws: ``MechanismError/invalidInformation(_:)`` when the user was not recognized or the notification has another type;
    ///   ``PushNotificationError``, ``AccountError/accountLocked(_:)``, `NetworkError`,
    ///   ``FRAError/failToSaveIntoStorageClient(_:)``.
    public func accept(title: String, allowDeviceCredentials: Bool) async throws {
        try check(.biometric, "accept(title:allowDeviceCredentials:)")
        let engine = try await engine()
        let presence = engine.settings.presence.map {
            Prompt(presence: $0, title: title, allowDeviceCredentials: allowDeviceCredentials, notification: self)
        }
        try await engine.answer(self) { authenticator, id in try await authenticator.approve(id, presence: presence) }
    }

    /// Denies a notification of any type.
    public func deny(onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback) {
        Callbacks.run({ try await self.deny() }, onSuccess: onSuccess, onError: onError)
    }

    /// Denies a notification of any type.
    public func deny() async throws {
        try await engine().answer(self) { authenticator, id in try await authenticator.deny(id) }
    }

    private func engine() async throws -> LegacyEngine { try await LegacyEngine.of(box.token) }

    private func check(_ type: PushType, _ method: String) throws(MechanismError) {
        guard pushType == type else {
            throw .invalidInformation(
                "\(method) answers a notification of type \(type.rawValue); this one is \(pushType.rawValue)")
        }
    }

    /// The app's user check, in the form that the engine uses.
    private struct Prompt: UserPresence {
        let presence: any FRAUserPresence
        let title: String
        let allowDeviceCredentials: Bool
        let notification: PushNotification

        func confirm(_ value: SignetCore.PushNotification) async throws {
            try await presence.confirm(
                title: title, allowDeviceCredentials: allowDeviceCredentials, notification: notification)
        }
    }
}
