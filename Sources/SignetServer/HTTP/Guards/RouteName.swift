import HTTPTypes
import Hummingbird

/// The name of the route that a request matches, without realm, user names and tokens. There are a few dozen names, so that they
/// can be metric labels.
struct RouteName: Sendable, Hashable, CustomStringConvertible {
    enum Family: Sendable {
        case json
        case oauth2
        case pages
        case console
        case health
        /// The push gateway, which has its own address.
        case gateway
        /// An address without a resource.
        case none
    }

    let family: Family
    /// The resource, for paths below `/json` and `/oauth2`.
    let resource: ResourceAddress.Resource?
    /// The route, for example `/json/authenticate`, `/json/users/*/devices/2fa/*`, `/XUI`.
    let description: String

    /// Reads any path, also one that has no route.
    init(_ path: String, below contextPath: String, gateway: PushGatewayConfiguration?) {
        if let gateway, gateway.isAt(path) {
            self.init(.gateway, "push gateway")
            return
        }
        guard path.hasPrefix("\(contextPath)/") else {
            self.init(.none, "none")
            return
        }
        let below = path.dropFirst(contextPath.count)
        switch below.dropFirst().prefix(while: { $0 != "/" }) {
        case "health": self.init(.health, "/health")
        case "console": self.init(.console, "/console")
        case "XUI": self.init(.pages, "/XUI")
        case "json", "oauth2":
            guard let address = ResourceAddress(path: below, realmParameter: nil) else {
                self.init(below.hasPrefix("/json") ? .json : .oauth2, "none")
                return
            }
            let family = address.resource.family
            self.init(
                family == .json ? .json : .oauth2,
                "/\(family.rawValue)/\(address.resource.pattern.joined(separator: "/"))", address.resource)
        default: self.init(.none, "none")
        }
    }

    /// The name of the route for faults and in the request log (``FaultRoute/names``); nil for a route without such a name.
    var name: String? {
        switch family {
        case .json, .oauth2: resource?.rawValue
        case .pages: FaultRoute.pages
        case .health: FaultRoute.health
        case .gateway: FaultRoute.gateway
        case .console, .none: nil
        }
    }

    private init(_ family: Family, _ description: String, _ resource: ResourceAddress.Resource? = nil) {
        self.family = family
        self.resource = resource
        self.description = description
    }
}
