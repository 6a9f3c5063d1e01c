/// The configuration of the push gateway, in which this server takes the place of AWS SNS for AM servers that send push messages
/// to phones.
///
/// The gateway puts the messages that they publish into inboxes, and desktop authenticators read their inboxes over an SSE
/// stream.
public struct PushGatewayConfiguration: Sendable, Hashable {
    /// The path of the gateway, relative to the root of the server and outside of `ServerConfiguration.contextPath`.
    ///
    /// `/` is the root itself.
    public var path = "/sns"
    /// The access keys.
    ///
    /// Each request must be signed with one of them, so without keys no client can send messages.
    public var keys: [AWSCredentials]

    /// Creates the configuration of a gateway at `/sns`, with the changes that `configure` makes.
    public init(keys: [AWSCredentials], _ configure: (inout Self) -> Void = { _ in }) {
        self.keys = keys
        configure(&self)
    }

    /// ``path`` with one leading slash and without a trailing slash; empty for the root.
    package var normalPath: String { path.split(separator: "/").map { "/\($0)" }.joined() }

    /// True when the path of a request is the gateway's path, with or without a trailing slash.
    package func isAt(_ path: String) -> Bool { path == normalPath || path == normalPath + "/" }
}
