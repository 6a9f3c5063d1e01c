public import SignetCore

/// How push messages of a platform of the app's own travel, in the form of the Ping SDK: see
/// ``PushConfiguration/customPushHandlers``. ``PushPlatform`` is the same for the ``Authenticator``, with types.
///
/// The client around it stays what it is: a message is stored once, and only after ``verify(message:credential:)`` or
/// ``verify(messageData:credential:)`` has said yes; answered and expired ones are refused before a handler is asked.
public protocol PushHandler: Sendable {
    /// Whether this message is of this platform.
    func canHandle(messageData: [String: Any]) -> Bool
    /// Whether this message is of this platform.
    func canHandle(message: String) -> Bool

    /// What a message says: `credentialId` and `messageId`, which it must have, and of `challenge` (base64), `ttl` (seconds),
    /// `timeInterval` (milliseconds since 1970), `messageText`, `customPayload`, `numbersChallenge`, `contextInfo`,
    /// `amlbCookie`, `pushType`, `userId` and `additionalData` (an object) what there is.
    func parseMessage(messageData: [String: Any]) throws -> [String: Any]
    /// The same of a message that is one text.
    func parseMessage(message: String) throws -> [String: Any]

    /// Whether the credential's server has made this message. Without a method of its own a handler has the usual one: `message`
    /// in the data is a compact JWS, signed with HS256 and the shared secret.
    func verify(messageData: [String: Any], credential: PushCredential) throws -> Bool
    /// The same of a message that is one text.
    func verify(message: String, credential: PushCredential) throws -> Bool

    /// Tells the server yes. Returns whether the server has accepted it.
    /// - Parameters:
    ///   - credential: Who answers.
    ///   - notification: What is answered.
    ///   - params: `challengeResponse`, where a number was picked.
    func sendApproval(credential: PushCredential, notification: PushNotification, params: [String: String]) async throws -> Bool
    /// Tells the server no. Returns whether the server has accepted it.
    func sendDenial(credential: PushCredential, notification: PushNotification, params: [String: String]) async throws -> Bool
    /// Tells the server the device's new token. Returns whether the server has accepted it.
    func setDeviceToken(credential: PushCredential, deviceToken: String, params: [String: String]) async throws -> Bool
    /// Registers the credential. Returns whether the server has accepted it.
    /// - Parameters:
    ///   - credential: What is to be registered.
    ///   - params: `messageId` and `challenge` of the invitation, `amlbCookie` if it has one, and `deviceToken`.
    func register(credential: PushCredential, params: [String: String]) async throws -> Bool
}

extension PushHandler {
    /// Checks the member `message`.
    public func verify(messageData: [String: Any], credential: PushCredential) throws -> Bool {
        guard let message = messageData["message"] as? String else { return false }
        return try verify(message: message, credential: credential)
    }

    /// Checks HS256 and the shared secret.
    public func verify(message: String, credential: PushCredential) throws -> Bool {
        guard let secret = credential.secret, let jws = try? CompactJWS(message) else { return false }
        return (try? jws.payload(verifiedWith: secret)) != nil
    }
}
