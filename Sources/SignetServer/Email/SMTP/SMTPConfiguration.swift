public import SignetCore

/// The server that delivers the emails of a development server, over SMTP (RFC 5321).
public struct SMTPConfiguration: Sendable, Hashable {
    /// The protection of the connection.
    public enum Security: Sendable, Hashable {
        /// The connection is not encrypted, as with a mail catcher on the same machine.
        case none
        /// The connection is encrypted with STARTTLS (RFC 3207); a server that does not offer it gets no email.
        case startTLS
    }

    /// The host name or the IP address.
    public var host: String
    /// The TCP port.
    public var port = 25
    /// The protection of the connection.
    public var security = Security.none
    /// The name to log in with (AUTH PLAIN, RFC 4616); nil when the server needs no login.
    ///
    /// It is sent only with ``Security/startTLS``, or to a loopback address.
    public var username: String?
    /// The password to log in with.
    public var password: Secret?
    /// The address of the sender.
    public var sender = "signet@localhost"
    /// The path of a PEM file with the certificates of the authorities to trust; nil for those of the system.
    public var authorities: String?
    /// The time in which an email must be delivered, in seconds, 1 to 300.
    public var timeout = 10

    /// Creates a configuration and lets `configure` change it.
    public init(host: String, _ configure: (inout Self) -> Void = { _ in }) {
        self.host = host
        configure(&self)
    }
}
