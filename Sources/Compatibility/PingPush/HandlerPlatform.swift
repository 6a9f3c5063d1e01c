import SignetAuthenticator
import SignetCore
import SignetNetwork

/// An adapter that makes a ``PushHandler`` a ``PushPlatform`` of the engine.
struct HandlerPlatform: SignetAuthenticator.PushPlatform {
    let name: String
    let handler: any PushHandler

    /// The only member of the JSON object by which the engine carries a message that is a dictionary.
    private static let dataMember = "signet.messageData"

    /// The methods by which the app recognized the user, for the approvals that are being sent.
    let methods = AuthenticationMethods()

    /// Returns the delivery of a message that is a dictionary.
    func delivery(_ messageData: [String: Any]) throws -> PushDelivery {
        let parsed = try handler.parseMessage(messageData: messageData)
        guard let data = JSONValue(any: messageData) else { throw PushMessageError.form }
        return PushDelivery(
            messageId: parsed["messageId"] as? String ?? "", message: JSON.text(of: .object([Self.dataMember: data])))
    }

    /// Returns the delivery of a message that is a string.
    func delivery(_ message: String) throws -> PushDelivery {
        let parsed = try handler.parseMessage(message: message)
        return PushDelivery(messageId: parsed["messageId"] as? String ?? "", message: message)
    }

    func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        if let data = Self.data(in: delivery) {
            guard handler.canHandle(messageData: data) else { return nil }
        } else {
            guard handler.canHandle(message: delivery.message) else { return nil }
        }
        return try parsed(delivery)["credentialId"] as? String
    }

    func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        let credential = try credential(mechanism)
        let isGenuine =
            if let data = Self.data(in: delivery) {
                try handler.verify(messageData: data, credential: credential)
            } else {
                try handler.verify(message: delivery.message, credential: credential)
            }
        guard isGenuine else { throw PushMessageError.signature }
        return try PushMessage(claims: Self.claims(try parsed(delivery), messageID: delivery.messageId))
    }

    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? {
        let mechanism = Mechanism(
            uid: mechanismUID, account: AccountID(issuer: "", accountName: ""), kind: .push(PushSettings(invitation)),
            timeAdded: SystemWallClock().now, resourceID: invitation.resourceID)
        var params: [String: Any] = [
            "messageId": invitation.messageID, "challenge": Base64.encode(invitation.challenge, as: .standard),
            "deviceId": device.token, "deviceName": device.name,
        ]
        params["amlbCookie"] = invitation.loadBalancerCookie
        try accepted(await handler.register(credential: credential(mechanism), params: params))
        return nil
    }

    func send(
        _ answer: PushAnswer, to notification: SignetCore.PushNotification, of mechanism: Mechanism, over transport: PushTransport
    ) async throws {
        let (credential, notification) = (try credential(mechanism), PushNotification(notification))
        var params: [String: Any] = [:]
        switch answer {
        case .approve: params["authenticationMethod"] = methods[notification.id]
        case .approveNumber(let number): params["challengeResponse"] = String(number)
        case .deny:
            try accepted(await handler.sendDenial(credential: credential, notification: notification, params: params))
            return
        }
        try accepted(await handler.sendApproval(credential: credential, notification: notification, params: params))
    }

    func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws {
        try accepted(
            await handler.setDeviceToken(
                credential: credential(mechanism), deviceToken: device.token, params: ["deviceName": device.name]))
    }

    private func accepted(_ answer: Bool) throws(AuthenticatorError) {
        guard answer else { throw refusal }
    }

    /// The error for an answer of the handler that is false.
    var refusal: AuthenticatorError {
        AuthenticatorError(.refusedByServer, "the handler of \(name) says that the server refused")
    }

    private func credential(_ mechanism: Mechanism) throws(AuthenticatorError) -> PushCredential {
        try PushCredential(EnrolledMechanism(mechanism: mechanism, account: nil))
    }

    private func parsed(_ delivery: PushDelivery) throws -> [String: Any] {
        if let data = Self.data(in: delivery) { return try handler.parseMessage(messageData: data) }
        return try handler.parseMessage(message: delivery.message)
    }

    private static func data(in delivery: PushDelivery) -> [String: Any]? {
        guard delivery.message.hasPrefix("{"), let members = (try? JSON.value(of: delivery.message.utf8))?.object,
            members.count == 1
        else { return nil }
        return members[dataMember]?.object?.mapValues(\.any)
    }

    /// Returns the result of a handler's parser under the names of AM's claims, so that the same rules apply to it.
    private static func claims(_ parsed: [String: Any], messageID: String) -> [String: JSONValue] {
        var claims = parsed["additionalData"].flatMap { JSONValue(any: $0) }?.object ?? [:]
        let names = [
            "u": "credentialId", "c": "challenge", "t": "ttl", "i": "timeInterval", "m": "messageText", "p": "customPayload",
            "n": "numbersChallenge", "x": "contextInfo", "l": "amlbCookie", "k": "pushType", "d": "userId",
        ]
        for (claim, name) in names { claims[claim] = parsed[name].flatMap { JSONValue(any: $0) } }
        // For a platform without challenges, the message id takes the place of the challenge that an answer is bound to.
        if claims["c"] ?? .null == .null { claims["c"] = .string(Base64.encode(Array(messageID.utf8), as: .standard)) }
        return claims
    }
}

/// The methods by which an app recognized the user, by the ids of the notifications that are being approved.
final class AuthenticationMethods: Sendable {
    private let methods = Mutex<[String: String]>([:])

    /// The method for a notification; nil for none.
    subscript(id: String) -> String? {
        get { methods.withLock { $0[id] } }
        set { methods.withLock { $0[id] = newValue } }
    }
}
