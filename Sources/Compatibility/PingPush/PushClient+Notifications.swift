import SignetAuthenticator
import SignetCore

extension PushClient {
    // MARK: Incoming messages

    /// Processes a message in the form of a dictionary with `messageId` and `message`, or with the members that a custom handler
    /// reads.
    ///
    /// Returns nil when the dictionary isn't a push message.
    ///
    /// The message is verified first. A message that arrives several times is stored once.
    /// - Throws: ``PushError/messageParsingFailed(_:)`` for a message that its credential's server has not signed,
    ///   ``PushError/credentialNotFound(_:)`` for a message to a credential that does not exist here.
    public func processNotification(messageData: [String: Any]) async throws -> PushNotification? {
        try await run("processNotification", nil) {
            if let platform = handlers.first(where: { $0.handler.canHandle(messageData: messageData) }) {
                return try await receive(platform.delivery(messageData))
            }
            guard let message = messageData["message"] as? String, let id = messageData["messageId"] as? String else {
                return nil
            }
            return try await receive(PushDelivery(messageId: id, message: message))
        }
    }

    /// Processes a message in the form of a string.
    ///
    /// AM's messages don't contain their own id. The first 8 characters of the signature are used as the id instead, and AM
    /// rejects an answer with that id. Use ``processNotification(messageData:)`` when the id is known.
    /// - Throws: The errors of ``processNotification(messageData:)``.
    public func processNotification(message: String) async throws -> PushNotification? {
        try await run("processNotification", nil) {
            if let platform = handlers.first(where: { $0.handler.canHandle(message: message) }) {
                return try await receive(platform.delivery(message))
            }
            let parts = message.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return try await receive(PushDelivery(messageId: String(parts[2].prefix(8)), message: message))
        }
    }

    /// Processes the dictionary that a push service of the operating system delivers: `aps` with `data` and `messageId`.
    ///
    /// Members at the top level take precedence over those in `aps`.
    /// - Throws: The errors of ``processNotification(messageData:)``.
    public func processNotification(userInfo: [AnyHashable: Any]) async throws -> PushNotification? {
        var data: [String: Any] = [:]
        if let aps = userInfo["aps"] as? [String: Any] {
            data["message"] = aps["data"]
            data["messageId"] = aps["messageId"]
        }
        for (name, value) in userInfo {
            if let name = name as? String, name != "aps" { data[name] = value }
        }
        return try await processNotification(messageData: data)
    }

    private func receive(_ delivery: PushDelivery) async throws -> PushNotification? {
        do {
            let notification = try await authenticator.receive(delivery)
            // The message may have contained the user's id, which is then stored in the credential.
            credentials.forget()
            return PushNotification(notification)
        } catch let error as PushMessageError where [.form, .claim("u")].contains(error) {
            return nil
        } catch let error as AuthenticatorError where error.code == .unknownMechanism {
            throw PushError.credentialNotFound((try? SealedPushMessage(delivery.message).claimedMechanismUID()) ?? "")
        }
    }

    // MARK: Answers

    /// Approves a notification.
    /// - Returns: False when the notification has been answered or has expired, in which case no request is sent; also when a
    ///   custom handler returned false.
    /// - Throws: ``PushError/notificationNotFound(_:)``, ``PushError/credentialLocked(_:)``, or
    ///   ``PushError/invalidParameterValue(_:)`` when the notification asks for a number or for a check of the user's presence,
    ///   all before a request is sent; ``PushError/networkFailure(_:_:)``. The notification stays unchanged in these cases.
    @discardableResult
    public func approveNotification(_ id: String) async throws -> Bool {
        try await answer("approveNotification", id) { _ = try await authenticator.approve(id) }
    }

    /// Approves a notification with the number that the login page shows.
    /// - Throws: The errors of ``approveNotification(_:)``; ``PushError/invalidParameterValue(_:)`` when the number is not one of
    ///   those offered.
    @discardableResult
    public func approveChallengeNotification(_ id: String, challengeResponse: String) async throws -> Bool {
        try await answer("approveChallengeNotification", id) {
            guard let number = Int(challengeResponse.trimmingWhitespace()) else {
                throw PushError.invalidParameterValue("challengeResponse is the number that the login page shows")
            }
            _ = try await authenticator.approve(id, number: number)
        }
    }

    /// Approves a notification after the app has confirmed the user's presence.
    /// - Parameters:
    ///   - id: The id of the notification.
    ///   - authenticationMethod: The method by which the app recognized the user, for example `fingerprint`; not empty. It is
    ///     passed to a custom handler, and not sent to AM.
    /// - Returns: False when the notification has been answered or has expired; in this case no request is sent.
    /// - Throws: The errors of ``approveNotification(_:)``.
    @discardableResult
    public func approveBiometricNotification(_ id: String, authenticationMethod: String) async throws -> Bool {
        try await answer("approveBiometricNotification", id) {
            guard !authenticationMethod.trimmingWhitespace().isEmpty else {
                throw PushError.invalidParameterValue("authenticationMethod says how the person was recognized")
            }
            let method = authenticationMethod.trimmingWhitespace()
            for handler in handlers { handler.methods[id] = method }
            defer { for handler in handlers { handler.methods[id] = nil } }
            _ = try await authenticator.approve(id, presence: RecognizedByApp())
        }
    }

    /// Denies a notification of any type.
    /// - Throws: The errors of ``approveNotification(_:)``.
    @discardableResult
    public func denyNotification(_ id: String) async throws -> Bool {
        try await answer("denyNotification", id) { _ = try await authenticator.deny(id) }
    }

    private func answer(_ call: String, _ id: String, _ send: () async throws -> Void) async throws -> Bool {
        try await run(call, id) {
            do {
                try await send()
                return true
            } catch let error as AuthenticatorError where [.alreadyAnswered, .expired].contains(error.code) {
                log.failed(call, id, error)
                return false
            } catch let error as AuthenticatorError where handlers.contains(where: { $0.refusal == error }) {
                log.failed(call, id, error)
                return false
            }
        }
    }

    // MARK: Notifications

    /// Returns the notifications that can be answered, newest first.
    public func getPendingNotifications() async throws -> [PushNotification] {
        try await run("getPendingNotifications", nil) {
            let notifications = try await authenticator.notifications()
            let now = authenticator.clock.now
            return notifications.filter { $0.state(at: now) == .pending }.map { PushNotification($0) }
        }
    }

    /// Returns all notifications, newest first.
    public func getAllNotifications() async throws -> [PushNotification] {
        try await run("getAllNotifications", nil) { try await authenticator.notifications().map { PushNotification($0) } }
    }

    /// Returns the notification with this id; nil when it does not exist.
    public func getNotification(notificationId: String) async throws -> PushNotification? {
        try await run("getNotification", notificationId) {
            do {
                return PushNotification(try await authenticator.notification(notificationId))
            } catch let error as AuthenticatorError where error.code == .unknownNotification {
                return nil
            }
        }
    }

    /// Removes the notifications that ``PushConfiguration/notificationCleanupConfig`` does not keep.
    /// - Parameter credentialId: The credential whose notifications to clean up; nil for all credentials.
    /// - Returns: The number of removed notifications.
    /// - Throws: ``PushError/storageFailure(_:_:)``; ``PushError/notInitialized`` after ``PushClient/close()``.
    @discardableResult
    public func cleanupNotifications(credentialId: String? = nil) async throws -> Int {
        try await run("cleanupNotifications", credentialId) { try await retain(credentialId) }
    }
}

/// The presence check of an app that has already recognized the user itself.
private struct RecognizedByApp: UserPresence {
    func confirm(_ notification: SignetCore.PushNotification) async throws {}
}
