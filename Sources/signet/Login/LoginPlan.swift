import SignetCore
import SignetNetwork
import SignetOAuth
import SignetYAML

/// The profile for a login, from the command's arguments, the settings file and the stored profile.
struct LoginPlan {
    let profile: LoginProfile
    /// The stored profile with the same name.
    let known: LoginProfile?

    /// Combines the arguments, the settings file and the stored profile.
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - store: The stored profiles.
    ///   - isProvider: True when the address is that of an OpenID provider, which `--issuer` says too.
    /// - Throws: ``Failure``; `ProfileError` for wrong settings.
    init(_ arguments: Login, _ store: ProfileStore, isProvider: Bool = false) throws {
        let file = try arguments.settingsFile.map(SettingsFile.init)
        do {
            try self.init(arguments, store, settings: file?.settings ?? [:], isProvider: isProvider || arguments.issuer != nil)
        } catch let error as ProfileError {
            throw file?.locating(error) ?? error
        }
    }

    private init(
        _ arguments: Login, _ store: ProfileStore, settings: [String: JSONValue], isProvider: Bool
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
        profile = try Self.profile(arguments, settings, known, isProvider: isProvider)
    }

    /// True when the earlier login used another OAuth client.
    var replacesClient: Bool { oldClient?.clientID != newClient?.clientID && known != nil }

    /// True when the earlier login used other client settings, for example other scopes.
    var changesClient: Bool { oldClient != newClient && known != nil }

    private var oldClient: OAuthClient? { try? known?.server().client }
    private var newClient: OAuthClient? { try? profile.server().client }

    private static func profile(
        _ arguments: Login, _ settings: [String: JSONValue], _ known: LoginProfile?, isProvider: Bool
    ) throws -> LoginProfile {
        var all = (known?.settings ?? [:]).merging(settings) { $1 }
        if isProvider {
            let discovery = JSONValue.string(LoginProfile.discoveryAddress(of: all["url"]?.string ?? ""))
            all["endpoints"] = .object((all["endpoints"]?.object ?? [:]).merging(["discovery": discovery]) { $1 })
        }
        if let journey = arguments.journey { all["authenticationService"] = .string(journey) }
        all["client"] = try client(arguments, all["client"]?.object)
        var profile = LoginProfile(
            name: known?.name ?? arguments.profile ?? "", settings: all,
            plainHTTPHosts: Set((known?.plainHTTPHosts ?? []) + arguments.plainHTTP.hosts).sorted(),
            authorityFile: try arguments.trust.file == nil && known?.authorityFile != nil
                ? known?.authorityFile : arguments.trust.authorityFile())
        let server = try profile.server()
        if profile.name.isEmpty { profile.name = LoginProfile.name(for: server) }
        return profile
    }

    /// Throws if a different server already uses the profile's name.
    private static func checkIsSame(_ known: LoginProfile?, _ wanted: LoginProfile) throws {
        guard let known else { return }
        let (old, new) = (try known.server(), try wanted.server())
        guard old.url.normalizedURL != new.url.normalizedURL || old.realm != new.realm else { return }
        throw Failure(
            .alreadyExists, "login.exists",
            "the profile \(known.name) is the login at \(known.url), realm \(old.realm); use another --profile, or log out there first:"
                + " signet logout --profile \(known.name)")
    }

    private static func client(_ arguments: Login, _ known: [String: JSONValue]?) throws -> JSONValue? {
        var client = known ?? [:]
        if let id = arguments.client { client["id"] = .string(id) }
        if let redirect = arguments.redirect { client["redirectUri"] = .string(redirect) }
        let scopes = arguments.scope.flatMap { $0.split(separator: " ") }
        if !scopes.isEmpty { client["scopes"] = .array(scopes.map { .string(String($0)) }) }
        guard !client.isEmpty else { return nil }
        guard client["id"] != nil else {
            throw Failure(.usage, "login.noClient", "--redirect and --scope are for an OAuth 2.0 client: add --client ID")
        }
        client["redirectUri"] = client["redirectUri"] ?? .string(LoginProfile.defaultRedirectURI)
        client["scopes"] = client["scopes"] ?? .array([.string("openid")])
        return .object(client)
    }
}

/// The settings of a profile, from a file that the user wrote.
private struct SettingsFile {
    let settings: [String: JSONValue]
    private let path: String
    /// The YAML document; nil for a JSON file.
    private let document: ProfileDocument?

    private static let maxSize = 1 << 20

    init(_ path: String) throws {
        guard let bytes = try TransferFile.contents(of: path, limit: Self.maxSize) else {
            throw Failure(.badInput, "login.settings", "\(path) is larger than \(Self.maxSize >> 20) MiB")
        }
        self.path = path
        // JSON may contain tabs, which YAML doesn't allow as indentation.
        if let settings = (try? JSON.value(of: bytes))?.object {
            (self.settings, document) = (settings, nil)
            return
        }
        do throws(ProfileError) {
            let document = try ProfileDocument(yaml: bytes)
            (settings, self.document) = (document.settings, document)
        } catch {
            throw Failure(.badInput, "login.settings", "\(path):\(error)")
        }
    }

    /// Returns the error with the file's path and the position of the setting, or nil if the position is unknown.
    func locating(_ error: ProfileError) -> (any Error)? {
        guard let document, let located = document.placing(error) else { return nil }
        var failure = Failure(located)
        failure.message = "\(path):\(failure.message)"
        return failure
    }
}
