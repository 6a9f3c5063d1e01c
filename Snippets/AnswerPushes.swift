// Receive push messages over the push stream and send the user's answers.
import SignetAuthenticator
import SignetCore

// snippet.hide
func answerPushes(
    _ authenticator: Authenticator, mechanismUID: String, ask: @escaping @Sendable (PushNotification) async -> Bool
) async throws {
    // snippet.show
    try await PushStreamListener(authenticator, mechanismUID: mechanismUID).run { event in
        guard case .received(let notification) = event, notification.decision == nil else { return }
        if await ask(notification) {
            _ = try await authenticator.approve(notification.id)
        } else {
            _ = try await authenticator.deny(notification.id)
        }
    }
    // snippet.hide
}
