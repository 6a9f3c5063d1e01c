public import Foundation

/// A rule with a name that says which fault happens, at which route, for which client and for how long.
///
///     try server.faults.enable(FaultRule(.status(503, retryAfter: 1), at: "accessToken", .times(2)))
public struct FaultRule: Sendable, Hashable {
    /// The maximum length of a name, in characters.
    static let maxNameLength = 64
    /// Ten years, in seconds.
    private static let maxTime = 10 * 365.25 * 86_400

    /// The time or the count after which a fault ends.
    public enum Extent: Sendable, Hashable {
        /// The fault applies to this number of further requests or push messages.
        case times(Int)
        /// The fault lasts until a time of the server's clock.
        case until(Date)
        /// The fault lasts until it is disabled.
        case untilDisabled
    }

    /// The name in the request log.
    ///
    /// Enabling a rule replaces the rule with the same name.
    public var name: String
    /// The kind of fault.
    public var kind: FaultKind
    /// The route at which it happens.
    public var route: FaultRoute
    /// The client for which it happens; nil for every client.
    public var client: ClientMatch?
    /// The duration of the fault.
    public var extent: Extent
    /// True when the request is executed before its response is replaced, so that the client gets no confirmation of its effect.
    ///
    /// The kinds `status`, `html` and `cut` allow a choice; the others are always executed. The default is true for `cut`,
    /// false for `status` and `html`.
    public var isExecuted: Bool?

    /// Creates a rule.
    /// - Parameters:
    ///   - kind: The kind of fault.
    ///   - name: The name in the request log; nil for the kind's name.
    ///   - route: The route at which it happens; by default every route that the kind allows.
    ///   - client: The client for which it happens; nil for every client.
    ///   - extent: The duration of the fault.
    public init(
        _ kind: FaultKind, name: String? = nil, at route: FaultRoute = .everywhere, for client: ClientMatch? = nil,
        _ extent: Extent = .untilDisabled
    ) {
        self.name = name ?? kind.name
        self.kind = kind
        self.route = route
        self.client = client
        self.extent = extent
    }

    var executesRequest: Bool { isExecuted ?? kind.executesRequest }

    /// Validates the rule.
    /// - Throws: The error in the rule.
    func check(contextPath: String, realms: Set<RealmPath>, hasPushGateway: Bool, at now: Date) throws(FaultError) {
        guard !name.isEmpty, name.count <= Self.maxNameLength, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2F })
        else {
            throw .parameter("name", "is up to \(Self.maxNameLength) characters of ASCII without spaces and slashes")
        }
        if let problem = kind.problem { throw problem }
        if case .times(let count) = extent, !(1...1_000_000).contains(count) {
            throw .parameter("times", "is a number from 1 to 1000000")
        }
        if case .until(let end) = extent, !(end > now && end.timeIntervalSince(now) <= Self.maxTime) {
            throw .parameter("until", "is later than now, by ten years at most")
        }
        if isExecuted != nil, !kind.leavesChoice { throw .parameter("executed", "cannot be chosen for \(kind.name)") }
        try route.check(contextPath: contextPath, realms: realms)
        if route.text == Route.gateway.rawValue, !hasPushGateway {
            throw .parameter("route", "is the push gateway, which this server does not have")
        }
        if let home = kind.home, !route.reaches(home, below: contextPath) {
            throw .wrongRoute(kind: kind, route: route.text)
        }
    }
}

/// The route of a fault: everywhere, a resource by its name (`authenticate`, `accessToken`, …), `pages`, `health`, the push
/// gateway (`gateway`), or a path.
///
/// In a path, `*` matches one segment, and `**` at the end matches any number of segments. The context path is optional:
/// `/json/realms/root/realms/alpha/authenticate`, `/oauth2/**`, `/json/*/authenticate`.
public struct FaultRoute: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name or the path; empty for everywhere.
    public let text: String

    /// Creates a route from a name or a path.
    ///
    /// It is validated when the fault is enabled.
    public init(_ text: String) { self.text = text }

    /// Creates a route from a string literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// Every address except those of the console and the administration API.
    public static let everywhere = FaultRoute("")

    /// The names of the resources and of the other named routes.
    public static let names: [String] = Route.allCases.map(\.rawValue)

    /// Returns true when a request matches the route.
    /// - Parameters:
    ///   - route: The request's route; nil for an address without a name.
    ///   - path: The path below the context path.
    /// - Returns: True for an empty route, for a path that matches, and for the name of the request's route.
    func matches(_ route: Route?, _ path: String) -> Bool {
        if text.isEmpty { return true }
        if text.hasPrefix("/") { return PathPattern(text).matches(path[...]) }
        return text == route?.rawValue
    }

    /// Returns the route without the context path.
    func below(_ contextPath: String) -> FaultRoute {
        text.below(contextPath: contextPath).map { FaultRoute(String($0)) } ?? self
    }

    fileprivate func check(contextPath: String, realms: Set<RealmPath>) throws(FaultError) {
        guard !text.isEmpty, !Self.names.contains(text) else { return }
        let path = below(contextPath).text
        guard path.hasPrefix("/"), path.utf8.count <= 256 else { throw .unknownRoute(text) }
        if path.hasSuffix("/**") {
            let roots = ["", "/json", "/oauth2", "/XUI"]
            guard roots.contains(where: { path == "\($0)/**" || (!$0.isEmpty && path.hasPrefix("\($0)/")) }) else {
                throw .unknownRoute(text)
            }
            return
        }
        if ["/health", "/XUI"].contains(where: { path == $0 || path.hasPrefix("\($0)/") }) { return }
        guard let address = Route.Address(path: path, realmParameter: nil) else { throw .unknownRoute(text) }
        guard address.realm.names.contains("*") || realms.contains(address.realm) else { throw .unknownRoute(text) }
    }

    /// Returns true when the route can match a resource.
    fileprivate func reaches(_ resource: Route, below contextPath: String) -> Bool {
        guard text.hasPrefix("/") else { return text.isEmpty || text == resource.rawValue }
        let path = below(contextPath).text
        guard path.hasSuffix("**") else {
            return Route.Address(path: path, realmParameter: nil)?.route == resource
        }
        return path == "/**" || path.hasPrefix("\(resource.family.prefix)/")
    }
}
