import SignetCore
import YAMLText

extension ServerConfiguration {
    /// Reads a configuration file with realms, users, OAuth 2.0 clients and journeys (docs/reference/configuration.md).
    ///
    /// Settings that the file omits have the defaults of ``init(_:)``. A file without journeys gets those of the starter file. A
    /// user without a password in the file cannot log in with a password until the program sets one.
    /// - Parameter yaml: The text of the file.
    /// - Throws: ``ConfigurationError`` with all problems.
    public init(yaml: String) throws(ConfigurationError) {
        self = try ConfigurationReader.read(yaml, standardJourneys: { Journeys.starter })
    }

    /// Reads a configuration file as ``init(yaml:)`` does, and checks the external resources that it refers to: the files of
    /// `server.tls`, and the access key of `push.sns`, which can be in the environment variables of AWS.
    /// - Parameters:
    ///   - yaml: The text of the file. Relative paths in it are relative to the working directory of the process.
    ///   - environment: The environment variables of the server's process.
    ///   - usesTLS: True when the server uses the certificate in `server.tls`; false when it uses a different one.
    /// - Throws: ``ConfigurationError`` with all problems.
    package init(yaml: String, environment: [String: String], usesTLS: Bool) throws(ConfigurationError) {
        let outside = Outside(environment: environment, usesTLS: usesTLS)
        self = try ConfigurationReader.read(yaml, outside, standardJourneys: { Journeys.starter })
    }

    /// The text of the starter file, which contains the configuration that `signet serve` uses without a file.
    public static var starterText: String { Starter.text }

    /// The configuration in the starter file: a user `demo` without a password, a client `app`, and journeys for everything that
    /// a client can encounter.
    public static var starter: ServerConfiguration { Starter.configuration }
}

/// The external resources that a configuration file can refer to.
struct Outside: Sendable {
    let environment: [String: String]
    let usesTLS: Bool
}

/// Reads a configuration file.
struct ConfigurationReader {
    private var problems: [ConfigurationProblem] = []
    /// The external resources; nil when only the file itself is read.
    private let outside: Outside?
    private var configuration: ServerConfiguration
    private var realms: Set<RealmPath> = []

    static func read(
        _ yaml: String, _ outside: Outside? = nil, standardJourneys: () -> Journeys
    ) throws(ConfigurationError) -> ServerConfiguration {
        let parsed: MarkedValue?
        do throws(YAMLText.Problem) {
            parsed = try YAMLText.value(of: yaml)
        } catch {
            throw ConfigurationError([ConfigurationProblem(error.place, nil, error.message)])
        }
        guard let value = parsed else {
            throw ConfigurationError([
                ConfigurationProblem(
                    .start, nil, "the file is empty: `signet serve --print-default-config` prints one to start from")
            ])
        }
        var reader = ConfigurationReader(ServerConfiguration(journeys: Journeys([])), outside)
        reader.read(value, standardJourneys)
        guard reader.problems.isEmpty else { throw ConfigurationError(reader.problems) }
        return reader.configuration
    }

    private init(_ configuration: ServerConfiguration, _ outside: Outside?) {
        self.configuration = configuration
        self.outside = outside
    }

    private mutating func read(_ value: MarkedValue, _ standardJourneys: () -> Journeys) {
        var file = SectionReader(value, subject: nil)
        let server = file.value("server", kind: "settings of the server")
        let push = file.value("push", kind: "how push messages travel")
        configuration.realms = file.texts("realms", configuration.realms)
        realms = Set(configuration.realms.map { RealmPath($0) })
        if realms.isEmpty { file.note(file.place(of: "realms"), "there is no realm: `/` is the top one") }
        let attributes = file.value("attributes", kind: "attributes by names")
        let users = file.elements("users", kind: "a list of users")
        let clients = file.elements("clients", kind: "a list of clients")
        let journeys = file.value("journeys", kind: "journeys by names", standard: "those of the starter file")
        problems += file.finished()

        let context = readAttributes(attributes)
        for user in users { readUser(user) }
        if let journeys {
            var reader = JourneyReader(context, realms: realms)
            configuration.journeys = Journeys(reader.trees(journeys))
            problems += reader.problems
            if reader.problems.isEmpty, configuration.journeys.names.isEmpty {
                problems.append(
                    ConfigurationProblem(
                        journeys.place, nil, "there is no journey: without `journeys` there are those of the starter file"))
            }
        } else {
            configuration.journeys = standardJourneys()
        }
        readServer(server)
        readPush(push)
        for client in clients { readClient(client) }
    }

    // MARK: Server

    private mutating func readServer(_ value: MarkedValue?) {
        var reader = SectionReader(value, subject: "server")
        var server = configuration
        server.issuer = reader.text("issuer", server.issuer)
        reader.check("issuer", server.issuer, "a name without colons, and not empty") { !$0.isEmpty && !$0.contains(":") }
        server.contextPath = reader.text("contextPath", server.contextPath)
        reader.check("contextPath", server.contextPath, "a path of letters, digits and `-._~`, such as `/am`", TextRule.isPath)
        server.publicURL = reader.optionalText("publicURL", standard: "the address that it listens at")
        reader.check("publicURL", server.publicURL, "an address such as `https://am.example.test/am`", TextRule.isBase)
        server.cookieName = reader.text("cookieName", server.cookieName)
        reader.check("cookieName", server.cookieName, "the name of a cookie, without spaces and separators", TextRule.isToken)
        server.cookieDomain = reader.optionalText("cookieDomain", standard: "none")
        reader.check("cookieDomain", server.cookieDomain, "a domain, such as `example.test`", TextRule.isDomain)
        server.cookieIsHTTPOnly = reader.truth("cookieIsHTTPOnly", server.cookieIsHTTPOnly)
        server.loadBalancerCookie =
            reader.optionalText("loadBalancerCookie", standard: "`amlbcookie=01`") ?? server.loadBalancerCookie
        server.backgroundColor = reader.color("backgroundColor") ?? server.backgroundColor
        server.sessionIdleTime = reader.number("sessionIdleTime", server.sessionIdleTime, in: 1...Self.longest)
        server.sessionMaximumTime = reader.number("sessionMaximumTime", server.sessionMaximumTime, in: 1...Self.longest)
        server.journeyTimeout = reader.number("journeyTimeout", server.journeyTimeout, in: 1...Self.longest)
        server.suspensionTimeout = reader.number("suspensionTimeout", server.suspensionTimeout, in: 1...Self.longest)
        server.pushTimeout = reader.number("pushTimeout", server.pushTimeout, in: 1...86_400)
        server.devicePollInterval = reader.number("devicePollInterval", server.devicePollInterval, in: 1...86_400)
        let polls = reader.optionalNumber("pollInterval", in: 0...86_400_000, standard: "AM's schedule")
        server.pollInterval = polls.map { .milliseconds($0) }
        server.webAuthnRelyingParty = reader.optionalText("webAuthnRelyingParty", standard: "the host, or `localhost`")
        reader.check("webAuthnRelyingParty", server.webAuthnRelyingParty, "a domain, such as `example.test`", TextRule.isHost)
        server.webAuthnOrigins = reader.origins("webAuthnOrigins", ofApps: true)
        server.lifetimes = lifetimes(&reader, server.lifetimes)
        reader.limits(&server)
        server.corsOrigins = reader.origins("corsOrigins")
        server.tls = reader.tls(isUsed: outside?.usesTLS == true)
        let names = server.journeys.names
        let first = names.contains(server.defaultJourney) ? server.defaultJourney : names.first ?? server.defaultJourney
        server.defaultJourney = journey("defaultJourney", first, &reader)
        server.transactionJourney = journey("transactionJourney", server.defaultJourney, &reader)
        configuration = server
        problems += reader.finished()
    }

    private mutating func readPush(_ value: MarkedValue?) {
        var reader = PushReader(environment: outside?.environment)
        (configuration.sns, configuration.pushGateway) = reader.read(value)
        problems += reader.problems
        guard let gateway = configuration.pushGateway else { return }
        let (path, context) = (gateway.normalPath, configuration.normalContextPath)
        if !context.isEmpty, path == context || path.hasPrefix(context + "/") {
            problems.append(
                ConfigurationProblem(
                    value?.place ?? .start, "push, gateway",
                    "`path` lies in the `contextPath`, `\(context)`: take one outside of it"))
        }
    }

    /// The maximum in seconds: a century.
    private static let longest = 3_153_600_000

    /// Reads the name of a journey that clients can start.
    private func journey(_ name: String, _ standard: String, _ reader: inout SectionReader) -> String {
        let given = reader.optionalText(name, kind: "the name of a journey", standard: "`\(standard)`")
        let names = configuration.journeys.names
        if let given, !names.contains(given) {
            let isPart = configuration.journeys.trees.contains { $0.name == given }
            reader.note(
                reader.place(of: name),
                isPart
                    ? "the journey `\(given.shortened)` can't be started: remove its `innerTreeOnly`, or name another one"
                    : "there is no journey `\(given.shortened)`" + names.advice(for: given, "there are"))
        }
        return given ?? standard
    }

    private func lifetimes(_ reader: inout SectionReader, _ standard: TokenLifetimes) -> TokenLifetimes {
        guard let value = reader.value("lifetimes", kind: "seconds by names") else { return standard }
        var part = SectionReader(value, subject: reader.subject.map { "\($0), lifetimes" } ?? "lifetimes")
        var lifetimes = standard
        lifetimes.authorizationCode = part.number("authorizationCode", standard.authorizationCode, in: 1...Self.longest)
        lifetimes.accessToken = part.number("accessToken", standard.accessToken, in: 1...Self.longest)
        lifetimes.refreshToken = part.number("refreshToken", standard.refreshToken, in: 1...Self.longest)
        lifetimes.idToken = part.number("idToken", standard.idToken, in: 1...Self.longest)
        lifetimes.deviceCode = part.number("deviceCode", standard.deviceCode, in: 1...Self.longest)
        reader.note(part.finished())
        return lifetimes
    }

    // MARK: Users

    private mutating func readAttributes(_ value: MarkedValue?) -> NodeContext {
        var context = NodeContext()
        guard let value else { return context }
        guard let entries = value.mapping else {
            problems.append(
                ConfigurationProblem(value.place, "attributes", "attributes stand here by their names, not \(value.kind)"))
            return context
        }
        for entry in entries {
            var reader = SectionReader(entry.value, subject: "attribute `\(entry.key.shortened)`")
            let standard = AttributeDefinition.standard[entry.key] ?? .plain(entry.key)
            let title = reader.words("title", standard.title)
            let kinds: KeyValuePairs<String, AttributeCollector.Kind> = ["string": .text, "number": .number, "boolean": .truth]
            let kind = reader.choice("type", "string", kinds) ?? .text
            let policies = reader.policies("policies")
            context.attributes[entry.key] = AttributeDefinition(title: title, kind: kind, policies: policies)
            problems += reader.finished()
        }
        return context
    }

    private mutating func readUser(_ value: MarkedValue) {
        var reader = SectionReader(value, subject: "users")
        var user = User(name: "")
        (user.name, user.realm, user.password) = identity(&reader, name: "name", secret: "password")
        // The name is a path segment in the URLs of `/admin`.
        reader.check("name", user.name, "a text without slashes, and not empty") { !$0.isEmpty && !$0.contains("/") }
        if let text = reader.optionalText("passwordHash", kind: "a scrypt hash") {
            user.passwordHash = PasswordHash(text)
            if user.passwordHash == nil {
                reader.note(
                    reader.place(of: "passwordHash"),
                    "`passwordHash` is a scrypt hash in PHC form, `$scrypt$ln=14,r=8,p=1$SALT$HASH`, of 256 MiB at the most")
            }
            if user.password != nil {
                reader.note(reader.place(of: "passwordHash"), "there is a `password` already: keep one of the two")
            }
        }
        user.isLocked = reader.truth("locked", false)
        user.claims = claims(&reader)
        for pair in reader.pairs("securityAnswers") {
            let answer = Secret((pair.value.text ?? "").utf8)
            if answer.isBlank {
                reader.note(pair.value.place, "the answer to `\(pair.key.shortened)` is blank")
            } else {
                user.securityAnswers[pair.key] = answer
            }
        }
        let key = UserKey(realm: RealmPath(user.realm), name: user.name)
        if configuration.users.contains(where: { UserKey(realm: RealmPath($0.realm), name: $0.name) == key }) {
            reader.note(value.place, "there is a user `\(key.name.shortened)` in the realm `\(key.realm)` already")
        }
        configuration.users.append(user)
        problems += reader.finished()
    }

    private func claims(_ reader: inout SectionReader) -> [String: JSONValue] {
        guard let value = reader.value("claims", kind: "values by names") else { return [:] }
        if let claims = value.json.object { return claims }
        reader.note(value.place, "`claims` is values by names, `{email: demo@example.test}`, not \(value.kind)")
        return [:]
    }

    /// Reads the settings that users and clients share: the name or id, the realm, and the secret that authenticates them.
    private func identity(
        _ reader: inout SectionReader, name: String, secret: String
    ) -> (name: String, realm: String, secret: Secret?) {
        let text = reader.requiredText(name)
        return (text, realm(&reader), self.secret(secret, &reader))
    }

    /// Reads a secret in clear text. The problems never contain its value.
    private func secret(_ name: String, _ reader: inout SectionReader) -> Secret? {
        let kind = "a text, in quotes if it could be taken for anything else"
        guard let value = reader.value(name, kind: kind) else { return nil }
        if let text = value.text, !text.isEmpty { return Secret(text.utf8) }
        reader.note(value.place, "`\(name)` is \(kind), and not empty")
        return nil
    }

    private func realm(_ reader: inout SectionReader) -> String {
        let path = reader.text("realm", "/")
        if !realms.contains(RealmPath(path)) {
            reader.note(
                reader.place(of: "realm"), "there is no realm `\(path.shortened)`: add it to the section `realms`")
        }
        return path
    }

    // MARK: Clients

    private mutating func readClient(_ value: MarkedValue) {
        var reader = SectionReader(value, subject: "clients")
        var client = RegisteredClient(id: "")
        (client.id, client.realm, client.secret) = identity(&reader, name: "id", secret: "secret")
        reader.check("id", client.id, "a text, and not empty") { !$0.isEmpty }
        client.redirectURIs = reader.redirects("redirectURIs")
        client.postLogoutRedirectURIs = reader.redirects("postLogoutRedirectURIs")
        client.scopes = reader.texts("scopes", client.scopes)
        let grace = reader.number("refreshTokenGrace", 0, in: 0...86_400)
        let kinds: KeyValuePairs<String, RegisteredClient.RefreshTokens> = [
            "rotated": .rotated(grace: .seconds(grace)), "kept": .kept, "none": RegisteredClient.RefreshTokens.none,
        ]
        client.refreshTokens = reader.choice("refreshTokens", "rotated", kinds) ?? client.refreshTokens
        client.asksConsent = reader.truth("asksConsent", client.asksConsent)
        client.requiresProofKey = reader.truth("requiresProofKey", client.requiresProofKey)
        let standard = configuration.lifetimes
        let lifetimes = lifetimes(&reader, standard)
        if lifetimes != standard { client.lifetimes = lifetimes }
        if configuration.clients.contains(where: { $0.key == client.key }) {
            reader.note(value.place, "there is a client `\(client.id.shortened)` in the realm `\(client.key.realm)` already")
        }
        configuration.clients.append(client)
        problems += reader.finished()
    }
}
