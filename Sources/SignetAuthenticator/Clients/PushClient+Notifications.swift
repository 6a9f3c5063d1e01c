public import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PushClient {
    // MARK: Messages that come

    /// Takes in a message as data: `messageId` and `message`, or what a handler of the app's own knows. Nil when it is nobody's.
    ///
    /// It is verified before anything else, and stored once however often it comes.
    /// - Throws: ``PushError/messageParsingFailed(_:)`` for one that its credential's server has not made,
    ///   ``PushError/credentialNotFound(_:)`` for one to a credential that is not here.
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

    /// Takes in a message that comes as one text. AM's messages say nothing of their own id: the first 8 characters of the
    /// signature stand in for it, and AM will not take an answer to that. Use ``processNotification(messageData:)`` where the
    /// id is known.
    /// - Throws: as ``processNotification(messageData:)``.
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

    /// Takes in what a push service of the system hands over: `aps` with `data` and `messageId`. Other members on top come
    /// before those in `aps`.
    /// - Throws: as ``processNotification(messageData:)``.
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
            forgetCredentials()
            return notification
        } catch PushMessageError.form, PushMessageError.claim("u") {
            return nil
        } catch let error as AuthenticatorError where error.code == .unknownMechanism {
            throw PushError.credentialNotFound((try? SealedPushMessage(delivery.message).claimedMechanismUID()) ?? "")
        }
    }

    // MARK: Answers

    /// Says yes. False, and no server is asked, when the notification was answered before or its time is over.
    /// - Throws: ``PushError/notificationNotFound(_:)``, ``PushError/credentialLocked(_:)``,
    ///   ``PushError/invalidParameterValue(_:)`` when it asks for a number or for the person to be recognised, all before a
    ///   server is asked; ``PushError/networkFailure(_:_:)``. The notification stays as it was.
    @discardableResult
    public func approveNotification(_ id: String) async throws -> Bool {
        try await answer("approveNotification", id) { _ = try await authenticator.approve(id) }
    }

    /// Says yes, with the number that the login page shows.
    /// - Throws: as ``approveNotification(_:)``; ``PushError/invalidParameterValue(_:)`` for what is none of the numbers.
    @discardableResult
    public func approveChallengeNotification(_ id: String, challengeResponse: String) async throws -> Bool {
        try await answer("approveChallengeNotification", id) {
            guard let number = Int(challengeResponse.trimmingWhitespace()) else {
                throw PushError.invalidParameterValue("challengeResponse is the number that the login page shows")
            }
            _ = try await authenticator.approve(id, number: number)
        }
    }

    /// Says yes, after the app has recognised the person.
    /// - Parameters:
    ///   - id: The id of the notification.
    ///   - authenticationMethod: How, for example `fingerprint`; not empty. It is not sent.
    /// - Throws: as ``approveNotification(_:)``.
    @discardableResult
    public func approveBiometricNotification(_ id: String, authenticationMethod: String) async throws -> Bool {
        try await answer("approveBiometricNotification", id) {
            guard !authenticationMethod.trimmingWhitespace().isEmpty else {
                throw PushError.invalidParameterValue("authenticationMethod says how the person was recognised")
            }
            _ = try await authenticator.approve(id, presence: RecognisedByApp())
        }
    }

    /// Says no, to a notification of any type.
    /// - Throws: as ``approveNotification(_:)``.
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
                noteRefusal(call, id, error)
                return false
            }
        }
    }

    // MARK: Notifications

    /// The notifications that can be answered, the newest first.
    public func getPendingNotifications() async throws -> [PushNotification] {
        try await run("getPendingNotifications", nil) {
            let notifications = try await authenticator.notifications()
            let now = authenticator.clock.now
            return notifications.filter { $0.state(at: now) == .pending }
        }
    }

    /// Every notification, the newest first.
    public func getAllNotifications() async throws -> [PushNotification] {
        try await run("getAllNotifications", nil) { try await authenticator.notifications() }
    }

    /// The notification with this id; nil if there is none.
    public func getNotification(notificationId: String) async throws -> PushNotification? {
        try await run("getNotification", notificationId) {
            do {
                return try await authenticator.notification(notificationId)
            } catch let error as AuthenticatorError where error.code == .unknownNotification {
                return nil
            }
        }
    }

    /// Removes the notifications that ``PushConfiguration/notificationCleanupConfig`` does not keep. Returns how many.
    /// - Parameter credentialId: Whose; nil for those of each credential.
    @discardableResult
    public func cleanupNotifications(credentialId: String? = nil) async throws -> Int {
        try await run("cleanupNotifications", credentialId) { try await retain(credentialId) }
    }
}

/// The app says that it has recognised the person.
private struct RecognisedByApp: UserPresence {
    func confirm(_ notification: PushNotification) async throws {}
}
