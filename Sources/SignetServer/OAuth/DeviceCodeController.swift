import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../device/code`: issues a device code and a user code (RFC 8628 section 3.1).
struct DeviceCodeController: Sendable {
    let server: ServerContext

    func deviceCode(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try await server.credentials(request, form, in: realm, at: .deviceCode)
        let (code, device, page) = try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            guard client.grantTypes.contains(.deviceCode) else { throw OAuthErrorResponse.unauthorizedClient }
            let asked = form.words("scope")
            guard asked.allSatisfy(client.scopes.contains) else {
                throw OAuthErrorResponse.invalidScope("Unknown/invalid scope(s)")
            }
            let challenge: String?
            do throws(AuthorizationErrorResponse) {
                challenge = try AuthorizationRequest.challenge(form, isRequired: false)
            } catch {
                throw OAuthErrorResponse(.badRequest, error.code, error.message)
            }
            let (code, device) = try tx.deviceCodes.begin(
                client, scopes: asked.isEmpty ? client.scopes : asked, challenge: challenge)
            return (code, device, tx.time.url(.deviceUser, in: realm))
        }
        let lifetime = Int64((device.expiresAt.timeIntervalSince(server.clock.now)).rounded())
        return try OAuthReply.make(
            .ok,
            [
                "device_code": .string(code), "user_code": .string(device.userCode), "verification_uri": .string(page),
                "verification_url": .string(page), "verification_uri_complete": .string("\(page)?user_code=\(device.userCode)"),
                "expires_in": .integer(max(0, lifetime)), "interval": .integer(Int64(device.interval)),
            ])
    }
}
