public import SignetCore
import SignetNetwork

/// The push protocol of ForgeRock AM, PingAM and OpenAM (protocol/authenticator.md sections 3 to 5).
public struct AccessManagerPlatform: PushPlatform {
    /// The name that the Ping SDKs give it. Mechanisms of it carry no name.
    public static let name = "pingam"

    /// The protocol; it has no state.
    public init() {}

    /// The name that the Ping SDKs give it.
    public var name: String { Self.name }

    /// Registers the device with the challenge answered. The server's desk is where its `Link` header says, within its origin.
    public func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over wire: PushTransport
    ) async throws -> Endpoint? {
        let claims = PushClaims.Registration(
            response: PushClaims.response(to: invitation.challenge, secret: invitation.secret), mechanismUid: mechanismUID,
            deviceId: device.token, deviceName: device.name, deviceType: device.type, communicationType: device.communicationType)
        let body = PushClaims.body(messageID: invitation.messageID, claims: claims, secret: invitation.secret)
        let response = try await post(
            JSON.encode(body), to: invitation.registrationEndpoint, cookie: invitation.loadBalancerCookie, for: .pushRegister,
            preference: device.opensPushStream ? PushStreamProof.preference : nil, over: wire)
        return PushStreamLink.endpoint(in: response.headers, of: invitation.registrationEndpoint)
    }

    /// The claim `u`.
    public func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        try SealedPushMessage(delivery.message).claimedMechanismUID()
    }

    /// The claims, after algorithm and signature were checked.
    public func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        return try SealedPushMessage(delivery.message).open(with: push.secret)
    }

    /// Sends the answer to the message's challenge, with the routing cookie of the message.
    public func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over wire: PushTransport
    ) async throws {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        let message = notification.message
        let claims = PushClaims.Answer(answer, challenge: message.challenge, secret: push.secret)
        let body = PushClaims.body(messageID: notification.messageID, claims: claims, secret: push.secret)
        _ = try await post(
            JSON.encode(body), to: push.authenticationEndpoint, cookie: message.loadBalancerCookie, for: .pushAuthenticate,
            over: wire)
    }

    /// Tells the token to where the device was registered, with `_action=refresh` and the routing cookie of the registration.
    /// Servers before AM 8 do not know the action: 501, 404 and 400 mean that.
    public func update(_ device: PushDevice, of mechanism: Mechanism, over wire: PushTransport) async throws {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        guard let endpoint = Self.refreshEndpoint(push.registrationEndpoint) else {
            throw AuthenticatorError(.notSupported, "\(push.registrationEndpoint.host) has no address for new tokens")
        }
        let claims = PushClaims.Update(
            mechanismUid: mechanism.uid, deviceId: device.token, deviceName: device.name, deviceType: device.type,
            communicationType: device.communicationType)
        let body = PushClaims.updateBody(claims, userID: mechanism.userID, secret: push.secret)
        do {
            _ = try await post(body, to: endpoint, cookie: push.loadBalancerCookie, for: .pushUpdate, over: wire)
        } catch let error as AuthenticatorError {
            guard let status = error.status, [400, 404, 501].contains(status) else { throw error }
            throw AuthenticatorError(.notSupported, "\(endpoint.host) does not take new tokens", status: status)
        }
    }

    /// The registration's address with its action replaced; nil when it names none.
    static func refreshEndpoint(_ registration: Endpoint) -> Endpoint? {
        let parts = registration.url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        guard items.contains("_action=register") else { return nil }
        let query = items.map { $0 == "_action=register" ? "_action=refresh" : $0 }.joined(separator: "&")
        return try? Endpoint(stored: "\(parts[0])?\(query)")
    }

    /// Sends a signed body, with the routing cookie where there is one.
    /// - Throws: `TransportError`; ``AuthenticatorError/Code/refusedByServer`` for a 4xx, and
    ///   ``AuthenticatorError/Code/serverMisbehaved`` for anything else that is not a success with an empty body or a JSON
    ///   object.
    private func post(
        _ body: [UInt8], to endpoint: Endpoint, cookie: String?, for action: RequestAction, preference: String? = nil,
        over wire: PushTransport
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(
            "POST", endpoint.url,
            headers: [
                "Accept-API-Version": "resource=1.0, protocol=1.0", "Content-Type": "application/json",
                "Accept": "application/json",
            ], body: body)
        if let cookie { request.headers.append("Cookie", cookie) }
        if let preference { request.headers.append("Prefer", preference) }
        let response = try await wire.send(request, for: action, to: endpoint)
        switch response.status {
        case 200..<300:
            guard
                response.body.isEmpty || response.body.elementsEqual("{}".utf8)
                    || (try? JSON.value(of: response.body))?.object != nil
            else {
                throw AuthenticatorError(
                    .serverMisbehaved, "\(endpoint.host) did not answer with JSON; is this the right server?",
                    status: response.status)
            }
            return response
        case 400..<500:
            throw AuthenticatorError(
                .refusedByServer, "\(endpoint.host) refused: the answer is wrong, or the request was answered or is over",
                status: response.status)
        default:
            throw AuthenticatorError(.serverMisbehaved, "\(endpoint.host) is out of order", status: response.status)
        }
    }
}

/// The `Link` header (RFC 8288) by which a server says where its desk is.
enum PushStreamLink {
    /// The desk, if there is a link to one of the same origin as `registration`; a link to elsewhere is not followed.
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
