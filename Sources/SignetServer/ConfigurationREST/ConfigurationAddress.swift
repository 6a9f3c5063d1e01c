import HTTPTypes
import SignetCore

/// An address of AM's configuration REST: a resource, and the realm whose configuration it is part of.
///
/// The realm is written as in other addresses of AM (``Route/Address``): it is before `realm-config`, `scripts` or `users`.
struct ConfigurationAddress: Sendable, Hashable {
    /// A resource of the configuration.
    enum Resource: Sendable, Hashable {
        case trees
        case tree(String)
        case nodes
        case nodesOfType(String)
        case node(type: String, id: String)
        case scripts
        case script(String)
        case agents
        case agentsOfType(String)
        case agent(type: String, id: String)
        case services
        case service(String)
        case realms
        case realm(String)
        case users
        case user(String)
        /// A resource of AM that this server does not have, by its path.
        case unknown(String)
    }

    let resource: Resource
    let realm: RealmPath

    /// Reads a path below the context path; the result is nil for an address that is not of the configuration.
    /// - Parameters:
    ///   - path: The path.
    ///   - method: The method of the request: the users have an address in common with other actions.
    ///   - query: Returns a parameter of the query.
    init?(path: some StringProtocol, _ method: HTTPRequest.Method, query: (String) -> String?) {
        guard let segments = Self.segments(path), segments.first == "json" else { return nil }
        guard let (resource, realm) = Self.read(segments.dropFirst()) else { return nil }
        if Route.Address(path: path, realmParameter: nil) != nil, !Self.isOfConfiguration(segments) {
            guard resource == .users, method == .get || query("_action") == "create" else { return nil }
        }
        self.resource = resource
        self.realm = realm == .root ? RealmPath(query("realm") ?? "/") : realm
    }

    private static func segments(_ path: some StringProtocol) -> [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let segment = part.percentDecoded() else { return nil }
            segments.append(segment)
        }
        if segments.last == "" { segments.removeLast() }
        return segments.contains("") ? nil : segments
    }

    private static func isOfConfiguration(_ segments: [String]) -> Bool {
        segments.contains("realm-config") || segments.contains("global-config")
    }

    private static func read(_ segments: ArraySlice<String>) -> (Resource, RealmPath)? {
        for (name, read) in [("realm-config", ofRealm), ("global-config", ofServer)] {
            guard let index = segments.firstIndex(of: name) else { continue }
            return Route.Address.realm(segments[..<index]).map { (read(Array(segments[(index + 1)...])), $0) }
        }
        for count in [2, 1] where segments.count >= count {
            let last = Array(segments.suffix(count))
            guard let resource = besideRealmConfiguration(last) else { continue }
            return Route.Address.realm(segments.dropLast(count)).map { (resource, $0) }
        }
        return nil
    }

    private static func besideRealmConfiguration(_ steps: [String]) -> Resource? {
        switch (steps[0], steps.count) {
        case ("scripts", 1): .scripts
        case ("scripts", _): .script(steps[1])
        case ("users", 1): .users
        case ("users", _): .user(steps[1])
        default: nil
        }
    }

    private static func ofRealm(_ steps: [String]) -> Resource {
        if steps.starts(with: ["authentication", "authenticationtrees"]) { return ofTrees(Array(steps.dropFirst(2)), steps) }
        switch (steps.first, steps.count) {
        case ("agents", 1): return .agents
        case ("agents", 2): return .agentsOfType(steps[1])
        case ("agents", 3): return .agent(type: steps[1], id: steps[2])
        case ("services", 1): return .services
        case ("services", 2): return .service(steps[1])
        default: return .unknown(steps.joined(separator: "/"))
        }
    }

    private static func ofTrees(_ steps: [String], _ path: [String]) -> Resource {
        switch (steps.first, steps.count) {
        case ("trees", 1): .trees
        case ("trees", 2): .tree(steps[1])
        case ("nodes", 1): .nodes
        case ("nodes", 2): .nodesOfType(steps[1])
        case ("nodes", 3): .node(type: steps[1], id: steps[2])
        default: .unknown(path.joined(separator: "/"))
        }
    }

    private static func ofServer(_ steps: [String]) -> Resource {
        switch (steps.first, steps.count) {
        case ("realms", 1): .realms
        case ("realms", 2): .realm(steps[1])
        default: .unknown(steps.joined(separator: "/"))
        }
    }
}
