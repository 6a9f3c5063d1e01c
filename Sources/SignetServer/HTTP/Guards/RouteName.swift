import HTTPTypes
import Hummingbird

/// Which of the server's addresses a request is for, without realm, names and tokens: one of a few dozen names, so that it can be counted
/// and shown.
struct RouteName: Sendable, Hashable, CustomStringConvertible {
    enum Family: Sendable {
        case json
        case oauth2
        case pages
        case console
        case health
        /// The push front, at an address of its own.
        case front
        /// There is nothing at the address.
        case none
    }

    let family: Family
    /// The resource, below `/json` and `/oauth2`.
    let resource: ResourceAddress.Resource?
    /// For example `/json/authenticate`, `/json/users/*/devices/2fa/*`, `/XUI`.
    let description: String

    /// Reads a path, which need not have an address.
    init(_ path: String, below contextPath: String, front: PushGatewayConfiguration?) {
        if let front, front.isAt(path) {
            self.init(.front, "push front")
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

    /// What faults and the journal call it (``FaultRoute/names``); nil for what has no name there.
    var name: String? {
        switch family {
        case .json, .oauth2: resource?.rawValue
        case .pages: FaultRoute.pages
        case .health: FaultRoute.health
        case .front: FaultRoute.front
        case .console, .none: nil
        }
    }

    private init(_ family: Family, _ description: String, _ resource: ResourceAddress.Resource? = nil) {
        self.family = family
        self.resource = resource
        self.description = description
    }
}
