import SignetCore
import SignetPushGateway

extension DevServer {
    /// The URL of the push gateway, for `signet enroll --push-gateway` and for AM servers; nil when this server has no push
    /// gateway.
    ///
    /// The port is known only after the server has started to listen.
    public var pushGatewayURL: String? {
        guard let gateway = context.configuration.pushGateway, let base = try? Endpoint(unchecked: context.baseURL) else {
            return nil
        }
        return "\(base.scheme)://\(base.authority)\(gateway.normalPath.isEmpty ? "/" : gateway.normalPath)"
    }
}
