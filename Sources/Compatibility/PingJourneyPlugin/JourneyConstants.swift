/// The names of the protocol.
public enum JourneyConstants {
    /// The default realm.
    public static let realm = "root"
    /// The default name of the session cookie.
    public static let cookie = "iPlanetDirectoryPro"

    /// The member with the state of the journey.
    public static let authId = "authId"
    /// The member with the callbacks.
    public static let callbacks = "callbacks"
    /// The member with the type of a callback.
    public static let type = "type"
    /// The member with the outputs of a callback.
    public static let output = "output"
    /// The member with the inputs of a callback.
    public static let input = "input"
    /// The member with the name of an output or input.
    public static let name = "name"
    /// The member with the value of an output or input.
    public static let value = "value"
    /// The output with the prompt.
    public static let prompt = "prompt"
    /// The output with the message.
    public static let message = "message"
    /// The query parameter that identifies a suspended journey.
    public static let suspendedId = "suspendedId"
}
