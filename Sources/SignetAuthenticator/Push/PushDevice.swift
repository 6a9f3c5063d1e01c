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

    /// A device. It calls itself an Android one by default: to AM everything that is not `apns` is.
    public init(token: String, name: String, type: String = "android", communicationType: String = "gcm") {
        self.token = token
        self.name = name
        self.type = type
        self.communicationType = communicationType
    }
}
