import SignetAuthenticator
import SignetCore

/// How a notification is answered. Each form has a twin that is awaited. Of the callbacks one is called, once, on the global
/// executor of Swift's tasks. When anything fails the notification stays as it was and can be answered again; a
/// ``NetworkError`` says whether that may help.
///
/// What each throws, or hands to `onError`: ``PushNotificationError/notificationInvalidStatus`` when it was answered before, is
/// being answered or is expired; ``AccountError/accountLocked(_:)``; ``MechanismError/invalidInformation(_:)`` when it asks to be
/// answered in another way; ``PushNotificationError/storageError(_:)`` when its mechanism is gone; ``NetworkError``;
/// ``FRAError/failToSaveIntoStorageClient(_:)``.
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
    ///   - challengeResponse: The number that the login page shows.
    ///   - onSuccess: Called when it is done.
    ///   - onError: Called when it has failed.
    public func accept(challengeResponse: String, onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback) {
        Callbacks.run(
            { try await self.accept(challengeResponse: challengeResponse) }, onSuccess: onSuccess, onError: onError)
    }

    /// Approves a notification of the type ``PushType/challenge``.
    /// - Parameter challengeResponse: The number that the login page shows.
    public func accept(challengeResponse: String) async throws {
        try check(.challenge, "accept(challengeResponse:)")
        guard let number = Int(challengeResponse) else {
            throw MechanismError.invalidInformation("the challenge response is no number")
        }
        try await engine().answer(self) { authenticator, id in try await authenticator.approve(id, number: number) }
    }

    /// Approves a notification of the type ``PushType/biometric``, after the person was recognised; see ``FRAUserPresence``.
    /// - Parameters:
    ///   - title: What the prompt shows.
    ///   - allowDeviceCredentials: Whether a PIN or password of the device will do as well.
    ///   - onSuccess: Called when it is done.
    ///   - onError: Called when it has failed.
    public func accept(
        title: String, allowDeviceCredentials: Bool, onSuccess: @escaping SuccessCallback, onError: @escaping ErrorCallback
    ) {
        Callbacks.run(
            { try await self.accept(title: title, allowDeviceCredentials: allowDeviceCredentials) }, onSuccess: onSuccess,
            onError: onError)
    }

    /// Approves a notification of the type ``PushType/biometric``, after the person was recognised; see ``FRAUserPresence``.
    /// - Parameters:
    ///   - title: What the prompt shows.
    ///   - allowDeviceCredentials: Whether a PIN or password of the device will do as well.
    public func accept(title: String, allowDeviceCredentials: Bool) async throws {
        try check(.biometric, "accept(title:allowDeviceCredentials:)")
        let engine = try engine()
        let presence = engine.presence.map {
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

    private func engine() throws -> LegacyEngine { try LegacyEngine.of(held.origin) }

    private func check(_ type: PushType, _ method: String) throws(MechanismError) {
        guard pushType == type else {
            throw .invalidInformation(
                "\(method) answers a notification of type \(type.rawValue); this one is \(pushType.rawValue)")
        }
    }

    /// The app's prompt, for the engine.
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
