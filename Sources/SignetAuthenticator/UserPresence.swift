public import SignetCore

/// A check that the user is present and allowed to approve, by a fingerprint, a face or a PIN. The app implements it.
public protocol UserPresence: Sendable {
    /// Asks the user to confirm their presence. Returns when the device has recognized the user; throws when it has not, when the
    /// user cancels, and when the check is not possible.
    /// - Parameter notification: The notification that the user approves.
    func confirm(_ notification: PushNotification) async throws
}
