import SignetCore

/// What a path asks for, and in which realm (protocol/journey.md section 1.2).
struct ResourceAddress: Sendable, Hashable {
    enum Resource: CaseIterable {
        case authenticate
        case pushMessage
        case pushDesk

        var path: [String] {
            switch self {
            case .authenticate: ["authenticate"]
            case .pushMessage: ["push", "sns", "message"]
            case .pushDesk: ["push", "desk"]
            }
        }
    }

    let resource: Resource
    let realm: RealmPath

    init(_ resource: Resource, realm: RealmPath) {
        self.resource = resource
        self.realm = realm
    }

    /// Reads a path below the context path. Nil when there is no such resource.
    ///
    /// The realm may be written `/json/realms/root/realms/alpha`, `/json/realms/alpha`, `/json/alpha`, or stand in the query;
    /// one in the path wins.
    init?(path: some StringProtocol, realmParameter: String?) {
        var segments: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let segment = part.percentDecoded() else { return nil }
            segments.append(segment)
        }
        if segments.last == "" { segments.removeLast() }
        guard segments.first == "json", !segments.contains(""),
            let resource = Resource.allCases.first(where: { segments.dropFirst().ends(with: $0.path) }),
            let realm = Self.realm(segments.dropFirst().dropLast(resource.path.count))
        else { return nil }
        self.init(resource, realm: realm == .root ? RealmPath(realmParameter ?? "/") : realm)
    }

    /// The path below the context path, in the short form that AM itself puts into enrolment URIs.
    var path: String {
        "/json\(realm.urlPath)/\(resource.path.joined(separator: "/"))"
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

extension BidirectionalCollection where Element: Equatable {
    fileprivate func ends(with other: some BidirectionalCollection<Element>) -> Bool {
        reversed().starts(with: other.reversed())
    }
}
