import SignetCore

/// How this device presents itself when it registers for push (protocol/authenticator.md section 3.3).
public struct PushDevice: Sendable, Hashable {
    /// The address under which a push service finds the device. For a desktop it is any unguessable text that stays the same.
    public var token: String
    /// A name that the person will recognise.
    public var name: String
    /// `deviceType` on the wire: `android` or `ios`, the two that AM knows.
    public var type: String
    /// `communicationType` on the wire: `gcm` or `apns`.
    public var communicationType: String
    /// Whether it takes its messages at the server's desk, if there is one (``PushStreamListener``): a server that can reach phones as well is
    /// told so.
    public var opensPushStream: Bool

    /// A device. It calls itself an Android one by default: to AM everything that is not `apns` is.
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
    /// The same device as a server knows it that sends to its mailbox at a push front: an Android one, since Apple's tokens have a
    /// form of their own.
    func at(_ mailbox: PushMailbox) -> PushDevice {
        PushDevice(token: mailbox.address, name: name, type: "android", communicationType: "gcm")
    }
}
