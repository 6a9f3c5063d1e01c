import SignetCore
import SignetNetwork

/// The two requests of the push protocol, and what their answers mean (protocol/authenticator.md sections 3.2 and 4.4).
struct PushExchange {
    let transport: any HTTPTransport

    /// Sends a signed body, with the routing cookie where there is one.
    /// - Throws: `TransportError`; ``AuthenticatorError/Code/refusedByServer`` for a 4xx, and
    ///   ``AuthenticatorError/Code/serverMisbehaved`` for anything else that is not a success with an empty body or a JSON
    ///   object.
    func post(_ body: PushRequestBody, to endpoint: Endpoint, cookie: String?) async throws -> HTTPResponse {
        var request = HTTPRequest(
            "POST", endpoint.url,
            headers: [
                "Accept-API-Version": "resource=1.0, protocol=1.0", "Content-Type": "application/json",
                "Accept": "application/json",
            ], body: JSON.encode(body))
        if let cookie { request.headers.append("Cookie", cookie) }
        let response = try await transport.send(request)
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

extension Authenticator {
    /// Registers this device for push. Returns where the server's desk is, if it says that it has one.
    func register(_ invitation: PushInvitation, mechanismUID: String) async throws -> Endpoint? {
        let claims = PushClaims.Registration(
            response: PushClaims.response(to: invitation.challenge, secret: invitation.secret), mechanismUid: mechanismUID,
            deviceId: device.token, deviceName: device.name, deviceType: device.type, communicationType: device.communicationType)
        let body = PushClaims.body(messageID: invitation.messageID, claims: claims, secret: invitation.secret)
        let response = try await PushExchange(transport: transport).post(
            body, to: invitation.registrationEndpoint, cookie: invitation.loadBalancerCookie)
        return DeskLink.endpoint(in: response.headers, of: invitation.registrationEndpoint)
    }
}

/// The `Link` header (RFC 8288) by which a server says where its desk is.
enum DeskLink {
    /// The desk, if there is a link to one of the same origin as `registration`; a link to elsewhere is not followed.
    static func endpoint(in headers: HTTPHeaders, of registration: Endpoint) -> Endpoint? {
        for link in headers.all("Link").flatMap({ $0.split(separator: ",") }) {
            let parts = link.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let target = parts.first, target.hasPrefix("<"), target.hasSuffix(">"),
                parts.dropFirst().contains("rel=\"\(DeskProof.linkRelation)\"")
            else { continue }
            let url = String(target.dropFirst().dropLast())
            if let desk = try? Endpoint(unchecked: url), desk.hasSameOrigin(as: registration) { return desk }
        }
        return nil
    }
}
