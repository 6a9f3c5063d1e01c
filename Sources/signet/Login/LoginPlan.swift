import SignetCore
import SignetNetwork
import SignetOAuth

/// The profile for a login, from the command's arguments, the settings file and the stored profile.
struct LoginPlan {
    let profile: LoginProfile
    /// The stored profile with the same name.
    let known: LoginProfile?

    /// Combines the arguments, the settings file and the stored profile.
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - store: The stored profiles.
    ///   - clientSecret: The client's secret from the arguments; nil for that of the settings file or the stored profile.
    ///   - isProvider: True when the address is that of an OpenID provider, which `--issuer` says too.
    /// - Throws: ``Failure``; `ProfileError` for wrong settings.
    init(_ arguments: Login, _ store: ProfileStore, clientSecret: Secret?, isProvider: Bool = false) throws {
        let file = try arguments.settingsFile.map(SettingsFile.init)
        do {
            try self.init(
                arguments, store, settings: file?.settings ?? [:], clientSecret: clientSecret,
                isProvider: isProvider || arguments.issuer != nil)
        } catch let error as ProfileError {
            throw file?.locating(error) ?? error
        }
    }

    private init(
        _ arguments: Login, _ store: ProfileStore, settings: [String: JSONValue], clientSecret: Secret?, isProvider: Bool
    ) throws {
        var settings = settings
        if let server = arguments.server ?? arguments.issuer.map(LoginProfile.issuer) { settings["url"] = .string(server) }
        if let realm = arguments.realm { settings["realm"] = .string(realm) }
        if settings["url"] == nil {
            guard !store.profiles.isEmpty else {
                throw Failure(.usage, "login.noServer", "no server is given: signet login SERVER")
            }
            known = try store.profile(arguments.profile)
        } else {
            let target = LoginProfile(
                name: "", settings: settings.filter { ["url", "realm"].contains($0.key) },
                plainHTTPHosts: arguments.plainHTTP.hosts)
            let name = try arguments.profile ?? LoginProfile.name(for: target.server())
            guard !name.isEmpty, name.isSafeToShow, !name.contains(where: \.isWhitespace) else {
                throw Failure(.usage, "login.profile", "the name of a profile must be one word without control characters")
            }
            known = store.profiles.first { $0.name == name }
            try Self.checkIsSame(known, target)
        }
        profile = try Self.profile(arguments, settings, known, clientSecret, isProvider: isProvider)
    }

    /// True when the earlier login used another OAuth client.
    var replacesClient: Bool { oldClient?.clientID != newClient?.clientID && known != nil }

    /// True when the earlier login used other client settings, for example other scopes.
    var changesClient: Bool { oldClient != newClient && known != nil }

    /// True when the earlier login of the same client authenticated it with another method or another secret.
    ///
    /// The earlier login then stays as it is until the server has accepted the new secret.
    var changesAuthentication: Bool {
        changesClient && !replacesClient && oldClient?.authentication != newClient?.authentication
    }

    /// The authentication of the client in the earlier login; nil when its secret isn't available.
    var knownAuthentication: ClientAuthentication? { (try? known?.server().client)?.authentication }

    private var oldClient: OAuthClient? { try? known?.server(requiresSecret: false).client }
    private var newClient: OAuthClient? { try? profile.server().client }

    private static func profile(
        _ arguments: Login, _ settings: [String: JSONValue], _ known: LoginProfile?, _ clientSecret: Secret?,
        isProvider: Bool
    ) throws -> LoginProfile {
        var all = (known?.settings ?? [:]).merging(settings) { $1 }
        if isProvider {
            let discovery = JSONValue.string(LoginProfile.discoveryAddress(of: all["url"]?.string ?? ""))
            all["endpoints"] = .object((all["endpoints"]?.object ?? [:]).merging(["discovery": discovery]) { $1 })
        }
        if let journey = arguments.journey { all["authenticationService"] = .string(journey) }
        var base = all["client"]?.object ?? [:]
        // The authentication of the earlier client is taken over below, unless this is another client.
        if settings["client"] == nil { base["authentication"] = nil }
        let (client, secret) = try authenticated(try client(arguments, base, hasSecret: clientSecret != nil), known, clientSecret)
        all["client"] = client.map { .object($0) }
        var profile = LoginProfile(
            name: known?.name ?? arguments.profile ?? "", settings: all,
            plainHTTPHosts: Set((known?.plainHTTPHosts ?? []) + arguments.plainHTTP.hosts).sorted(),
            authorityFile: try arguments.trust.file == nil && known?.authorityFile != nil
                ? known?.authorityFile : arguments.trust.authorityFile())
        profile.clientSecret = secret
        let server = try profile.server()
        if profile.name.isEmpty { profile.name = LoginProfile.name(for: server) }
        return profile
    }

    /// Throws if a different server already uses the profile's name.
    private static func checkIsSame(_ known: LoginProfile?, _ wanted: LoginProfile) throws {
        guard let known else { return }
        let (old, new) = (try known.server(requiresSecret: false), try wanted.server())
        guard old.url.normalizedURL != new.url.normalizedURL || old.realm != new.realm else { return }
        throw Failure(
            .alreadyExists, "login.exists",
            "the profile \(known.name) is the login at \(known.url), realm \(old.realm); use another --profile, or log out there first:"
                + " signet logout --profile \(known.name)")
    }

    /// Returns the settings of the client with those of the arguments; nil without a client.
    private static func client(
        _ arguments: Login, _ base: [String: JSONValue], hasSecret: Bool
    ) throws -> [String: JSONValue]? {
        var client = base
        if let id = arguments.client { client["id"] = .string(id) }
        if let redirect = arguments.redirect { client["redirectUri"] = .string(redirect) }
        let scopes = arguments.scope.flatMap { $0.split(separator: " ") }
        if !scopes.isEmpty { client["scopes"] = .array(scopes.map { .string(String($0)) }) }
        guard !client.isEmpty || hasSecret else { return nil }
        guard client["id"] != nil else {
            throw Failure(
                .usage, "login.noClient",
                "--redirect, --scope and --client-secret-file are for an OAuth 2.0 client: add --client ID")
        }
        client["redirectUri"] = client["redirectUri"] ?? .string(LoginProfile.defaultRedirectURI)
        client["scopes"] = client["scopes"] ?? .array([.string("openid")])
        return client
    }

    /// Returns the settings of the client with its method of authentication, and its secret.
    ///
    /// The secret of the arguments has priority, then the one in the file of the settings, then that of the earlier login. The
    /// vault keeps it, so the stored settings name no file. Without any of them the client needs the systemd credential.
    private static func authenticated(
        _ settings: [String: JSONValue]?, _ known: LoginProfile?, _ given: Secret?
    ) throws -> (client: [String: JSONValue]?, secret: Secret?) {
        guard var client = settings else { return (nil, nil) }
        let (method, file) = ("authentication", client.removeValue(forKey: "secretFile"))
        if client[method] == .null { client[method] = nil }
        var secret = given
        if secret == nil, let file, file != .null {
            guard let path = file.string else { throw ProfileError("client.secretFile", .type(expected: "a string")) }
            secret = try ClientSecretFile.secret(ofSetting: path)
        }
        let earlier = known?.settings["client"]?["id"] == client["id"] ? known : nil
        if client[method] == nil, let earlier, earlier.usesClientSecret {
            client[method] = earlier.settings["client"]?[method]
        }
        guard secret != nil else {
            let isConfidential = LoginProfile(name: "", settings: ["client": .object(client)]).usesClientSecret
            return (client, isConfidential ? earlier?.clientSecret : nil)
        }
        guard client[method] != .string("none") else {
            throw ProfileError("client.authentication", .value("must not be none for a client with a secret"))
        }
        client[method] = client[method] ?? .string(ClientAuthentication.Method.clientSecretBasic.rawValue)
        return (client, secret)
    }
}
