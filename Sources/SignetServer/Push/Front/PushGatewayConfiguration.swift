import SignetCore

/// A push front: this server in the place of AWS SNS, for AMs that send push to phones. What they publish it hands to desks, so that
/// an authenticator on a desktop can answer.
public struct PushGatewayConfiguration: Sendable, Hashable {
    /// Where it is, as a path from the top of the server, outside of ``ServerConfiguration/contextPath``; `/` for the top itself.
    public var path = "/sns"
    /// The access keys of which one must have signed each request. Without any nobody can send.
    public var keys: [AWSCredentials]

    /// A front at `/sns`, with what `configure` changes.
    public init(keys: [AWSCredentials], _ configure: (inout Self) -> Void = { _ in }) {
        self.keys = keys
        configure(&self)
    }

    /// ``path`` with one slash in front and none at the end; empty for the top.
    var normalPath: String { path.split(separator: "/").map { "/\($0)" }.joined() }

    /// Whether a request's path is the front's.
    func isAt(_ path: String) -> Bool { path == normalPath || path == normalPath + "/" }
}

extension DevServer {
    /// Where the push front is, for `signet enroll --push-front` and for AMs; nil when this server is none. The port is known when the
    /// server listens.
    public var pushFrontURL: String? {
        guard let front = context.configuration.pushFront, let base = try? Endpoint(unchecked: context.baseURL) else { return nil }
        return "\(base.scheme)://\(base.authority)\(front.normalPath.isEmpty ? "/" : front.normalPath)"
    }
}
