public import SignetCore

/// Makes sure that the person is there who may approve: a fingerprint, a face, a PIN. The app brings it.
public protocol UserPresence: Sendable {
    /// Asks the person. Returns when they were recognised, and throws when they were not, gave up, or cannot be asked.
    /// - Parameter notification: What they are asked to approve.
    func confirm(_ notification: PushNotification) async throws
}
