public import SignetCore
import SignetNetwork
public import SignetStorage

extension Authenticator {
    /// Takes a push message in: verifies it, and stores it if it is new. A message that came before gives the same record
    /// again, also when it comes twice at once.
    /// - Throws: `PushMessageError` for a message that is not what its mechanism's server signed,
    ///   ``AuthenticatorError/Code/unknownMechanism`` for one to a mechanism that is not here. Nothing is stored then.
    public func receive(_ delivery: PushDelivery) async throws -> PushNotification {
        let sealed = try SealedPushMessage(delivery.message)
        let uid = try sealed.claimedMechanismUID()
        guard !delivery.messageId.isEmpty else { throw PushMessageError.form }
        guard let push = try await mechanism(uid).push else { throw AuthenticatorError.unknownMechanism(uid) }
        let new = PushNotification(
            messageID: delivery.messageId, message: try sealed.open(with: push.secret), receivedAt: clock.now)
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            if let known = try records.notification(id: new.id) { return known }
            try records.save(new)
            return new
        }
    }

    /// Every notification, the newest first.
    public func notifications() async throws(StoreError) -> [PushNotification] {
        try await store.read { (records: any AccountReader) throws(StoreError) in try records.notifications() }
    }

    /// The notification with this id.
    public func notification(_ id: String) async throws -> PushNotification {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.notification(id: id) }
        guard let found else { throw AuthenticatorError.unknownNotification(id) }
        return found
    }

    /// Approves a notification.
    /// - Parameters:
    ///   - id: The notification's id.
    ///   - number: The number that the login page shows, for a notification that asks for one.
    ///   - presence: Who recognises the person, for a notification that asks for that.
    /// - Throws: ``AuthenticatorError`` before any request when the notification is expired or answered, the number is not
    ///   one of those offered, or the person was not recognised; `TransportError` when the server cannot be reached, and
    ///   ``AuthenticatorError/Code/refusedByServer`` when it refuses. The notification stays as it was in all of these cases.
    public func approve(_ id: String, number: Int? = nil, presence: (any UserPresence)? = nil) async throws -> PushNotification {
        let (notification, push) = try await pending(id)
        let answer: PushAnswer
        switch notification.message.kind {
        case .tap:
            answer = .approve
        case .number(let choices):
            guard let number, choices.isEmpty || choices.contains(number) else {
                let offered = choices.map(String.init).joined(separator: ", ")
                throw AuthenticatorError(.wrongNumber, "pick the number that the login page shows: \(offered)")
            }
            answer = .approveNumber(number)
        case .biometric:
            guard let presence else {
                throw AuthenticatorError(
                    .presenceRefused, "this login asks for the person to be recognised, and nothing here can")
            }
            do {
                try await presence.confirm(notification)
            } catch {
                throw AuthenticatorError(.presenceRefused, "the person was not recognised")
            }
            answer = .approve
        }
        return try await send(answer, to: notification, with: push)
    }

    /// Denies a notification of any kind. Fails as ``approve(_:number:presence:)`` does.
    public func deny(_ id: String) async throws -> PushNotification {
        let (notification, push) = try await pending(id)
        return try await send(.deny, to: notification, with: push)
    }

    /// A notification that can be answered, and what to answer it with.
    private func pending(_ id: String) async throws -> (PushNotification, PushSettings) {
        let found = try await store.read {
            (records: any AccountReader) throws(StoreError) -> (PushNotification, Mechanism?)? in
            guard let notification = try records.notification(id: id) else { return nil }
            return (notification, try records.mechanism(notification.message.mechanismUID))
        }
        guard let (notification, mechanism) = found else { throw AuthenticatorError.unknownNotification(id) }
        guard let push = mechanism?.push else {
            throw AuthenticatorError.unknownMechanism(notification.message.mechanismUID)
        }
        switch notification.state(at: clock.now) {
        case .pending: return (notification, push)
        case .expired: throw AuthenticatorError(.expired, "the login it belongs to is no longer waiting; start it again")
        case .approved: throw AuthenticatorError(.alreadyAnswered, "it was approved before")
        case .denied: throw AuthenticatorError(.alreadyAnswered, "it was denied before")
        }
    }

    /// Sends the answer, and stores it once the server has accepted it.
    private func send(
        _ answer: PushAnswer, to notification: PushNotification, with push: PushSettings
    ) async throws -> PushNotification {
        let message = notification.message
        let claims = PushClaims.Answer(answer, challenge: message.challenge, secret: push.secret)
        let body = PushClaims.body(messageID: notification.messageID, claims: claims, secret: push.secret)
        _ = try await PushExchange(transport: transport).post(
            body, to: push.authenticationEndpoint, cookie: message.loadBalancerCookie)
        var answered = notification
        answered.decision = answer == .deny ? .denied : .approved
        let record = answered
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            // Servers take a repetition for a while: what was answered first is what counted.
            let stored = try records.notification(id: record.id)
            if let stored, stored.decision != nil { return stored }
            try records.save(record)
            return record
        }
    }

    func mechanism(_ uid: String) async throws -> Mechanism {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.mechanism(uid) }
        guard let found else { throw AuthenticatorError.unknownMechanism(uid) }
        return found
    }
}
