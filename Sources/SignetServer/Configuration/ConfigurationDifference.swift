import SignetCore

/// The difference between the configuration of a running server and a new one.
///
/// It contains names only, no values.
public struct ConfigurationDifference: Sendable, Hashable, CustomStringConvertible {
    /// The names of one kind of parts, each list in alphabetical order.
    public struct Names: Sendable, Hashable {
        /// Those that only the new configuration has.
        public let added: [String]
        /// Those whose settings differ.
        public let changed: [String]
        /// Those that only the earlier configuration has.
        public let removed: [String]

        init(from old: [String: Int], to new: [String: Int]) {
            added = new.keys.filter { old[$0] == nil }.sorted()
            changed = new.filter { name, hash in old[name].map { $0 != hash } ?? false }.keys.sorted()
            removed = old.keys.filter { new[$0] == nil }.sorted()
        }

        /// True when nothing differs.
        public var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

        /// Returns the names as text, for example `users: added kim; removed noa`.
        fileprivate func line(_ kind: String) -> String? {
            guard !isEmpty else { return nil }
            let parts = [("added", added), ("changed", changed), ("removed", removed)].filter { !$0.1.isEmpty }
            return "\(kind): " + parts.map { "\($0) \($1.joined(separator: ", "))" }.joined(separator: "; ")
        }
    }

    /// The users; one of another realm than the top-level realm has the form `name in /realm`.
    public let users: Names
    /// The clients, like the users.
    public let clients: Names
    /// The journeys.
    public let journeys: Names
    /// The other settings that were changed.
    public let settings: [String]
    /// The settings that the new configuration changes and that keep their values until a restart.
    public let restartSettings: [String]

    /// True when the configurations are equal.
    public var isEmpty: Bool {
        users.isEmpty && clients.isEmpty && journeys.isEmpty && settings.isEmpty && restartSettings.isEmpty
    }

    /// The difference as text, one line for each kind of parts; empty when the configurations are equal.
    public var lines: [String] {
        [
            users.line("users"), clients.line("clients"), journeys.line("journeys"),
            settings.isEmpty ? nil : "settings: changed \(settings.joined(separator: ", "))",
            restartSettings.isEmpty ? nil : "settings that need a restart: \(restartSettings.joined(separator: ", "))",
        ].compactMap(\.self)
    }

    /// Returns the name of a user or a client in a difference.
    package static func name(_ name: String, in realm: String) -> String {
        let path = RealmPath(realm)
        return path == .root ? name : "\(name) in \(path)"
    }

    /// The ``lines`` as one text.
    public var description: String { isEmpty ? "nothing changed" : lines.joined(separator: "\n") }
}

/// The hashes of the parts of a configuration, by which configurations are compared.
///
/// The values of secrets are not kept.
struct ConfigurationFingerprint: Sendable, Hashable {
    var users: [String: Int]
    var clients: [String: Int]
    var journeys: [String: Int]
    var settings: [String: Int]

    init(_ configuration: ServerConfiguration) {
        users = Self.hashes(configuration.users.map { (ConfigurationDifference.name($0.name, in: $0.realm), $0.hashValue) })
        clients = Self.hashes(configuration.clients.map { (ConfigurationDifference.name($0.id, in: $0.realm), $0.hashValue) })
        journeys = Self.hashes(configuration.journeys.trees.map { ($0.name, $0.fingerprint) })
        settings = Self.hashes(ReloadableSetting.all.map { ($0.name, $0.hash(configuration)) })
    }

    private static func hashes(_ pairs: [(String, Int)]) -> [String: Int] { Dictionary(pairs, uniquingKeysWith: { $1 }) }

    /// Returns the difference from this configuration to a new one.
    func difference(to new: ConfigurationFingerprint) -> ConfigurationDifference {
        let changed = ReloadableSetting.all.filter { settings[$0.name] != new.settings[$0.name] }
        return ConfigurationDifference(
            users: ConfigurationDifference.Names(from: users, to: new.users),
            clients: ConfigurationDifference.Names(from: clients, to: new.clients),
            journeys: ConfigurationDifference.Names(from: journeys, to: new.journeys),
            settings: changed.filter { $0.keep == nil }.map(\.name).sorted(),
            restartSettings: changed.filter { $0.keep != nil }.map(\.name).sorted())
    }
}
