public import SignetCore
import SignetNetwork

/// The push protocol of ForgeRock AM, PingAM and OpenAM (protocol/authenticator.md sections 3 to 5).
public struct AccessManagerPlatform: PushPlatform {
    /// The name that the Ping SDKs give this platform.
    ///
    /// Mechanisms of this platform store no platform name.
    public static let name = "pingam"

    /// Creates the platform, which has no state.
    public init() {}

    /// The name that the Ping SDKs give this platform.
    public var name: String { Self.name }

    /// Registers the device with the response to the challenge.
    ///
    /// Returns the address of the server's push stream from its `Link` header, if that address has the same origin.
    public func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? {
        let claims = PushClaims.Registration(
            response: PushClaims.response(to: invitation.challenge, secret: invitation.secret), mechanismUid: mechanismUID,
            deviceId: device.token, deviceName: device.name, deviceType: device.type, communicationType: device.communicationType)
        let body = PushClaims.body(messageID: invitation.messageID, claims: claims, secret: invitation.secret)
        let response = try await post(
            JSON.encode(body), to: invitation.registrationEndpoint, cookie: invitation.loadBalancerCookie, for: .pushRegister,
            preference: device.opensPushStream ? PushStreamProof.preference : nil, over: transport)
        return PushStreamLink.endpoint(in: response.headers, of: invitation.registrationEndpoint)
    }

    /// Returns the claim `u`, unverified.
    public func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        try SealedPushMessage(delivery.message).claimedMechanismUID()
    }

    /// Returns the claims of a message after verifying its algorithm and signature.
    public func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        return try SealedPushMessage(delivery.message).open(with: push.secret)
    }

    /// Sends the response to the message's challenge, with the load balancer cookie of the message.
    public func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over transport: PushTransport
    ) async throws {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        let message = notification.message
        let claims = PushClaims.Answer(answer, challenge: message.challenge, secret: push.secret)
        let body = PushClaims.body(messageID: notification.messageID, claims: claims, secret: push.secret)
        _ = try await post(
            JSON.encode(body), to: push.authenticationEndpoint, cookie: message.loadBalancerCookie, for: .pushAuthenticate,
            over: transport)
    }

    /// Sends the new token to the registration address, with `_action=refresh` and the load balancer cookie of the registration.
    ///
    /// Servers before AM 8 don't know the action and respond with 501, 404 or 400.
    /// - Throws: ``AuthenticatorError/Code/notSupported`` for these statuses, and when the address of the registration has no
    ///   `_action=register`.
    public func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        guard let endpoint = Self.refreshEndpoint(push.registrationEndpoint) else {
            throw AuthenticatorError(.notSupported, "\(push.registrationEndpoint.host) has no address for new device tokens")
        }
        let claims = PushClaims.Update(
            mechanismUid: mechanism.uid, deviceId: device.token, deviceName: device.name, deviceType: device.type,
            communicationType: device.communicationType)
        let body = PushClaims.updateBody(claims, userID: mechanism.userID, secret: push.secret)
        do {
            _ = try await post(body, to: endpoint, cookie: push.loadBalancerCookie, for: .pushUpdate, over: transport)
        } catch let error as AuthenticatorError {
            guard let status = error.status, [400, 404, 501].contains(status) else { throw error }
            throw AuthenticatorError(.notSupported, "\(endpoint.host) does not accept new device tokens", status: status)
        }
    }

    /// Returns the address of a registration with its action replaced; nil when the address has no `_action=register`.
    package static func refreshEndpoint(_ registration: Endpoint) -> Endpoint? {
        let parts = registration.url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        guard items.contains("_action=register") else { return nil }
        let query = items.map { $0 == "_action=register" ? "_action=refresh" : $0 }.joined(separator: "&")
        return try? Endpoint(stored: "\(parts[0])?\(query)")
    }

    /// Sends a signed body, with a load balancer cookie if there is one.
    /// - Throws: `TransportError`; ``AuthenticatorError/Code/refusedByServer`` for a 4xx status;
    ///   ``AuthenticatorError/Code/serverMisbehaved`` for any other response that is not a success with an empty body or a JSON
    ///   object.
    private func post(
        _ body: [UInt8], to endpoint: Endpoint, cookie: String?, for action: RequestAction, preference: String? = nil,
        over transport: PushTransport
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(
            "POST", endpoint.url,
            headers: [
                "Accept-API-Version": "resource=1.0, protocol=1.0", "Content-Type": "application/json",
                "Accept": "application/json",
            ], body: body)
        if let cookie { request.headers.append("Cookie", cookie) }
        if let preference { request.headers.append("Prefer", preference) }
        let response = try await transport.send(request, for: action, to: endpoint)
        switch response.status {
        case 200..<300:
            guard
                response.body.isEmpty || response.body.elementsEqual("{}".utf8)
                    || (try? JSON.value(of: response.body))?.object != nil
            else {
                throw AuthenticatorError(
                    .serverMisbehaved, "\(endpoint.host) did not answer with JSON; check the address in the enrollment",
                    status: response.status)
            }
            return response
        case 400..<500:
            throw AuthenticatorError(
                .refusedByServer,
                "\(endpoint.host) refused: the response is wrong, or the request was already answered or has expired",
                status: response.status)
        default:
            throw AuthenticatorError(.serverMisbehaved, "\(endpoint.host) failed; try again later", status: response.status)
        }
    }
}

/// The `Link` header (RFC 8288) with the address of a server's push stream.
enum PushStreamLink {
    /// Returns the address of the push stream if a link has the origin of `registration`.
    ///
    /// A link to another origin is ignored.
    static func endpoint(in headers: HTTPHeaders, of registration: Endpoint) -> Endpoint? {
        for link in headers.all("Link").flatMap({ $0.split(separator: ",") }) {
            let parts = link.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let target = parts.first, target.hasPrefix("<"), target.hasSuffix(">"),
                parts.dropFirst().contains("rel=\"\(PushStreamProof.linkRelation)\"")
            else { continue }
            let url = String(target.dropFirst().dropLast())
            if let server = try? Endpoint(unchecked: url), server.hasSameOrigin(as: registration) { return server }
        }
        return nil
    }
}
