import Hummingbird
import SignetCore

/// An address of the server that has a name. The request log, faults and metrics use the name, so it never contains a realm, a
/// user or a token.
///
/// ``DevServer`` builds the router from ``ServerContext/responder``, which lists every address.
enum Route: String, CaseIterable, Sendable {
    case authenticate
    case sessions
    case session
    case secondFactorDevices
    case secondFactorDevice
    case profileDevices
    case profileDevice
    case pushMessage
    case pushStream
    case authorize
    case accessToken
    case revocation
    case introspection
    case userInfo
    case endSession
    case keys
    case discovery
    case deviceCode
    case deviceUser
    /// The login pages, below `/XUI`.
    case pages
    case health
    /// The push gateway, which has its own path outside of the context path.
    case gateway

    /// A group of addresses that share the format of their errors.
    enum Family: Sendable {
        case json
        case oauth2
        case pages
        case console
        case admin
        case health
        case gateway
        /// Every other address.
        case none

        /// The prefix of the family's paths; empty when the paths have no common prefix.
        var prefix: String {
            switch self {
            case .json: "/json"
            case .oauth2: "/oauth2"
            case .pages: "/XUI"
            case .console: "/console"
            case .admin: "/admin"
            case .health: "/health"
            case .gateway: "/front"
            case .none: ""
            }
        }
    }

    /// AM's resources: the routes that a realm can be part of.
    static let resources = allCases.filter { $0.family == .json || $0.family == .oauth2 }

    var family: Family {
        switch self {
        case .authenticate, .sessions, .session, .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice,
            .pushMessage, .pushStream:
            .json
        case .authorize, .accessToken, .revocation, .introspection, .userInfo, .endSession, .keys, .discovery, .deviceCode,
            .deviceUser:
            .oauth2
        case .pages: .pages
        case .health: .health
        case .gateway: .gateway
        }
    }

    /// The path segments after the family's prefix. A segment with a colon is a parameter, which matches any one segment.
    var pattern: [String] {
        switch self {
        case .authenticate: ["authenticate"]
        case .sessions: ["sessions"]
        case .session: ["sessions", ":token"]
        case .secondFactorDevices: ["users", ":user", "devices", "2fa", ":kind"]
        case .secondFactorDevice: ["users", ":user", "devices", "2fa", ":kind", ":id"]
        case .profileDevices: ["users", ":user", "devices", "profile"]
        case .profileDevice: ["users", ":user", "devices", "profile", ":id"]
        case .pushMessage: ["push", "sns", "message"]
        case .pushStream: ["push", "stream"]
        case .authorize: ["authorize"]
        case .accessToken: ["access_token"]
        case .revocation: ["token", "revoke"]
        case .introspection: ["introspect"]
        case .userInfo: ["userinfo"]
        case .endSession: ["connect", "endSession"]
        case .keys: ["connect", "jwk_uri"]
        case .discovery: [".well-known", "openid-configuration"]
        case .deviceCode: ["device", "code"]
        case .deviceUser: ["device", "user"]
        case .pages, .health, .gateway: []
        }
    }

    /// The number of parameters in ``pattern``.
    var parameterCount: Int { pattern.count(where: Self.isParameter) }

    /// The path for the router, without a realm.
    var routerPath: RouterPath { RouterPath(family.prefix + pattern.map { "/\($0)" }.joined()) }

    /// The path with `*` in place of each parameter. It is a label of metrics and the name of spans.
    var label: String {
        self == .gateway ? "push gateway" : family.prefix + pattern.map { Self.isParameter($0) ? "/*" : "/\($0)" }.joined()
    }

    private static func isParameter(_ step: String) -> Bool { step.hasPrefix(":") }

    fileprivate func matches(_ segments: ArraySlice<String>) -> Bool {
        guard segments.count >= pattern.count else { return false }
        return zip(pattern, segments.suffix(pattern.count)).allSatisfy { Self.isParameter($0) || $0 == $1 }
    }

    /// The address of one of AM's resources in a realm (protocol/journey.md sections 1.1 and 1.2).
    struct Address: Sendable, Hashable {
        let route: Route
        let realm: RealmPath
        /// The values of the pattern's parameters, in order.
        let arguments: [String]

        init(_ route: Route, realm: RealmPath, arguments: [String] = []) {
            self.route = route
            self.realm = realm
            self.arguments = arguments
        }

        /// Reads a path below the context path. Returns nil for an unknown resource.
        ///
        /// The realm may be written `/json/realms/root/realms/alpha`, `/json/realms/alpha`, `/json/alpha`, or be a query
        /// parameter; a realm in the path wins. The forms below `/oauth2` are the same.
        init?(path: some StringProtocol, realmParameter: String?) {
            var segments: [String] = []
            for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
                guard let segment = part.percentDecoded() else { return nil }
                segments.append(segment)
            }
            if segments.last == "" { segments.removeLast() }
            guard let prefix = segments.first.map({ "/\($0)" }), !segments.contains(""),
                let route = resources.first(where: { $0.family.prefix == prefix && $0.matches(segments.dropFirst()) }),
                let realm = Self.realm(segments.dropFirst().dropLast(route.pattern.count))
            else { return nil }
            let arguments = zip(route.pattern, segments.suffix(route.pattern.count)).filter { isParameter($0.0) }.map(\.1)
            self.init(route, realm: realm == .root ? RealmPath(realmParameter ?? "/") : realm, arguments: arguments)
        }

        /// The path below the context path. JSON resources use the short form that AM writes into enrollment URIs, OAuth 2.0
        /// resources the long form of AM's discovery documents.
        var path: String { (route.family == .json ? "/json\(realm.urlPath)" : realm.issuerPath) + steps }

        /// The path for the router: the same resource without the realm.
        var routerPath: String { route.family.prefix + steps }

        private var steps: String {
            var rest = arguments[...]
            return route.pattern.map { "/\(isParameter($0) ? (rest.popFirst() ?? $0).percentEncoded() : $0)" }.joined()
        }

        private static func realm(_ segments: ArraySlice<String>) -> RealmPath? {
            guard segments.first == "realms" else { return RealmPath(names: segments) }
            let steps = Array(segments)
            guard steps.count.isMultiple(of: 2), stride(from: 0, to: steps.count, by: 2).allSatisfy({ steps[$0] == "realms" })
            else { return nil }
            let names = stride(from: 1, to: steps.count, by: 2).map { steps[$0] }
            return RealmPath(names: names.first == "root" ? names.dropFirst() : names[...])
        }
    }
}

extension StringProtocol {
    /// Returns the part of a path below the context path, with its leading slash; nil for a path outside of it.
    func below(contextPath: String) -> Self.SubSequence? {
        hasPrefix("\(contextPath)/") ? dropFirst(contextPath.count) : nil
    }
}
