import SignetCore

/// The resource and the realm that a path addresses (protocol/journey.md sections 1.1 and 1.2).
struct ResourceAddress: Sendable, Hashable {
    enum Resource: String, CaseIterable {
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
    }

    /// AM's two trees of resources.
    enum Family: String {
        case json
        case oauth2
    }

    let resource: Resource
    let realm: RealmPath
    /// The path segments that match the pattern's `*`, in order.
    let arguments: [String]

    init(_ resource: Resource, realm: RealmPath, arguments: [String] = []) {
        self.resource = resource
        self.realm = realm
        self.arguments = arguments
    }

    /// Reads a path below the context path. Returns nil for an unknown resource.
    ///
    /// The realm may be written `/json/realms/root/realms/alpha`, `/json/realms/alpha`, `/json/alpha`, or be a query parameter; a
    /// realm in the path wins. The forms below `/oauth2` are the same.
    init?(path: some StringProtocol, realmParameter: String?) {
        var segments: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let segment = part.percentDecoded() else { return nil }
            segments.append(segment)
        }
        if segments.last == "" { segments.removeLast() }
        guard let family = segments.first.flatMap(Family.init), !segments.contains(""),
            let resource = Resource.allCases.first(where: { $0.family == family && $0.matches(segments.dropFirst()) }),
            let realm = Self.realm(segments.dropFirst().dropLast(resource.pattern.count))
        else { return nil }
        let arguments = zip(resource.pattern, segments.suffix(resource.pattern.count)).filter { $0.0 == Resource.any }.map(\.1)
        self.init(resource, realm: realm == .root ? RealmPath(realmParameter ?? "/") : realm, arguments: arguments)
    }

    /// The path below the context path. JSON resources use the short form that AM writes into enrollment URIs, OAuth 2.0
    /// resources the long form of AM's discovery documents.
    var path: String {
        var rest = arguments[...]
        let steps = resource.pattern.map { $0 == Resource.any ? (rest.popFirst() ?? $0).percentEncoded() : $0 }
        let prefix = resource.family == .json ? "/json\(realm.urlPath)" : realm.issuerPath
        return "\(prefix)/\(steps.joined(separator: "/"))"
    }

    private static func realm(_ segments: ArraySlice<String>) -> RealmPath? {
        guard segments.first == "realms" else { return RealmPath(names: segments) }
        let steps = Array(segments)
        guard steps.count.isMultiple(of: 2), stride(from: 0, to: steps.count, by: 2).allSatisfy({ steps[$0] == "realms" }) else {
            return nil
        }
        let names = stride(from: 1, to: steps.count, by: 2).map { steps[$0] }
        return RealmPath(names: names.first == "root" ? names.dropFirst() : names[...])
    }
}

extension ResourceAddress.Resource {
    /// The wildcard in a pattern, which matches any one segment.
    static let any = "*"

    var family: ResourceAddress.Family {
        switch self {
        case .authenticate, .sessions, .session, .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice,
            .pushMessage, .pushStream:
            .json
        case .authorize, .accessToken, .revocation, .introspection, .userInfo, .endSession, .keys, .discovery, .deviceCode,
            .deviceUser:
            .oauth2
        }
    }

    /// The segments at the end of each path to the resource.
    var pattern: [String] {
        switch self {
        case .authenticate: ["authenticate"]
        case .sessions: ["sessions"]
        case .session: ["sessions", Self.any]
        case .secondFactorDevices: ["users", Self.any, "devices", "2fa", Self.any]
        case .secondFactorDevice: ["users", Self.any, "devices", "2fa", Self.any, Self.any]
        case .profileDevices: ["users", Self.any, "devices", "profile"]
        case .profileDevice: ["users", Self.any, "devices", "profile", Self.any]
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
        }
    }

    fileprivate func matches(_ segments: ArraySlice<String>) -> Bool {
        let pattern = pattern
        guard segments.count >= pattern.count else { return false }
        return zip(pattern, segments.suffix(pattern.count)).allSatisfy { $0 == Self.any || $0 == $1 }
    }
}
