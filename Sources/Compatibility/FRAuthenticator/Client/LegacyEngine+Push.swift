import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

extension LegacyEngine {
    // MARK: Enrollment

    /// Enrolls all mechanisms of a URI, or none if one fails. For a combined URI it returns the push mechanism.
    func enroll(uri: String) async throws -> Mechanism {
        do {
            let enrollment = try EnrollmentURI.parse(uri, policy: endpoints)
            if enrollment.push != nil, try token() == nil { throw PushNotificationError.missingDeviceToken }
            let operation = operation()
            do {
                let enrolled = try await operation.authenticator(enrolling: uri).enroll(enrollment)
                let wanted = enrollment.push == nil ? enrollment.oathKind : .push
                guard let made = enrolled.mechanisms.first(where: { $0.kindName == wanted }) else {
                    throw MechanismError.invalidType
                }
                return Mechanisms.object(for: made, origin: operation.origin)
            } catch let error as AuthenticatorError where error.code == .duplicateMechanism {
                let existing = try operation.read { (records: any AccountReader) throws(StoreError) in
                    try records.mechanisms(of: enrollment.account).first { $0.uid == error.mechanismUID }
                }
                throw LegacyErrors.error(error, identifier: existing?.legacyIdentifier)
            }
        } catch {
            throw noted(error, "enroll")
        }
    }

    /// Logs and keeps a store's error, and returns the documented error for it.
    func noted(_ error: any Error, _ operation: String) -> any FRError {
        if error is StoreError || (error as? AuthenticatorError)?.storeError != nil { note(error, operation) }
        return LegacyErrors.error(error)
    }

    // MARK: Messages

    /// Verifies a push message and stores it if it is new.
    func receive(messageID: String, message: String) throws -> PushNotification {
        let platform = AccessManagerPlatform()
        let delivery = PushDelivery(messageId: messageID, message: message)
        do {
            guard let uid = try platform.claimedMechanismUID(of: delivery) else {
                throw NotificationError.invalidPayload("it is no push message of an AM server")
            }
            let operation = operation()
            let opened = try operation.readSettled { (records: any AccountReader) throws(StoreError) in
                try AccountRules.open(delivery, as: uid, by: platform, in: records)
            }.get()
            if let known = opened.known { return PushNotification(known, origin: operation.origin) }
            let now = clock.now
            let offset = opened.mechanism.push.flatMap { authenticator.clock(of: $0.authenticationEndpoint).offset }
            let notification = try operation.write { (records: any AccountWriter) throws(StoreError) in
                try AccountRules.receive(opened, now: now, clockOffset: offset, retention: .all, in: records)
            }.get()
            return PushNotification(notification, origin: operation.origin)
        } catch {
            throw noted(error, "receive a push message")
        }
    }

    func notifications(
        _ read: @Sendable (any AccountReader) throws(StoreError) -> [SignetCore.PushNotification]
    ) throws -> [PushNotification] {
        let operation = operation()
        let found = try operation.readSettled(read)
        return objects(for: found, origin: operation.origin)
    }

    func notifications(of mechanism: PushMechanism) throws -> [PushNotification] {
        let (value, origin) = mechanism.held.snapshot
        let operation = operation(on: origin) { $0.mechanisms[value.uid] = value }
        let found = try operation.readSettled { (records: any AccountReader) throws(StoreError) in
            try records.notifications(of: value.uid)
        }
        return objects(for: found, origin: operation.origin)
    }

    func notification(id: String) throws -> PushNotification? {
        let operation = operation()
        let found = try operation.readSettled { (records: any AccountReader) throws(StoreError) in
            try records.notification(id: id)
        }
        return found.map { PushNotification($0, origin: operation.origin) }
    }

    func remove(_ notification: PushNotification) throws -> Bool {
        let (value, origin) = notification.held.snapshot
        return try operation(on: origin) { $0.notifications[value.id] = value }.write {
            (records: any AccountWriter) throws(StoreError) in
            try AccountRules.removeNotification(value.id, in: records)
        }
    }

    // MARK: Answers

    /// Answers a notification. Only one answer to a notification can be in progress at a time.
    func answer(
        _ notification: PushNotification,
        _ send: (Authenticator, String) async throws -> SignetCore.PushNotification
    ) async throws {
        do {
            try await answering(notification.identifier) {
                let (value, origin) = notification.held.snapshot
                guard value.decision == nil else { throw PushNotificationError.notificationInvalidStatus }
                let operation = operation(on: origin) { $0.notifications[value.id] = value }
                let answered = try await send(operation.authenticator, value.id)
                notification.held.take(answered, origin: operation.origin)
            }
        } catch {
            throw noted(error, "answer a notification")
        }
    }

    // MARK: Device token

    /// Returns the push token of this device.
    func token() throws(StoreError) -> StoredDeviceToken? {
        try operation().read { (records: any AccountReader) throws(StoreError) in try records.deviceToken() }
    }

    /// Stores a token before any server gets it, as the ForgeRock SDK does.
    func keep(token: String) throws(StoreError) {
        guard case .client(let box) = backing else { return try keepRecord(of: token) }
        guard box.token.token?.token != token else { return }
        let (now, wasUntold) = (clock.now, box.token.isUntold)
        // The storage client is asked for the mechanisms when the token is sent. The flag that it must be sent is stored now, in
        // case the app ends before that.
        box.token.isUntold = true
        do throws(StoreError) {
            try operation().write { (records: any AccountWriter) throws(StoreError) in
                try records.save(StoredDeviceToken(token: token, timeAdded: now))
                box.token.isUntold = true
            }
        } catch {
            box.token.isUntold = wasUntold
            throw error
        }
    }

    private func keepRecord(of token: String) throws(StoreError) {
        let now = clock.now
        try operation().write { (records: any AccountWriter) throws(StoreError) in
            _ = try AccountRules.setDeviceToken(token, now: now, in: records)
        }
    }

    /// Returns the operation for sending a token to servers. While no server has got the stored token, the engine's view of the
    /// store hides it, so that the engine treats it as new.
    private func updateOperation() -> Operation {
        guard case .client(let box) = backing else { return operation() }
        return Operation(engine: self, store: ClientStore(box, hidesUntoldToken: true))
    }

    /// Stores, in a storage client, the list of servers that could not get the token.
    private func keepOutstanding() throws(StoreError) {
        guard case .client(let box) = backing, let seen = box.token.token else { return }
        try operation().write { (records: any AccountWriter) throws(StoreError) in try records.save(seen) }
    }

    /// Stores the first token. Mechanisms from before, such as imported ones, are recorded as those that still need it.
    func register(token: String) throws {
        let now = clock.now
        let other = try operation().write { (records: any AccountWriter) throws(StoreError) -> Bool in
            if let known = try records.deviceToken() { return known.token != token }
            _ = try AccountRules.setDeviceToken(token, now: now, in: records)
            return false
        }
        if other {
            throw PushNotificationError.storageError("another device token is registered: tell servers with updateDeviceToken")
        }
    }

    /// Stores a token and sends it to the servers of all push mechanisms that don't have it yet.
    func update(token: String) async throws -> [DeviceTokenUpdate] {
        do {
            return try await inTurn { try await self.tell(token) }.value
        } catch {
            throw noted(error, "update the device token")
        }
    }

    private func tell(_ token: String) async throws -> [DeviceTokenUpdate] {
        try keep(token: token)
        let updates = try await updateOperation().authenticator.updateDeviceToken(token)
        try keepOutstanding()
        return updates
    }

    /// Stores a token immediately and sends it to servers in the background, unless another token has arrived by then.
    func take(token: String) throws(StoreError) {
        try keep(token: token)
        _ = inTurn {
            do {
                guard try self.token()?.token == token else { return }
                for update in try await self.tell(token) {
                    if let error = update.error { self.note(error, "tell \(update.mechanism.account.issuer) the device token") }
                }
            } catch {
                self.note(error, "update the device token")
            }
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

    func clearToken() throws(StoreError) {
        try operation().write { (records: any AccountWriter) throws(StoreError) in try records.removeDeviceToken() }
    }
}

extension DeviceTokenUpdate {
    /// The error for a server that doesn't have the token; nil for one that does.
    fileprivate var error: (any FRError)? {
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
