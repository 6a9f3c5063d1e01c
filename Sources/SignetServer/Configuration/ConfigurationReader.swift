import SignetCore
import SignetPushGateway
import YAMLText

extension ServerConfiguration {
    /// Reads a configuration file with realms, users, OAuth 2.0 clients and journeys (docs/reference/configuration.md).
    ///
    /// Settings that the file omits have the defaults of ``init(_:)``. A file without journeys gets those of the starter file. A
    /// user without a password in the file cannot log in with a password until the program sets one.
    /// - Parameter yaml: The text of the file.
    /// - Throws: ``ConfigurationError`` with all problems.
    public init(yaml: String) throws(ConfigurationError) {
        self = try ConfigurationReader.read(ConfigurationSource(yaml), defaultJourneys: { Journeys.starter })
    }

    /// Reads a configuration file as ``init(yaml:)`` does, and checks the external resources that it refers to: the files of
    /// `server.tls`, and the access key of `push.sns`, which can be in the environment variables of AWS.
    /// - Parameters:
    ///   - yaml: The text of the file. Relative paths in it are relative to the working directory of the process.
    ///   - environment: The environment variables of the server's process.
    ///   - usesTLS: True when the server uses the certificate in `server.tls`; false when it uses a different one.
    ///   - imported: Journeys of an AM server, which replace those of the file with the same names. With them, a file without
    ///     journeys does not get those of the starter file.
    /// - Throws: ``ConfigurationError`` with all problems.
    package init(
        yaml: String, environment: [String: String], usesTLS: Bool, importing imported: JourneyImport? = nil
    ) throws(ConfigurationError) {
        try self.init(ConfigurationSource(yaml), environment: environment, usesTLS: usesTLS, importing: imported)
    }

    /// Reads a configuration file whose YAML is parsed already, as ``init(yaml:environment:usesTLS:importing:)`` does.
    /// - Parameters:
    ///   - source: The file.
    ///   - environment: The environment variables of the server's process.
    ///   - usesTLS: True when the server uses the certificate in `server.tls`; false when it uses a different one.
    ///   - imported: Journeys of an AM server.
    /// - Throws: ``ConfigurationError`` with all problems.
    package init(
        _ source: ConfigurationSource, environment: [String: String], usesTLS: Bool, importing imported: JourneyImport? = nil
    ) throws(ConfigurationError) {
        let runtime = RuntimeContext(environment: environment, usesTLS: usesTLS)
        self = try ConfigurationReader.read(
            source, runtime, imported: imported?.entries ?? [], defaultJourneys: { Journeys.starter })
    }

    /// Creates a configuration with the journeys of an AM server, and with the users, clients and attributes of the starter file.
    /// - Throws: ``ConfigurationError`` with all problems.
    package init(importing imported: JourneyImport) throws(ConfigurationError) {
        self = try ConfigurationReader.read(
            ConfigurationSource(Starter.people), imported: imported.entries, defaultJourneys: { Journeys.starter })
    }

    /// The text of the starter file, which contains the configuration that `signet serve` uses without a file.
    public static var starterText: String { Starter.text }

    /// The configuration in the starter file: a user `demo` without a password, a client `app`, and journeys for everything that
    /// a client can encounter.
    public static var starter: ServerConfiguration { Starter.configuration }
}

/// The external resources that a configuration file can refer to.
struct RuntimeContext: Sendable {
    let environment: [String: String]
    let usesTLS: Bool
}

/// Reads a configuration file.
struct ConfigurationReader {
    var problems: [ConfigurationProblem] = []
    /// The external resources; nil when only the file itself is read.
    private let runtime: RuntimeContext?
    var configuration: ServerConfiguration
    var realms: Set<RealmPath> = []
    /// True when the reader reads an empty file only to record its settings.
    var isProbing = false
    /// The recorded settings.
    var settings: [SettingForm.Part: [Setting]] = [:]

    static func read(
        _ source: ConfigurationSource, _ runtime: RuntimeContext? = nil, imported: [MarkedValue.Entry] = [],
        defaultJourneys: () -> Journeys
    ) throws(ConfigurationError) -> ServerConfiguration {
        let value = try source.value
        var reader = ConfigurationReader(ServerConfiguration(journeys: Journeys([])), runtime)
        reader.read(value, imported, defaultJourneys)
        guard reader.problems.isEmpty else { throw ConfigurationError(reader.problems) }
        return reader.configuration
    }

    init(_ configuration: ServerConfiguration, _ runtime: RuntimeContext?) {
        self.configuration = configuration
        self.runtime = runtime
    }

    mutating func read(_ value: MarkedValue, _ imported: [MarkedValue.Entry], _ defaultJourneys: () -> Journeys) {
        var file = ConfigurationDecoder(value, subject: nil)
        let server = file.value("server", kind: "settings of the server", form: .part(.server))
        let push = file.value("push", kind: "delivery of push messages", form: .part(.push))
        let email = file.value("email", kind: "delivery of emails", form: .part(.email))
        configuration.realms = file.strings("realms", configuration.realms)
        realms = Set(configuration.realms.map { RealmPath($0) })
        if realms.isEmpty { file.report(.missingSetting, in: "realms", "there is no realm: `/` is the top-level realm") }
        let attributes = file.value("attributes", kind: "attributes by name", form: .mapping(.part(.attribute)))
        let languages = file.value(
            "languages", kind: "sentences of the pages and emails by language", default: "English",
            form: .mapping(.part(.language)))
        let users = file.elements("users", kind: "a list of users", of: .part(.user))
        let clients = file.elements("clients", kind: "a list of clients", of: .part(.client))
        let given = file.value(
            "journeys", kind: "journeys by name", default: "those of the starter file", form: .mapping(.part(.journey)))
        let journeys = imported.isEmpty ? given : Self.journeys(given, replacedBy: imported)
        configuration.profile = file.choice("profile", "am", ["am": .am, "openid": .openid]) ?? .am
        configuration.scopeClaims = file.scopeClaims()
        finish(file, .file)

        let context = readAttributes(attributes)
        configuration.nodeContext = context
        for user in users { readUser(user) }
        if let journeys {
            var reader = JourneyReader(context, realms: realms)
            configuration.journeys = Journeys(reader.trees(journeys))
            problems += reader.problems
            if reader.problems.isEmpty, configuration.journeys.names.isEmpty {
                problems.append(
                    ConfigurationProblem(
                        .noNodes, at: journeys.position, nil,
                        "there is no journey: add one, or remove `journeys` to use those of the starter file"))
            }
        } else {
            configuration.journeys = defaultJourneys()
        }
        readServer(server)
        readPush(push)
        readEmail(email)
        readLanguages(languages)
        for client in clients { readClient(client) }
    }

    /// Returns the section `journeys` with imported journeys.
    private static func journeys(_ given: MarkedValue?, replacedBy imported: [MarkedValue.Entry]) -> MarkedValue {
        guard let given else { return MarkedValue(content: .mapping(imported), position: .start) }
        guard let entries = given.mapping else { return given }
        let names = Set(imported.map(\.key))
        return MarkedValue(content: .mapping(entries.filter { !names.contains($0.key) } + imported), position: given.position)
    }

    /// Takes over the problems of a decoder, and records its settings.
    mutating func finish(_ decoder: ConfigurationDecoder, _ part: SettingForm.Part) {
        problems += decoder.finished()
        if isProbing { settings[part] = decoder.settings }
    }

    // MARK: Server

    private mutating func readServer(_ value: MarkedValue?) {
        var reader = ConfigurationDecoder(value, subject: "server", isProbing: isProbing)
        var server = configuration
        server.issuer = reader.string("issuer", server.issuer)
        reader.check("issuer", server.issuer, "a name without colons, and not empty") { !$0.isEmpty && !$0.contains(":") }
        server.contextPath = reader.string("contextPath", server.contextPath)
        reader.check("contextPath", server.contextPath, "a path of letters, digits and `-._~`, such as `/am`", TextRule.isPath)
        server.publicURL = reader.optionalString("publicURL", default: "the address that the server listens on")
        reader.check("publicURL", server.publicURL, "a URL such as `https://am.example.test/am`", TextRule.isBase)
        server.externalLoginPageURL = reader.optionalString("externalLoginPageURL", default: "the server's login page")
        reader.check(
            "externalLoginPageURL", server.externalLoginPageURL,
            "the URL of a page or an app without a fragment, such as `https://app.example.test/login`", TextRule.isRedirect)
        server.cookieName = reader.string("cookieName", server.cookieName)
        reader.check("cookieName", server.cookieName, "the name of a cookie, without spaces and separators", TextRule.isToken)
        server.cookieDomain = reader.optionalString("cookieDomain", default: "none")
        reader.check("cookieDomain", server.cookieDomain, "a domain, such as `example.test`", TextRule.isDomain)
        server.cookieIsHTTPOnly = reader.bool("cookieIsHTTPOnly", server.cookieIsHTTPOnly)
        server.cookieSameSite = reader.choice("cookieSameSite", "lax", Self.sameSite) ?? server.cookieSameSite
        server.loadBalancerCookie =
            reader.optionalString("loadBalancerCookie", default: "`amlbcookie=01`") ?? server.loadBalancerCookie
        server.backgroundColor = reader.color("backgroundColor") ?? server.backgroundColor
        server.accentColor = reader.color("accentColor")
        server.logo = reader.image("logo", default: "the server's")
        server.defaultLanguage = reader.string("defaultLanguage", server.defaultLanguage)
        reader.check("defaultLanguage", server.defaultLanguage, "the tag of a language, such as `de`") { LanguageTag($0) != nil }
        server.sessionIdleTimeout = reader.integer("sessionIdleTimeout", server.sessionIdleTimeout, in: 1...Self.maxSeconds)
        server.sessionMaxLifetime = reader.integer("sessionMaxLifetime", server.sessionMaxLifetime, in: 1...Self.maxSeconds)
        server.sessionProperties = reader.sessionProperties()
        server.offersUserPicker = reader.bool("offersUserPicker", server.offersUserPicker)
        server.loginTraces = reader.integer("loginTraces", server.loginTraces, in: 0...10_000)
        server.journeyTimeout = reader.integer("journeyTimeout", server.journeyTimeout, in: 1...Self.maxSeconds)
        server.suspensionTimeout = reader.integer("suspensionTimeout", server.suspensionTimeout, in: 1...Self.maxSeconds)
        server.pushTimeout = reader.integer("pushTimeout", server.pushTimeout, in: 1...86_400)
        server.devicePollInterval = reader.integer("devicePollInterval", server.devicePollInterval, in: 1...86_400)
        server.devicePendingStatus = reader.choice("devicePendingStatus", "400", ["400": 400, "403": 403]) ?? 400
        server.configurationREST =
            reader.choice("configurationREST", "loopback", Self.configurationAccess) ?? server.configurationREST
        server.authorizeErrors = reader.choice("authorizeErrors", "page", ["page": .page, "json": .json]) ?? .page
        let polls = reader.optionalInteger("pollInterval", in: 0...86_400_000, default: "AM's schedule")
        server.pollInterval = polls.map { .milliseconds($0) }
        server.webAuthnRelyingParty = reader.optionalString("webAuthnRelyingParty", default: "the host, or `localhost`")
        reader.check("webAuthnRelyingParty", server.webAuthnRelyingParty, "a domain, such as `example.test`", TextRule.isHost)
        server.webAuthnOrigins = reader.origins("webAuthnOrigins", ofApps: true)
        server.lifetimes = lifetimes(&reader, server.lifetimes)
        server.dpop = reader.dpop(server.dpop)
        reader.limits(&server)
        server.allowedHosts = reader.hosts("allowedHosts")
        server.corsOrigins = reader.origins("corsOrigins")
        server.tls = reader.tls(isUsed: runtime?.usesTLS == true)
        let names = server.journeys.names
        let first = names.contains(server.defaultJourney) ? server.defaultJourney : names.first ?? server.defaultJourney
        server.defaultJourney = journey("defaultJourney", first, &reader)
        server.transactionJourney = journey("transactionJourney", server.defaultJourney, &reader)
        configuration = server
        finish(reader, .server)
    }

    private mutating func readPush(_ value: MarkedValue?) {
        var reader = PushReader(environment: runtime?.environment)
        (configuration.sns, configuration.pushGateway) = reader.read(value)
        problems += reader.problems
        guard let gateway = configuration.pushGateway else { return }
        let (path, context) = (gateway.normalPath, configuration.normalContextPath)
        if !context.isEmpty, path == context || path.hasPrefix(context + "/") {
            problems.append(
                ConfigurationProblem(
                    .conflict, at: value?.position ?? .start, "push, gateway",
                    "`path` is inside of the `contextPath`, `\(context)`: choose another path"))
        }
    }

    mutating func readEmail(_ value: MarkedValue?) {
        guard let value else { return }
        var reader = ConfigurationDecoder(value, subject: "email", isProbing: isProbing)
        configuration.smtp = reader.emailDelivery(checksFiles: runtime != nil)
        finish(reader, .email)
    }

    private static let sameSite: KeyValuePairs<String, CookieSameSite> = ["strict": .strict, "lax": .lax, "none": .none]

    private static let configurationAccess: KeyValuePairs<String, ConfigurationRESTAccess> = [
        "off": .off, "loopback": .loopback, "network": .network,
    ]

    /// The maximum in seconds: a century.
    private static let maxSeconds = 3_153_600_000

    /// Reads the name of a journey that clients can start.
    private func journey(_ name: String, _ defaultValue: String, _ reader: inout ConfigurationDecoder) -> String {
        let given = reader.optionalString(name, kind: "the name of a journey", default: "`\(defaultValue)`")
        let names = configuration.journeys.names
        if let given, !names.contains(given) {
            let isPart = configuration.journeys.trees.contains { $0.name == given }
            reader.report(
                isPart ? .innerJourney : .unknownName, in: name,
                isPart
                    ? "clients cannot start the journey `\(given.shortened)`: remove its `innerTreeOnly`, or choose another journey"
                    : "there is no journey `\(given.shortened)`" + names.suggestion(for: given))
        }
        return given ?? defaultValue
    }

    func lifetimes(_ reader: inout ConfigurationDecoder, _ defaults: TokenLifetimes) -> TokenLifetimes {
        reader.section("lifetimes", kind: "seconds by name") { part in
            var lifetimes = defaults
            lifetimes.authorizationCode = part.integer("authorizationCode", defaults.authorizationCode, in: 1...Self.maxSeconds)
            lifetimes.accessToken = part.integer("accessToken", defaults.accessToken, in: 1...Self.maxSeconds)
            lifetimes.refreshToken = part.integer("refreshToken", defaults.refreshToken, in: 1...Self.maxSeconds)
            lifetimes.idToken = part.integer("idToken", defaults.idToken, in: 1...Self.maxSeconds)
            lifetimes.deviceCode = part.integer("deviceCode", defaults.deviceCode, in: 1...Self.maxSeconds)
            lifetimes.pushedRequest = part.integer("pushedRequest", defaults.pushedRequest, in: 5...600)
            return lifetimes
        } ?? defaults
    }

    // MARK: Users

    mutating func readUser(_ value: MarkedValue) {
        var reader = ConfigurationDecoder(value, subject: "users")
        var user = User(name: "")
        (user.name, user.realm, user.password) = identity(&reader, name: "name", secret: "password")
        // The name is a path segment in the URLs of `/admin`.
        if user.name.isSafeName {
            reader.check("name", user.name, "a string without slashes and without spaces at its ends, and not empty") {
                $0.isNameOfPath
            }
        } else {
            reader.report(
                .invalidValue, in: "name",
                "`name` must be without control characters, text direction marks and invisible characters, not "
                    + "`\(user.name.escapedName.shortened)`")
        }
        if let text = reader.optionalString("passwordHash", kind: "a scrypt hash") {
            user.passwordHash = PasswordHash(text)
            if user.passwordHash == nil {
                reader.report(
                    .invalidValue, in: "passwordHash",
                    "`passwordHash` must be a scrypt hash in PHC format, `$scrypt$ln=14,r=8,p=1$SALT$HASH`, of at most 256 MiB")
            }
            if user.password != nil {
                reader.report(.conflict, in: "passwordHash", "there is also a `password`: keep one of the two")
            }
        }
        user.isLocked = reader.bool("locked", false)
        user.isAdministrator = reader.bool("administrator", false)
        user.claims = claims(&reader)
        for pair in reader.pairs("securityAnswers") {
            let answer = Secret((pair.value.text ?? "").utf8)
            if answer.isBlank {
                reader.report(.invalidValue, at: pair.value.position, "the answer to `\(pair.key.shortened)` is blank")
            } else {
                user.securityAnswers[pair.key] = answer
            }
        }
        let key = UserKey(realm: RealmPath(user.realm), name: user.name)
        if configuration.users.contains(where: { UserKey(realm: RealmPath($0.realm), name: $0.name) == key }) {
            reader.report(
                .duplicate, at: value.position,
                "there is already a user `\(key.name.escapedName.shortened)` in the realm `\(key.realm)`")
        }
        configuration.users.append(user)
        finish(reader, .user)
    }

    func claims(_ reader: inout ConfigurationDecoder) -> [String: JSONValue] {
        let claims = reader.members("claims", example: "{email: demo@example.test}") ?? []
        return Dictionary(claims.map { ($0.key, $0.value.json) }, uniquingKeysWith: { _, last in last })
    }

    /// Reads the settings that users and clients share: the name or id, the realm, and the secret that authenticates them.
    func identity(
        _ reader: inout ConfigurationDecoder, name: String, secret: String
    ) -> (name: String, realm: String, secret: Secret?) {
        let text = reader.requiredString(name)
        return (text, realm(&reader), self.secret(secret, &reader))
    }

    /// Reads a secret in clear text.
    ///
    /// The problems never contain its value.
    private func secret(_ name: String, _ reader: inout ConfigurationDecoder) -> Secret? {
        let kind = "a string, in quotes if it could be read as another type"
        guard let value = reader.value(name, kind: kind, form: .string) else { return nil }
        if let text = value.text, !text.isEmpty { return Secret(text.utf8) }
        reader.report(.invalidValue, at: value.position, "`\(name)` must be \(kind), and not empty")
        return nil
    }

    private func realm(_ reader: inout ConfigurationDecoder) -> String {
        let path = reader.string("realm", "/")
        if !realms.contains(RealmPath(path)) {
            reader.report(
                .unknownName, in: "realm", "there is no realm `\(path.shortened)`: add it to the section `realms`")
        }
        return path
    }
}
