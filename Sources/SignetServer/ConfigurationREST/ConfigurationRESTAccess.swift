/// The clients that may use AM's configuration REST, besides being an administrator's.
public enum ConfigurationRESTAccess: String, Sendable, Hashable, CaseIterable {
    /// None, also when the configuration has an administrator.
    case off
    /// Programs on this machine.
    case loopback
    /// Programs on every machine that reaches the server.
    case network
}
