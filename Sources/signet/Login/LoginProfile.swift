import SignetCore
import SignetJourney
import SignetStorage

/// A server that somebody logs in at, under a name of their own.
struct LoginProfile: Sendable, Equatable {
    /// Where the answers of a client go that names nothing else: any port of this machine (RFC 8252 section 7.3).
    static let usualRedirectURI = "http://127.0.0.1/callback"

    var name: String
    /// The settings of a `ServerProfile`, as its document has them (docs/journeys.md).
    var settings: [String: JSONValue]
    /// The hosts that may be asked over plain http.
    var plainHTTPHosts: [String] = []
    /// The file with the authorities that vouch for the server; nil for the system's.
    var authorityFile: String?

    /// The server.
    /// - Throws: `ProfileError`.
    func server() throws(ProfileError) -> ServerProfile {
        try ServerProfile(document: .object(settings), policy: .allowingPlainHTTP(to: Set(plainHTTPHosts)))
    }

    /// The server's address, as it was given.
    var url: String { settings["url"]?.string ?? "" }

    /// What a profile is called that nobody named: the host, a port that is not the usual one, a realm that is not the top one.
    static func name(for server: ServerProfile) -> String {
        let place = server.url.origin.dropFirst(server.url.scheme.count + 3)
        return place + (server.realm.names.isEmpty ? "" : server.realm.description)
    }
}

/// The servers that somebody is logged in at, and which one is meant when none is named. Kept in the vault.
struct ProfileStore: Sendable, Equatable {
    private(set) var profiles: [LoginProfile] = []
    private(set) var defaultName: String?

    private static let record = RecordKey(.item, "signet.logins")

    /// What the vault has; an empty book when it has none.
    static func read(from vault: Vault) throws(StoreError) -> ProfileStore {
        try vault.read { (records: any RecordReader) throws(StoreError) in try read(records) }
    }

    /// Changes what the vault has, whoever else does at the same time.
    static func change(in vault: Vault, _ body: (inout ProfileStore) -> Void) throws(StoreError) {
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            var book = try read(records)
            body(&book)
            try records.put(JSON.encode(book.json), record)
        }
    }

    private static func read(_ records: any RecordReader) throws(StoreError) -> ProfileStore {
        guard let bytes = try records.record(record) else { return ProfileStore() }
        guard let json = try? JSON.value(of: bytes), let book = ProfileStore(json: json) else {
            throw StoreError(.corrupt, "read the logins", "the record is not what was written; it was left as it is")
        }
        return book
    }

    /// The profile that is meant: the one of a name or of a server's address, else the default, else the only one.
    /// - Throws: ``Failure`` that names those there are.
    func profile(_ wanted: String?) throws -> LoginProfile {
        guard !profiles.isEmpty else {
            throw Failure(.notAllowed, "login.nobody", "nobody is logged in here: signet login SERVER")
        }
        guard let wanted = wanted ?? defaultName else {
            if profiles.count == 1 { return profiles[0] }
            throw Failure(.badInput, "ambiguous", "several servers are known; say --profile with one of: \(names)")
        }
        if let exact = profiles.first(where: { $0.name == wanted }) { return exact }
        let place = Self.place(wanted)
        let alike = place == nil ? [] : profiles.filter { Self.place($0.url) == place }
        guard let profile = alike.first else {
            throw Failure(.notFound, "notFound", "there is no profile '\(wanted)'; there are: \(names)")
        }
        guard alike.count == 1 else {
            let names = alike.map(\.name).joined(separator: ", ")
            throw Failure(.badInput, "ambiguous", "that can mean several; say --profile with one of: \(names)")
        }
        return profile
    }

    /// An address in one way of writing it; nil for what is none.
    private static func place(_ address: String) -> String? { (try? Endpoint(unchecked: address))?.place }

    private var names: String { profiles.map(\.name).joined(separator: ", ") }

    /// Keeps a profile in the place of the one that has its name. The first is the default.
    mutating func keep(_ profile: LoginProfile, asDefault: Bool) {
        if let index = profiles.firstIndex(where: { $0.name == profile.name }) {
            profiles[index] = profile
        } else {
            profiles.append(profile)
        }
        if asDefault || profiles.count == 1 { defaultName = profile.name }
    }

    /// Forgets a profile. What was not the default does not become it unasked.
    mutating func remove(_ name: String) {
        profiles.removeAll { $0.name == name }
        if defaultName == name { defaultName = nil }
    }
}

// MARK: As it is kept

extension ProfileStore {
    private static let version = JSONValue.integer(1)

    fileprivate var json: JSONValue {
        JSONText.object([
            "version": Self.version, "default": .string(defaultName),
            "profiles": .array(
                profiles.map { profile in
                    .object(
                        [
                            "name": .string(profile.name), "settings": .object(profile.settings),
                            "plainHTTP": .array(profile.plainHTTPHosts.map { .string($0) }),
                        ].merging(profile.authorityFile.map { ["authorities": .string($0)] } ?? [:]) { $1 })
                }),
        ])
    }

    init?(json: JSONValue) {
        guard json["version"] == Self.version, let entries = json["profiles"]?.array else { return nil }
        for entry in entries {
            guard let name = entry["name"]?.string, let settings = entry["settings"]?.object,
                let hosts = entry["plainHTTP"]?.array?.map(\.string), !hosts.contains(nil)
            else { return nil }
            profiles.append(
                LoginProfile(
                    name: name, settings: settings, plainHTTPHosts: hosts.compactMap { $0 },
                    authorityFile: entry["authorities"]?.string))
        }
        defaultName = json["default"]?.string
    }
}
