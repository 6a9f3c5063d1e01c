import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A fault by name: what goes wrong, where, for whom and how often.
///
///     try server.faults.switchOn(FaultRule(.status(503, retryAfter: 1), at: "accessToken", .times(2)))
public struct FaultRule: Sendable, Hashable {
    /// The longest name, in characters.
    static let longestName = 64
    /// Ten years, in seconds.
    private static let longestTime = 10 * 365.25 * 86_400

    /// How long a fault stays.
    public enum Extent: Sendable, Hashable {
        /// For the next so many requests, or push messages, that it is applied to.
        case times(Int)
        /// Until a moment, by the server's clock.
        case until(Date)
        /// Until it is switched off.
        case untilSwitchedOff
    }

    /// What the journal calls it. Switched on under a name that is in use it takes the other's place.
    public var name: String
    /// What goes wrong.
    public var kind: FaultKind
    /// Where.
    public var route: FaultRoute
    /// For whom; nil for everybody.
    public var client: ClientMatch?
    /// How long.
    public var extent: Extent
    /// Whether the request is carried out before its answer is spoilt, which is what a client cannot know. Of the kinds `status`, `html`
    /// and `cut`; the others always are. When nil: yes for `cut`, no for the others.
    public var isCarriedOut: Bool?

    /// A fault.
    /// - Parameters:
    ///   - kind: What goes wrong.
    ///   - name: What the journal calls it; the kind's name when nil.
    ///   - route: Where: everywhere, unless the kind has one place only.
    ///   - client: For whom; nil for everybody.
    ///   - extent: How long.
    public init(
        _ kind: FaultKind, name: String? = nil, at route: FaultRoute = .everywhere, for client: ClientMatch? = nil,
        _ extent: Extent = .untilSwitchedOff
    ) {
        self.name = name ?? kind.name
        self.kind = kind
        self.route = route
        self.client = client
        self.extent = extent
    }

    var carriesOut: Bool { isCarriedOut ?? kind.carriesOut }

    /// - Throws: what is wrong with it.
    func check(contextPath: String, realms: Set<RealmPath>, hasFront: Bool, at now: Date) throws(FaultError) {
        guard !name.isEmpty, name.count <= Self.longestName, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2F })
        else {
            throw .parameter("name", "is up to \(Self.longestName) characters of ASCII without spaces and slashes")
        }
        if let problem = kind.problem { throw problem }
        if case .times(let count) = extent, !(1...1_000_000).contains(count) {
            throw .parameter("times", "is a number from 1 to 1000000")
        }
        if case .until(let end) = extent, !(end > now && end.timeIntervalSince(now) <= Self.longestTime) {
            throw .parameter("until", "is later than now, by ten years at most")
        }
        if isCarriedOut != nil, !kind.leavesChoice { throw .parameter("carriedOut", "cannot be chosen for \(kind.name)") }
        try route.check(contextPath: contextPath, realms: realms)
        if route.text == FaultRoute.front, !hasFront { throw .parameter("route", "is the push front, and this server is none") }
        if let home = kind.home, !route.reaches(home, below: contextPath) {
            throw .wrongRoute(kind: kind.name, route: route.text)
        }
    }
}

/// Where a fault happens: everywhere, at a resource by its name (`authenticate`, `accessToken`, …), at the `pages`, at `health`, at the push
/// `front`, or at paths.
///
/// In a path `*` stands for one segment, and `**` at the end for any number of them; the context path may be left out:
/// `/json/realms/root/realms/alpha/authenticate`, `/oauth2/**`, `/json/*/authenticate`.
public struct FaultRoute: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name or the path; empty for everywhere.
    public let text: String

    /// The route that a name or a path means. Whether there is such a one shows when the fault is switched on.
    public init(_ text: String) { self.text = text }

    /// The route that a name or a path means, in a program's text.
    public init(stringLiteral value: String) { self.init(value) }

    /// Every address but those of the console and the administration.
    public static let everywhere = FaultRoute("")

    /// The names of the resources, and of what else can be meant by name.
    public static let names: [String] = ResourceAddress.Resource.allCases.map(\.rawValue) + [pages, health, front]

    static let pages = "pages"
    static let health = "health"
    static let front = "front"

    /// - Parameters:
    ///   - name: what the path leads to (``RouteName/name``).
    ///   - path: the path below the context path.
    func matches(_ name: String?, _ path: Substring) -> Bool {
        if text.isEmpty { return true }
        if text.hasPrefix("/") { return PathPattern(text).matches(path) }
        return text == name
    }

    /// The same, without the context path.
    func below(_ contextPath: String) -> FaultRoute {
        !contextPath.isEmpty && text.hasPrefix("\(contextPath)/") ? FaultRoute(String(text.dropFirst(contextPath.count))) : self
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
        guard let address = ResourceAddress(path: path, realmParameter: nil) else { throw .unknownRoute(text) }
        guard address.realm.names.contains("*") || realms.contains(address.realm) else { throw .unknownRoute(text) }
    }

    /// Whether it can mean a resource.
    fileprivate func reaches(_ resource: ResourceAddress.Resource, below contextPath: String) -> Bool {
        guard text.hasPrefix("/") else { return text.isEmpty || text == resource.rawValue }
        let path = below(contextPath).text
        guard path.hasSuffix("**") else {
            return ResourceAddress(path: path, realmParameter: nil)?.resource == resource
        }
        return path == "/**" || path.hasPrefix("/\(resource.family.rawValue)/")
    }
}
