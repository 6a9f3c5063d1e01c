/// Checks that the user is present before a notification is approved, for example with a fingerprint, a face or a PIN.
///
/// The ForgeRock SDK shows the system's prompt. Here the app provides the check, with
/// ``FRAClient/setUserPresence(userPresence:)``.
public protocol FRAUserPresence: Sendable {
    /// Asks the user to confirm their presence. Returns when the user was recognized.
    /// - Parameters:
    ///   - title: The text to show.
    ///   - allowDeviceCredentials: True when the device's PIN or password is accepted too.
    ///   - notification: The notification that the user is asked to approve.
    /// - Throws: Any error when the user was not recognized, canceled or cannot be asked.
    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws
}
