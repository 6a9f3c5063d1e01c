import FRCore
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

extension LegacyEngine {
    // MARK: Enrollment

    /// Enrolls all mechanisms of a URI, or none if one fails.
    ///
    /// For a combined URI it returns the push mechanism.
    func enroll(uri: String) async throws -> Mechanism {
        do {
            let enrollment = try EnrollmentURI.parse(ignoringDamagedPoliciesOf: uri, policy: settings.endpoints)
            try enrollment.requireCodesOfOtherSDKs()
            // The ForgeRock SDK has codes of 6 and of 8 digits only.
            if let digits = enrollment.oath?.digits.count, ![6, 8].contains(digits) {
                throw MechanismError.invalidInformation("digits (\(digits))")
            }
            let store = store()
            if enrollment.push != nil, try await store.fetch(.deviceToken()) == nil {
                throw PushNotificationError.missingDeviceToken
            }
            do {
                let enrolled = try await authenticator.over(store, policies: policies.engine(enrolling: uri)).enroll(enrollment)
                let wanted = enrollment.push == nil ? enrollment.oathKind : .push
                guard let made = enrolled.mechanisms.first(where: { $0.kindName == wanted }) else {
                    throw MechanismError.invalidType
                }
                return Mechanism.make(made, token(of: store))
            } catch let error as AuthenticatorError where error.code == .duplicateMechanism {
                let existing = try await store.fetch(.mechanisms(of: enrollment.account))
                throw LegacyErrors.error(error, identifier: existing.first { $0.uid == error.mechanismUID }?.legacyIdentifier)
            }
        } catch {
            throw logged(error, "enroll")
        }
    }

    /// Logs and keeps a store's error, and returns the documented error for it.
    func logged(_ error: any Error, _ operation: String) -> any CodedFRError {
        if error is StoreError || (error as? AuthenticatorError)?.storeError != nil { log(error, operation) }
        return LegacyErrors.error(error)
    }

    // MARK: Messages

    /// Verifies a push message and stores it if it is new.
    func receive(messageID: String, message: String) throws -> PushNotification {
        do {
            let store = store()
            let received = try authenticator.receive(PushDelivery(messageId: messageID, message: message), in: store)
            return PushNotification(received, token(of: store))
        } catch let error as PushMessageError where error.code == .form {
            throw LegacyErrors.form(of: message)
        } catch {
            throw logged(error, "receive a push message")
        }
    }

    /// Answers a notification with the asynchronous engine.
    func answer(
        _ notification: PushNotification,
        _ send: (Authenticator, String) async throws -> SignetCore.PushNotification
    ) async throws {
        do {
            let (value, store) = store(for: notification)
            guard value.decision == nil else { throw PushNotificationError.notificationInvalidStatus }
            let answered = try await send(authenticator.over(store), value.id)
            notification.box.take(answered, token(of: store))
        } catch {
            throw logged(error, "answer a notification")
        }
    }

    // MARK: Device token

    /// Returns the push token of this device.
    func token() throws(StoreError) -> StoredDeviceToken? {
        try store().fetch(.deviceToken())
    }

    /// Stores a token before any server gets it, as the ForgeRock SDK does.
    ///
    /// A storage client is asked for the mechanisms only when the token is sent; in case the app ends before that, the stored
    /// token says that no server has got it.
    private func keep(token: String) throws {
        let now = settings.clock.now
        guard case .client = kind else {
            _ = try store().perform(.setDeviceToken(token, now: now))
            return
        }
        try store().perform(
            AccountOperation { records in
                guard try records.deviceToken()?.token != token else { return }
                var stored = StoredDeviceToken(token: token, timeAdded: now)
                stored.isUnsent = true
                try records.save(stored)
            })
    }

    /// Stores the first token.
    ///
    /// Mechanisms from before, such as imported ones, are recorded as those that still need it.
    func register(token: String) throws {
        let now = settings.clock.now
        try store().perform(
            AccountOperation { records in
                guard let known = try records.deviceToken() else {
                    _ = try AccountOperation.setDeviceToken(token, now: now).body(records)
                    return
                }
                guard known.token == token else {
                    throw PushNotificationError.storageError(
                        "another device token is registered: tell servers with updateDeviceToken")
                }
            })
    }

    /// Stores a token and sends it to the servers of all push mechanisms that don't have it yet.
    func update(token: String) async throws -> [DeviceTokenUpdate] {
        do {
            return try await enqueue { try await self.send(token) }.value
        } catch {
            throw logged(error, "update the device token")
        }
    }

    private func send(_ token: String) async throws -> [DeviceTokenUpdate] {
        try keep(token: token)
        return try await authenticator.over(store()).updateDeviceToken(token)
    }

    /// Stores a token immediately and sends it to servers in the background, unless it was replaced or removed by then.
    func take(token: String) throws {
        try keep(token: token)
        _ = enqueue {
            do {
                for update in try await self.authenticator.over(self.store()).sendDeviceToken(ifStored: token) {
                    if let error = update.error { self.log(error, "tell \(update.mechanism.account.issuer) the device token") }
                }
            } catch {
                self.log(error, "update the device token")
            }
        }
    }

    /// Follows the news that the system has of the device token.
    ///
    /// An empty token changes nothing: no push service sends messages to it.
    func take(_ news: FRAProcess.TokenNews) {
        switch news {
        case .token(let token) where token.isEmpty:
            settings.log(PushNotificationError.missingDeviceToken, "store an empty device token")
        case .token(let token): perform("store the device token", default: ()) { try take(token: token) }
        case .removed: perform("remove the device token", default: ()) { try store().perform(.removeDeviceToken()) }
        }
    }

    /// Updates the token like ``update(token:)``, and throws when any server could not be updated.
    func updateAll(token: String) async throws {
        let updates = try await update(token: token)
        guard !updates.isEmpty else { throw PushNotificationError.storageError("there is no push mechanism") }
        let errors = updates.compactMap(\.error)
        guard errors.isEmpty else { throw PushNotificationError.updateFailed(errors: errors) }
    }

    /// Updates the token like ``update(token:)``, and throws when the server of one mechanism could not be updated.
    func update(token: String, of mechanismUID: String) async throws {
        guard let update = try await update(token: token).first(where: { $0.mechanism.uid == mechanismUID }) else {
            throw PushNotificationError.storageError("there is no push mechanism with the id \(mechanismUID)")
        }
        if let error = update.error { throw error }
    }
}

extension DeviceTokenUpdate {
    /// The error for a server that doesn't have the token; nil for one that does.
    fileprivate var error: (any CodedFRError)? {
        switch outcome {
        case .done, .unchanged: nil
        case .notSupported(let error), .refused(let error): LegacyErrors.error(error)
        case .retryable(let error): LegacyErrors.error(error)
        }
    }
}

extension Enrollment {
    /// The kind of the enrollment's one-time codes: counter or time.
    fileprivate var oathKind: SignetCore.Mechanism.KindName {
        if case .counter = oath?.factor { .hotp } else { .totp }
    }
}
