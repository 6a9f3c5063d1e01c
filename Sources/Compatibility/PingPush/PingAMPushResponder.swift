public import PingCommons
public import PingLogger
import SignetAuthenticator
import SignetCore
import SignetNetwork

/// A sender of a credential's requests to AM.
public protocol PingAMPushResponderType: Sendable {
    /// Registers the device with the response to the invitation in `params`.
    @discardableResult
    @concurrent func register(credential: PushCredential, params: [String: Any]) async throws -> Bool
    /// Sends an approval or a denial.
    @discardableResult
    @concurrent func sendAuthenticationResponse(
        credential: PushCredential, notification: PushNotification, approve: Bool, numbersChallengeResponse: String?
    ) async throws -> Bool
    /// Sends the new device token.
    @discardableResult
    @concurrent func updateDeviceToken(credential: PushCredential, deviceToken: String, deviceName: String?) async throws -> Bool
}

/// A sender of requests to AM for an app that calls AM itself.
///
/// A ``PushClient`` does so without it.
///
/// Nothing is stored. The methods return true, or throw ``PushError``: ``PushError/missingRequiredParameter(_:)`` or
/// ``PushError/invalidParameterValue(_:)`` before a request is sent, ``PushError/networkFailure(_:_:)`` with the HTTP status when
/// the server has rejected it or has failed.
public final class PingAMPushResponder: PingAMPushResponderType {
    private let client: HttpClient
    private let logger: (any Logger)?
    private let platform = AccessManagerPlatform()

    /// Creates a sender.
    /// - Parameters:
    ///   - httpClient: The client for the requests.
    ///   - logger: The logger; nil for none.
    public init(httpClient: HttpClient, logger: (any Logger)? = LogManager.logger) {
        client = httpClient
        self.logger = logger
    }

    /// The device name when the app gives none.
    static let defaultDeviceName = "iOS Device"

    /// Registers the device.
    /// - Parameters:
    ///   - credential: The credential to register.
    ///   - params: `messageId` and `challenge` (base64) of the invitation, the device token as `deviceId`, and optionally
    ///     `amlbCookie` and `deviceName`.
    /// - Returns: True.
    /// - Throws: ``PushError``.
    @discardableResult
    @concurrent public func register(credential: PushCredential, params: [String: Any]) async throws -> Bool {
        let messageID = try Self.required("messageId", params)
        let token = try Self.required("deviceId", params)
        guard let challenge = try? Base64.decode(try Self.required("challenge", params)), !challenge.isEmpty else {
            throw PushError.invalidParameterValue("the challenge is not base64")
        }
        let mechanism = try mechanism(of: credential)
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        let invitation = PushInvitation(
            secret: push.secret, challenge: challenge, messageID: messageID, registrationEndpoint: push.registrationEndpoint,
            authenticationEndpoint: push.authenticationEndpoint,
            loadBalancerCookie: Self.text("amlbCookie", params).flatMap(LoadBalancerCookie.text))
        let device = PushDevice(token: token, name: Self.text("deviceName", params) ?? Self.defaultDeviceName)
        return try await sending("register", credential.id) { transport in
            _ = try await platform.register(invitation, mechanismUID: credential.id, device: device, over: transport)
        }
    }

    /// Sends an approval or a denial.
    /// - Parameters:
    ///   - credential: The credential that answers.
    ///   - notification: The notification to answer, with its challenge.
    ///   - approve: True for an approval.
    ///   - numbersChallengeResponse: The number that the user has picked, when the notification asks for one.
    /// - Returns: True.
    /// - Throws: ``PushError``.
    @discardableResult
    @concurrent public func sendAuthenticationResponse(
        credential: PushCredential, notification: PushNotification, approve: Bool, numbersChallengeResponse: String? = nil
    ) async throws -> Bool {
        let engine = notification.engineForm
        guard !engine.message.challenge.isEmpty else {
            throw PushError.invalidParameterValue("the notification has no challenge in base64 to answer")
        }
        var answer = approve ? PushAnswer.approve : .deny
        if approve, let text = numbersChallengeResponse {
            guard let number = Int(text) else {
                throw PushError.invalidParameterValue("the response to the challenge is not a number")
            }
            answer = .approveNumber(number)
        }
        let mechanism = try mechanism(of: credential)
        return try await sending(approve ? "approve" : "deny", notification.id) { transport in
            try await platform.send(answer, to: engine, of: mechanism, over: transport)
        }
    }

    /// Sends the new device token.
    /// - Parameters:
    ///   - credential: The credential whose server is told.
    ///   - deviceToken: The token; not blank.
    ///   - deviceName: The name of the device; nil or blank for a default.
    /// - Returns: True.
    /// - Throws: ``PushError``.
    @discardableResult
    @concurrent public func updateDeviceToken(
        credential: PushCredential, deviceToken: String, deviceName: String? = nil
    ) async throws -> Bool {
        let token = deviceToken.trimmingWhitespace()
        guard !token.isEmpty else { throw PushError.invalidParameterValue("the device token is blank") }
        let name = deviceName?.trimmingWhitespace() ?? ""
        let mechanism = try mechanism(of: credential)
        let device = PushDevice(token: token, name: name.isEmpty ? Self.defaultDeviceName : name)
        return try await sending("update the token of", credential.id) { transport in
            try await platform.update(device, of: mechanism, over: transport)
        }
    }

    /// Returns the mechanism that a credential describes, with addresses that the client may use.
    private func mechanism(of credential: PushCredential) throws(PushError) -> Mechanism {
        try credential.mechanism(
            over: nil, .allowingPlainHTTP(to: client.plainHTTPHosts), allowedBy: "HttpClient.plainHTTPHosts")
    }

    /// Sends a request and converts its errors.
    private func sending(_ call: String, _ id: String, _ body: (PushTransport) async throws -> Void) async throws -> Bool {
        do {
            try await body(PushTransport(client.timedTransport, interceptors: [SDKIdentification.ping]))
            logger?.d("PingAMPushResponder: \(call) \(id): done")
            return true
        } catch {
            logger?.w("PingAMPushResponder: \(call) \(id): \(ClientLog.name(of: error))", error: nil)
            throw PushError.translating(error, id: id)
        }
    }

    private static func text(_ name: String, _ params: [String: Any]) -> String? {
        guard let text = (params[name] as? String)?.trimmingWhitespace(), !text.isEmpty else { return nil }
        return text
    }

    private static func required(_ name: String, _ params: [String: Any]) throws(PushError) -> String {
        guard let text = text(name, params) else { throw .missingRequiredParameter(name) }
        return text
    }
}
