import SignetCore
import SignetJourney
import SignetNetwork

/// Where somebody is about to log in: what the arguments say, over what is known already.
struct LoginPlan {
    let profile: LoginProfile
    /// The profile of that name, as it is kept.
    let known: LoginProfile?

    private static let largestFile = 1 << 20

    /// - Throws: ``Failure``; `ProfileError` for settings that are wrong.
    init(_ arguments: Login, _ book: LoginBook) throws {
        var settings = try arguments.settingsFile.map(Self.settings) ?? [:]
        if let server = arguments.server { settings["url"] = .string(server) }
        if let realm = arguments.realm { settings["realm"] = .string(realm) }
        if settings["url"] == nil {
            guard !book.profiles.isEmpty else { throw Failure(.usage, "login.noServer", "say where: signet login SERVER") }
            known = try book.profile(arguments.profile)
        } else {
            let hosts = arguments.plainHTTPHosts
            let place = LoginProfile(
                name: "", settings: settings.filter { ["url", "realm"].contains($0.key) }, plainHTTPHosts: hosts)
            let name = try arguments.profile ?? LoginProfile.name(for: place.server())
            guard !name.isEmpty, name.isSafeToShow, !name.contains(where: \.isWhitespace) else {
                throw Failure(.usage, "login.profile", "a profile's name is one word")
            }
            known = book.profiles.first { $0.name == name }
            try Self.checkIsSame(known, place)
        }
        profile = try Self.profile(arguments, settings, known)
    }

    /// Whether the login before was another client's.
    var replacesClient: Bool { oldClient?.clientID != newClient?.clientID && known != nil }

    /// Whether the tokens of the login before were asked for in another way: with other scopes, for example.
    var changesClient: Bool { oldClient != newClient && known != nil }

    private var oldClient: OAuthClient? { try? known?.server().client }
    private var newClient: OAuthClient? { try? profile.server().client }

    private static func profile(
        _ arguments: Login, _ settings: [String: JSONValue], _ known: LoginProfile?
    ) throws -> LoginProfile {
        var all = (known?.settings ?? [:]).merging(settings) { $1 }
        if let journey = arguments.journey { all["authenticationService"] = .string(journey) }
        all["client"] = try client(arguments, all["client"]?.object)
        var profile = LoginProfile(
            name: known?.name ?? arguments.profile ?? "", settings: all,
            plainHTTPHosts: Set((known?.plainHTTPHosts ?? []) + arguments.plainHTTPHosts).sorted())
        let server = try profile.server()
        if profile.name.isEmpty { profile.name = LoginProfile.name(for: server) }
        return profile
    }

    /// A server of one name must not take the place of another.
    private static func checkIsSame(_ known: LoginProfile?, _ wanted: LoginProfile) throws {
        guard let known else { return }
        let (old, new) = (try known.server(), try wanted.server())
        guard old.url != new.url || old.realm != new.realm else { return }
        throw Failure(
            .alreadyExists, "login.exists",
            "the profile \(known.name) is the login at \(known.url), realm \(old.realm); say another --profile, or log out there first:"
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
            throw Failure(.usage, "login.noClient", "--redirect and --scope say what a client asks for: say --client ID too")
        }
        client["redirectUri"] = client["redirectUri"] ?? .string(LoginProfile.usualRedirectURI)
        client["scopes"] = client["scopes"] ?? .array([.string("openid")])
        return .object(client)
    }

    private static func settings(in path: String) throws -> [String: JSONValue] {
        guard let bytes = try TransferFile.contents(of: path, limit: largestFile) else {
            throw Failure(.badInput, "login.settings", "\(path) is larger than a million bytes")
        }
        guard let settings = (try? JSON.value(of: bytes))?.object else {
            throw Failure(.badInput, "login.settings", "\(path) is not a JSON object with the settings of a server profile")
        }
        return settings
    }
}
