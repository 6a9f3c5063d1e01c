import SignetCore

/// The data by which this device registers for push (protocol/authenticator.md section 3.3).
public struct PushDevice: Sendable, Hashable {
    /// The token by which a push service addresses the device.
    ///
    /// For a desktop it is any unguessable text that stays the same.
    public var token: String
    /// A device name that the user recognizes.
    public var name: String
    /// `deviceType` on the wire: `android` or `ios`, the two that AM knows.
    public var type: String
    /// `communicationType` on the wire: `gcm` or `apns`.
    public var communicationType: String
    /// True when the device receives messages over the server's push stream, if the server has one (``PushStreamListener``).
    ///
    /// A server that can also send to phones is told so at registration.
    public var opensPushStream: Bool

    /// Creates a device.
    ///
    /// The default type is Android, because AM treats every communication type except `apns` as Android.
    public init(
        token: String, name: String, type: String = "android", communicationType: String = "gcm",
        opensPushStream: Bool = false
    ) {
        self.token = token
        self.name = name
        self.type = type
        self.communicationType = communicationType
        self.opensPushStream = opensPushStream
    }
}

extension PushDevice {
    /// Returns the device as the server knows it when it sends to an inbox at a push gateway.
    ///
    /// It is an Android device, because tokens of Apple devices have a format of their own.
    func at(_ inbox: PushInbox) -> PushDevice {
        PushDevice(token: inbox.address, name: name, type: "android", communicationType: "gcm")
    }
}
