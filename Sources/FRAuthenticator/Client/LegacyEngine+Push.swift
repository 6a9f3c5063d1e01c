import SignetAuthenticator
import SignetCore
import SignetStorage

extension LegacyEngine {
    // MARK: Enrolment

    /// Enrols what a URI offers, all or nothing. Of a combined URI the push mechanism is returned.
    func enrol(uri: String) async throws -> Mechanism {
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
            throw noted(error, "enrol")
        }
    }

    /// The documented error, after the store's failure has been logged and kept.
    func noted(_ error: any Error, _ operation: String) -> any FRError {
        if error is StoreError || (error as? AuthenticatorError)?.storeError != nil { note(error, operation) }
        return LegacyErrors.error(error)
    }

    // MARK: Messages

    /// Takes a message in: verifies it, and stores it if it is new.
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

    /// Answers a notification. Only one answer to it is on its way at a time.
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

    /// The token under which servers find this device.
    func token() throws(StoreError) -> StoredDeviceToken? {
        try operation().read { (records: any AccountReader) throws(StoreError) in try records.deviceToken() }
    }

    /// Stores a token before anybody is told of it, as the original does.
    func keep(token: String) throws(StoreError) {
        guard case .client(let box) = backing else { return try keepRecord(of: token) }
        guard box.token.token?.token != token else { return }
        let (now, wasUntold) = (clock.now, box.token.isUntold)
        // Whom to tell is asked of the client when they are told. It keeps that they are to be, should the app end before.
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

    /// The store for telling servers of a token: to the engine, one that nobody was told of is still to come.
    private func updateOperation() -> Operation {
        guard case .client(let box) = backing else { return operation() }
        return Operation(engine: self, store: ClientStore(box, hidesUntoldToken: true))
    }

    /// Has a storage client keep who could not be told.
    private func keepOutstanding() throws(StoreError) {
        guard case .client(let box) = backing, let seen = box.token.token else { return }
        try operation().write { (records: any AccountWriter) throws(StoreError) in try records.save(seen) }
    }

    /// Stores the first token there is. Who was enrolled before, as by an import, is to be told of it.
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

    /// Stores a token, and tells the servers of all push mechanisms that do not know it.
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

    /// Stores a token at once, and tells servers of it in the background, unless another one has come by then.
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

    /// As ``update(token:)``, for callers who want to know only whether all went well.
    func updateAll(token: String) async throws {
        let updates = try await update(token: token)
        guard !updates.isEmpty else { throw PushNotificationError.storageError("there is no push mechanism") }
        let errors = updates.compactMap(\.error)
        guard errors.isEmpty else { throw PushNotificationError.updateFailed(errors: errors) }
    }

    /// As ``update(token:)``, for callers who want to know of one mechanism.
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
    /// Why the server does not know the token.
    fileprivate var error: (any FRError)? {
        switch outcome {
        case .done, .unchanged: nil
        case .notSupported(let error), .refused(let error): LegacyErrors.error(error)
        case .retryable(let error): LegacyErrors.error(error)
        }
    }
}

extension Enrollment {
    /// What the codes of the enrolment are made from.
    fileprivate var oathKind: SignetCore.Mechanism.KindName {
        if case .counter = oath?.factor { .hotp } else { .totp }
    }
}
