public import SignetCore

/// A check that the user is present and allowed to approve, by a fingerprint, a face or a PIN.
///
/// The app implements it.
public protocol UserPresence: Sendable {
    /// Asks the user to confirm their presence. Returns when the device has recognized the user.
    /// - Parameter notification: The notification that the user approves.
    /// - Throws: Any error when the device has not recognized the user, the user cancels, or the check is not possible.
    func confirm(_ notification: PushNotification) async throws
}
