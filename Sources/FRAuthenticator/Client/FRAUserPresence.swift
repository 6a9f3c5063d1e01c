/// Makes sure that the person is there who may approve: a fingerprint, a face, a PIN. The original SDK shows the system's prompt;
/// here the app brings it, with ``FRAClient/setUserPresence(userPresence:)``.
public protocol FRAUserPresence: Sendable {
    /// Asks the person. Returns when they were recognised, and throws when they were not, gave up, or cannot be asked.
    /// - Parameters:
    ///   - title: What to show.
    ///   - allowDeviceCredentials: Whether a PIN or password of the device will do as well.
    ///   - notification: What they are asked to approve.
    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws
}
