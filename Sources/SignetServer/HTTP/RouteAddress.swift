import SignetCore

extension Route {
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

        /// Reads a path below the context path.
        ///
        /// Returns nil for an unknown resource.
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
            guard let prefix = segments.first, !segments.contains(""),
                let route = resource(below: prefix, segments.dropFirst())
            else { return nil }
            let pattern = route.pattern
            guard let realm = Self.realm(segments.dropFirst().dropLast(pattern.count)) else { return nil }
            let arguments = zip(pattern, segments.suffix(pattern.count)).filter { isParameter($0.0) }.map(\.1)
            self.init(route, realm: realm == .root ? RealmPath(realmParameter ?? "/") : realm, arguments: arguments)
        }

        /// The path below the context path.
        ///
        /// JSON resources use the short form that AM writes into enrollment URIs, OAuth 2.0 resources the long form of AM's
        /// discovery documents.
        var path: String { (route.family == .json ? "/json\(realm.urlPath)" : realm.issuerPath) + steps }

        /// The path for the router: the same resource without the realm.
        var routerPath: String { route.family.prefix + steps }

        private var steps: String {
            var rest = arguments[...]
            return route.pattern.map { "/\(isParameter($0) ? (rest.popFirst() ?? $0).percentEncoded() : $0)" }.joined()
        }

        static func realm(_ segments: ArraySlice<String>) -> RealmPath? {
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
