import SignetAuthenticator
import SignetCore

/// AM's platform for the credentials of an app's ``PushStorage``, whose values have passed no check of the engine.
///
/// It refuses to sign with a short secret, to answer without a challenge, and to send to an address that the policy does not allow.
struct StoragePlatform: SignetAuthenticator.PushPlatform {
    private let platform = AccessManagerPlatform()
    let policy: EndpointPolicy

    var name: String { platform.name }

    func claimedMechanismUID(of delivery: PushDelivery) throws -> String? { try platform.claimedMechanismUID(of: delivery) }

    func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        try check(mechanism)
        return try platform.open(delivery, for: mechanism)
    }

    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? {
        try await platform.register(invitation, mechanismUID: mechanismUID, device: device, over: transport)
    }

    func send(
        _ answer: PushAnswer, to notification: SignetCore.PushNotification, of mechanism: Mechanism, over transport: PushTransport
    ) async throws {
        try check(mechanism)
        guard !notification.message.challenge.isEmpty else {
            throw PushError.invalidParameterValue("the notification has no challenge to answer")
        }
        try await platform.send(answer, to: notification, of: mechanism, over: transport)
    }

    func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws {
        try check(mechanism)
        try await platform.update(device, of: mechanism, over: transport)
    }

    private func check(_ mechanism: Mechanism) throws {
        guard let push = mechanism.push else { throw AuthenticatorError.noPush }
        guard push.secret.count >= PushCredential.minSecretLength else {
            throw PushError.invalidParameterValue("the shared secret is missing, no base64, or shorter than 32 bytes")
        }
        do {
            for endpoint in [push.registrationEndpoint, push.authenticationEndpoint] {
                _ = try Endpoint(endpoint.url, policy: policy)
            }
        } catch {
            throw PushError.invalidParameterValue(
                "serverEndpoint: \(error.description); PushConfiguration.plainHTTPHosts names the hosts that may use plain http")
        }
    }
}
