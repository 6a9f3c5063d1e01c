import SignetCore

/// A handler of the push messages of an app's own platform, with the API of the Ping SDK; see
/// ``PushConfiguration/customPushHandlers``.
///
/// `SignetAuthenticator.PushPlatform` is the typed counterpart for an `Authenticator`.
///
/// The client applies its usual rules: a message is stored once, and only after ``verify(message:credential:)`` or
/// ``verify(messageData:credential:)`` has returned true. Answers to notifications that are already answered or expired are
/// rejected before a handler is called.
public protocol PushHandler: AnyObject, Sendable {
    /// Returns true when this message is one of this platform.
    func canHandle(messageData: [String: Any]) -> Bool
    /// Returns true when this message is one of this platform.
    func canHandle(message: String) -> Bool

    /// Parses a message. The result must have `credentialId` and `messageId`. It may have `challenge` (base64), `ttl` (seconds),
    /// `timeInterval` (milliseconds since 1970), `messageText`, `customPayload`, `numbersChallenge`, `contextInfo`, `amlbCookie`,
    /// `pushType`, `userId` and `additionalData` (an object).
    func parseMessage(messageData: [String: Any]) throws -> [String: Any]
    /// Parses a message that is a string. The result has the members of ``parseMessage(messageData:)``.
    func parseMessage(message: String) throws -> [String: Any]

    /// Returns true when the server of the credential has signed this message. The default implementation takes the member
    /// `message` as a compact JWS that is signed with HS256 and the shared secret.
    func verify(messageData: [String: Any], credential: PushCredential) throws -> Bool
    /// Returns true when the server of the credential has signed this message, which is a string.
    func verify(message: String, credential: PushCredential) throws -> Bool

    /// Sends an approval to the server.
    /// - Parameters:
    ///   - credential: The credential that answers.
    ///   - notification: The notification to approve.
    ///   - params: `challengeResponse`, when the user picked a number; `authenticationMethod`, when the app recognized the user.
    /// - Returns: True when the server has accepted the approval. After false, the client's method returns false.
    /// - Throws: Any error when the server could not be asked. The client's method throws it unchanged unless it is an error of
    ///   the SDK.
    @concurrent func sendApproval(
        credential: PushCredential, notification: PushNotification, params: [String: Any]
    ) async throws -> Bool
    /// Sends a denial to the server. Returns true when the server has accepted it. After false, the client's method returns false.
    @concurrent func sendDenial(
        credential: PushCredential, notification: PushNotification, params: [String: Any]
    ) async throws -> Bool
    /// Sends the new device token to the server, with the `deviceName` of `params`. Returns true when the server has accepted it.
    @concurrent func setDeviceToken(
        credential: PushCredential, deviceToken: String, params: [String: Any]
    ) async throws -> Bool
    /// Registers the credential at the server.
    /// - Parameters:
    ///   - credential: The credential to register.
    ///   - params: `messageId` and `challenge` of the invitation, `amlbCookie` if the invitation has one, the device's token as
    ///     `deviceId`, and `deviceName`.
    /// - Returns: True when the server has accepted the registration.
    /// - Throws: Any error when the server could not be asked. The client then stores no credential.
    @concurrent func register(credential: PushCredential, params: [String: Any]) async throws -> Bool
}

extension PushHandler {
    /// Verifies the member `message`.
    public func verify(messageData: [String: Any], credential: PushCredential) throws -> Bool {
        guard let message = messageData["message"] as? String else { return false }
        return try verify(message: message, credential: credential)
    }

    /// Verifies the message as a compact JWS with HS256 and the shared secret.
    public func verify(message: String, credential: PushCredential) throws -> Bool {
        guard let secret = credential.secret, let jws = try? CompactJWS(message) else { return false }
        return (try? jws.payload(verifiedWith: secret)) != nil
    }
}
