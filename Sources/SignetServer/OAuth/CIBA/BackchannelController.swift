import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../bc-authorize`: asks a user for an approval on the user's push device (CIBA section 7, in AM's form with push
/// messages and polling).
struct BackchannelController: Sendable {
    let server: ServerContext

    func authorize(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try await server.credentials(request, form, in: realm, at: .backchannelAuthorization)
        let (result, dispatched) = try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            guard client.isConfidential, client.grantTypes.contains(.backchannel) else {
                throw OAuthErrorResponse.unauthorizedClient
            }
            let result = try tx.requestApproval(form, client)
            return (result, tx.dispatched)
        }
        let (id, asked) = try result.get()
        do {
            try await server.deliver(dispatched)
        } catch is APIError {
            throw OAuthErrorResponse(.serviceUnavailable, "temporarily_unavailable", "The push message could not be delivered")
        }
        server.logger.info(
            "approval requested",
            metadata: ["client": "\(credentials.id)", "realm": "\(realm)", "user": "\(asked.user.name)"])
        let lifetime = Int64(asked.expiresAt.timeIntervalSince(server.clock.now).rounded())
        return try OAuthReply.make(
            .ok,
            [
                "auth_req_id": .string(id), "expires_in": .integer(max(0, lifetime)),
                "interval": .integer(Int64(asked.interval)),
            ])
    }
}

extension ServerTransaction {
    /// Sends the user of a request a push message with the binding message, and stores the request.
    /// - Returns: The `auth_req_id` and the request, or a refusal, whose consequences are changes to commit.
    /// - Throws: ``OAuthErrorResponse`` for a request that isn't valid; `StoreError`.
    fileprivate mutating func requestApproval(
        _ form: Parameters, _ client: RegisteredClient
    ) throws -> Result<(String, BackchannelRequest), OAuthErrorResponse> {
        let realm = client.key.realm
        let audiences = [
            time.issuer(of: realm), time.url(.backchannelAuthorization, in: realm), time.url(.accessToken, in: realm),
        ]
        let (asked, signed) = try BackchannelAuthentication.read(form, of: client, audiences: audiences, at: now)
        if let signed {
            let isFirst = try usedIDs.use(signed.id, of: .signedRequest, by: client.key, until: signed.lastUse)
            guard isFirst else { throw OAuthErrorResponse.invalidRequest("The signed request was used before") }
        }
        let user = UserKey(realm: realm, name: asked.user)
        // A client must not learn which users exist, so a user without a device is as unknown as one that doesn't exist.
        guard let record = try directory[user], try directory.isActive(user, since: record.generation),
            let device = try devices.pushDevice(of: user)
        else {
            return .failure(
                OAuthErrorResponse(.badRequest, "unknown_user_id", "There is no such user with a registered push device"))
        }
        let lifetime = asked.expiry ?? time.configuration.pushLifetime
        let end = now.addingTimeInterval(Double(lifetime))
        let text = asked.message ?? "\(client.shownName) asks for your approval at \(time.configuration.issuer)"
        let prompt = PushPrompt(kind: .tap, text: text, lifetime: lifetime)
        guard try !backchannelRequests.isFull(),
            case .sent(let push) = try sendPush(prompt, to: user, on: device, until: end)
        else {
            return .failure(
                OAuthErrorResponse(.forbidden, "access_denied", "Too many messages to the user are waiting, denied or ignored"))
        }
        let request = BackchannelRequest(
            client: client.key, user: user, generation: record.generation, scopes: asked.scopes, messageID: push.messageID,
            expiresAt: end, interval: max(1, time.configuration.devicePollInterval))
        return .success((backchannelRequests.add(request), request))
    }
}
