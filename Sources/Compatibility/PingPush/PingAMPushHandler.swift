public import PingCommons
public import PingLogger
import SignetCore

/// AM's push protocol as a handler, for an app that extends or calls it.
///
/// A ``PushClient`` needs no such handler.
public final class PingAMPushHandler: PushHandler {
    private let responder: any PingAMPushResponderType
    private let logger: (any Logger)?

    /// Creates a handler.
    /// - Parameters:
    ///   - httpClient: The client for the requests.
    ///   - logger: The logger; nil for none.
    ///   - pushResponder: The sender of the requests; nil for a ``PingAMPushResponder`` over `httpClient`.
    public init(
        httpClient: HttpClient, logger: (any Logger)? = LogManager.logger, pushResponder: (any PingAMPushResponderType)? = nil
    ) {
        self.logger = logger
        responder = pushResponder ?? PingAMPushResponder(httpClient: httpClient, logger: logger)
    }

    /// Returns true for a dictionary with `messageId` and a signed message of AM in `message`.
    public func canHandle(messageData: [String: Any]) -> Bool {
        guard let id = messageData["messageId"] as? String, !id.isEmpty, let message = messageData["message"] as? String else {
            return false
        }
        return canHandle(message: message)
    }

    /// Returns true for a signed message that names a credential and a challenge.
    ///
    /// The signature is not checked here.
    public func canHandle(message: String) -> Bool {
        guard let claims = try? Self.claims(message) else { return false }
        return claims["u"]?.string != nil && claims["c"]?.string != nil
    }

    /// Returns the claims of a message under the names that ``PushHandler/parseMessage(messageData:)`` lists, with `rawJwt` and,
    /// if the server has sent it, `deviceName`.
    /// - Throws: ``PushError/messageParsingFailed(_:)``.
    public func parseMessage(messageData: [String: Any]) throws -> [String: Any] {
        guard let id = messageData["messageId"] as? String, let message = messageData["message"] as? String else {
            throw PushError.messageParsingFailed("messageId or message is missing")
        }
        return try Self.parsed(message, id)
    }

    /// Returns the claims of a message, with the first 8 characters of its signature as the message id.
    /// - Throws: ``PushError/messageParsingFailed(_:)``.
    public func parseMessage(message: String) throws -> [String: Any] {
        let signature = message.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        return try Self.parsed(message, String(signature.prefix(8)))
    }

    /// Sends an approval.
    @concurrent public func sendApproval(
        credential: PushCredential, notification: PushNotification, params: [String: Any]
    ) async throws -> Bool {
        let number = (params["challengeResponse"] as? String)?.trimmingWhitespace()
        if notification.pushType == .challenge, number?.isEmpty ?? true {
            throw PushError.invalidParameterValue("challengeResponse is missing: the number that the login page shows")
        }
        return try await responder.sendAuthenticationResponse(
            credential: credential, notification: notification, approve: true, numbersChallengeResponse: number)
    }

    /// Sends a denial.
    @concurrent public func sendDenial(
        credential: PushCredential, notification: PushNotification, params: [String: Any]
    ) async throws -> Bool {
        try await responder.sendAuthenticationResponse(
            credential: credential, notification: notification, approve: false, numbersChallengeResponse: nil)
    }

    /// Sends the new device token.
    @concurrent public func setDeviceToken(
        credential: PushCredential, deviceToken: String, params: [String: Any]
    ) async throws -> Bool {
        let token = deviceToken.trimmingWhitespace()
        guard !token.isEmpty else { throw PushError.invalidParameterValue("the device token is blank") }
        let name = (params["deviceName"] as? String)?.trimmingWhitespace() ?? ""
        return try await responder.updateDeviceToken(
            credential: credential, deviceToken: token, deviceName: name.isEmpty ? PingAMPushResponder.defaultDeviceName : name)
    }

    /// Registers the credential.
    @concurrent public func register(credential: PushCredential, params: [String: Any]) async throws -> Bool {
        guard !params.isEmpty else { throw PushError.invalidParameterValue("params has no messageId, challenge and deviceId") }
        return try await responder.register(credential: credential, params: params)
    }

    /// The names of AM's claims in the result of a parser.
    ///
    /// The load balancer cookie `l` is decoded apart.
    private static let names = [
        "u": "credentialId", "c": "challenge", "t": "ttl", "i": "timeInterval", "m": "messageText", "p": "customPayload",
        "n": "numbersChallenge", "x": "contextInfo", "k": "pushType", "d": "userId", "e": "deviceName", "l": "amlbCookie",
    ]

    private static func claims(_ message: String) throws -> [String: JSONValue] {
        let value = try JSON.value(of: CompactJWS(message).unverifiedPayload())
        guard let claims = value.object, value.isStorable else { throw PushMessageError.form }
        return claims
    }

    private static func parsed(_ message: String, _ id: String) throws -> [String: Any] {
        let claims: [String: JSONValue]
        do {
            claims = try Self.claims(message)
        } catch {
            throw PushError.messageParsingFailed("the message is not a compact JWS with a JSON object")
        }
        var parsed: [String: Any] = [
            "messageId": id, "rawJwt": message, "ttl": PushMessage.defaultTimeToLive,
            "additionalData": claims.filter { names[$0.key] == nil }.mapValues(\.any),
        ]
        for (claim, name) in names { parsed[name] = claims[claim].map(\.any) ?? parsed[name] }
        if let seconds = claims["t"]?.lenientInteger { parsed["ttl"] = Int(seconds) }
        if let time = claims["i"]?.lenientInteger { parsed["timeInterval"] = Int(time) }
        if let cookie = claims["l"]?.string { parsed["amlbCookie"] = decodedCookie(cookie) }
        return parsed
    }

    /// Returns the text of a load balancer cookie, which AM sends as base64.
    private static func decodedCookie(_ cookie: String) -> String {
        (try? Base64.decode(cookie)).flatMap { String(strictUTF8: $0) } ?? cookie
    }
}
