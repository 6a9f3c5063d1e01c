import FRAuthenticator

// The user check for a biometric message: forgerock-ios-sdk shows the system's prompt and does not have these names; Signet asks the app.

/// A check that recognizes each user.
struct RecognizedUser: FRAUserPresence {
    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {}
}

extension PushSamples {
    /// Answers a message in the way that its type needs, with a user that the device recognizes.
    static func answerWithRecognizedUser(messageId: String, data: String) async throws -> String {
        try FRAClient.setUserPresence(userPresence: RecognizedUser())
        return try await answer(messageId: messageId, data: data)
    }
}
