import SignetCore
import SignetOAuth
import SignetStorage

/// A server that the user logs in to, with a name for it.
struct LoginProfile: Sendable, Equatable {
    /// The default redirect address of a client: any port of this machine (RFC 8252 section 7.3).
    static let defaultRedirectURI = "http://127.0.0.1/callback"

    var name: String
    /// The settings of a `ServerProfile`, in the format of its document (docs/guides/journeys.md).
    var settings: [String: JSONValue]
    /// The hosts for which plain HTTP is allowed.
    var plainHTTPHosts: [String] = []
    /// The path of a file with the certificate authorities for the server; nil for those of the system.
    var authorityFile: String?
    /// The client's secret from the login; nil for a public client, and for a secret in a systemd credential.
    var clientSecret: Secret?

    /// Makes the server profile from the settings, with the client's secret.
    /// - Parameter requiresSecret: Pass false to get a profile without client authentication when the secret isn't available.
    /// - Returns: The server profile.
    /// - Throws: `ProfileError` if the settings are wrong or the secret isn't available.
    func server(requiresSecret: Bool = true) throws(ProfileError) -> ServerProfile {
        let policy = EndpointPolicy.allowingPlainHTTP(to: Set(plainHTTPHosts))
        var secret: Secret?
        do throws(ProfileError) {
            secret = try availableSecret()
        } catch {
            if requiresSecret { throw error }
        }
        guard secret == nil, usesClientSecret else {
            return try ServerProfile(document: .object(settings), policy: policy, clientSecret: secret)
        }
        var client = settings["client"]?.object ?? [:]
        client["authentication"] = nil
        return try ServerProfile(
            document: .object(settings.merging(["client": .object(client)]) { $1 }), policy: policy)
    }

    /// Returns the secret of the client; nil for a public client.
    /// - Throws: `ProfileError` when the secret is neither in the vault nor a systemd credential of this process.
    func availableSecret() throws(ProfileError) -> Secret? {
        guard usesClientSecret else { return nil }
        if let clientSecret { return clientSecret }
        guard let secret = try ClientSecretSource.handedOver() else { throw ClientSecretSource.missing }
        return secret
    }

    /// True when the client authenticates with a secret.
    var usesClientSecret: Bool {
        let name = settings["client"]?["authentication"]?.string
        return name.flatMap { ClientAuthentication.Method(rawValue: $0) }?.needsSecret ?? false
    }

    /// The server's address, as the user wrote it.
    var url: String { settings["url"]?.string ?? "" }

    /// True for an OpenID provider, which has no journeys: its discovery document is below its own address.
    var isProvider: Bool {
        let endpoints = settings["endpoints"]
        return endpoints?["authenticate"] == nil && endpoints?["discovery"]?.string == Self.discoveryAddress(of: url)
    }

    /// Returns the address of the discovery document of an issuer (OpenID Connect Discovery 1.0 section 4.1).
    static func discoveryAddress(of issuer: String) -> String {
        String(issuer.reversed().drop { $0 == "/" }.reversed()) + wellKnown
    }

    /// Returns the issuer that the user named, by itself or by the address of its discovery document.
    static func issuer(_ named: String) -> String {
        named.hasSuffix(wellKnown) ? String(named.dropLast(wellKnown.count)) : named
    }

    private static let wellKnown = "/.well-known/openid-configuration"

    /// Returns the default name of a profile: the host, the port if it isn't the default port, and the realm if it isn't the
    /// top-level realm.
    static func name(for server: ServerProfile) -> String {
        let address = server.url.origin.dropFirst(server.url.scheme.count + 3)
        return address + (server.realm.names.isEmpty ? "" : server.realm.description)
    }
}

/// The servers that the user is logged in to, and the default one.
///
/// The vault stores it.
struct ProfileStore: Sendable, Equatable {
    private(set) var profiles: [LoginProfile] = []
    private(set) var defaultName: String?

    private static let record = RecordKey(.item, "signet.logins")

    /// Reads the profiles of the vault.
    ///
    /// Without a record the result is empty.
    static func read(from vault: Vault) throws(StoreError) -> ProfileStore {
        try vault.read { (records: any RecordReader) throws(StoreError) in try read(records) }
    }

    /// Changes the profiles of the vault in one transaction, so that changes of other processes aren't lost.
    static func change(in vault: Vault, _ body: (inout ProfileStore) -> Void) throws(StoreError) {
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            var store = try read(records)
            body(&store)
            try records.put(JSON.encode(store.json), record)
        }
    }

    private static func read(_ records: any RecordReader) throws(StoreError) -> ProfileStore {
        guard let bytes = try records.record(record) else { return ProfileStore() }
        guard let json = try? JSON.value(of: bytes), let store = ProfileStore(json: json) else {
            throw StoreError(.corrupt, "read the logins", "the record of the login profiles is damaged; it was not changed")
        }
        return store
    }

    /// Returns the profile with a name or with a server's address.
    ///
    /// If `wanted` is nil, returns the default profile or else the only one.
    /// - Throws: ``Failure`` with the names of the existing profiles.
    func profile(_ wanted: String?) throws -> LoginProfile {
        guard !profiles.isEmpty else {
            throw Failure(.notAllowed, "login.none", "no user is logged in here: signet login SERVER")
        }
        guard let wanted = wanted ?? defaultName else {
            if profiles.count == 1 { return profiles[0] }
            throw Failure(.badInput, "ambiguous", "there are several login profiles; select one with --profile: \(names)")
        }
        if let exact = profiles.first(where: { $0.name == wanted }) { return exact }
        let normalizedURL = Self.normalizedURL(wanted)
        let alike = normalizedURL == nil ? [] : profiles.filter { Self.normalizedURL($0.url) == normalizedURL }
        return try alike.only(
            orMissing: "there is no profile '\(wanted)'; there are: \(names)",
            orSeveral: "several login profiles match; select one with --profile", name: \.name)
    }

    /// Returns the normalized form of an address, or nil if the text isn't an address.
    private static func normalizedURL(_ address: String) -> String? { (try? Endpoint(unchecked: address))?.normalizedURL }

    private var names: String { profiles.map(\.name).joined(separator: ", ") }

    /// Stores a profile, and replaces one with the same name.
    ///
    /// The first profile becomes the default.
    mutating func keep(_ profile: LoginProfile, asDefault: Bool) {
        if let index = profiles.firstIndex(where: { $0.name == profile.name }) {
            profiles[index] = profile
        } else {
            profiles.append(profile)
        }
        if asDefault || profiles.count == 1 { defaultName = profile.name }
    }

    /// Removes a profile.
    ///
    /// If it was the default, no other profile becomes the default.
    mutating func remove(_ name: String) {
        profiles.removeAll { $0.name == name }
        if defaultName == name { defaultName = nil }
    }
}

// MARK: Storage format

extension ProfileStore {
    private static let version = JSONValue.integer(1)

    fileprivate var json: JSONValue {
        JSONText.object([
            "version": Self.version, "default": .string(defaultName),
            "profiles": .array(profiles.map(\.json)),
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
                    authorityFile: entry["authorities"]?.string,
                    clientSecret: entry["clientSecret"]?.string.map { Secret($0.utf8) }))
        }
        defaultName = json["default"]?.string
    }
}

extension LoginProfile {
    /// The profile in the sealed record of the vault.
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "settings": .object(settings), "plainHTTP": .array(plainHTTPHosts.map { .string($0) }),
        ]
        members["authorities"] = authorityFile.map { .string($0) }
        members["clientSecret"] = clientSecret.map { .string($0.text) }
        return .object(members)
    }
}
