import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage

struct Login: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in at a server: with a journey at the terminal, with a browser or with another device.",
        discussion: """
            SERVER is an AM's address up to its deployment path. The journey asks its questions here: passwords are typed unseen, \
            choices are numbered, the number for a push message and the QR code of a new authenticator are shown.

            An OpenID provider other than AM has no journeys: its login is in the browser or on another device. signet reads the \
            provider's addresses from its discovery document; SERVER may be the issuer too.

            Without a terminal signet asks no questions. --answer gives an answer beforehand, by the name of what is asked: a word \
            such as name, password, choice or confirmation, the server's prompt, the callback's type, or an attribute's name. \
            'password' is the journey's first one; later ones go by their prompt or position: password2. A journey that asks for a \
            passkey gets one of the vault after you agree (passkey=yes); 'signet passkeys' lists them. \
            NAME=- takes a line of standard input, in the order in which the journey asks; a secret is never an argument.

            With --client the login also gets tokens, which 'signet token' prints and renews. Each login is stored as a profile with \
            a name; the first is the default. A profile keeps its settings until an option changes them, so 'signet login' alone, \
            or with --profile, logs in again. A failed login stores no session, no tokens and no profile, but the vault keeps an \
            account, a device key or a passkey that the journey has stored in it.

            The settings for --settings are described at: \
            \(HelpText.documentation)

            EXAMPLES:
              signet login https://am.example.com/am --realm alpha
              signet login https://am.example.com/am --client desktop
              signet login https://am.example.com/am \\
                --client desktop --browser
              signet login --client desktop --browser \\
                --issuer https://id.example.com/realms/staff
              signet login --answer name=mira --answer password=- \\
                < password
            """)

    @Argument(help: "The server's address; not needed for an existing profile.")
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Instead of SERVER: the issuer of an OpenID provider, whose discovery document has its addresses. Needs --browser or --device.",
            valueName: "url"))
    var issuer: String?

    @Option(help: "The realm; without it the top one.")
    var realm: String?

    @Option(help: "The journey; without it the one called Login.", completion: .starterJourneys)
    var journey: String?

    @Option(help: ArgumentHelp("The module of OpenAM to log in with, this time only.", valueName: "name"))
    var module: String?

    @Option(
        help: ArgumentHelp(
            "The authentication level to reach, this time only: the server offers what reaches it.", valueName: "number"))
    var level: Int?

    @Option(
        help: ArgumentHelp(
            "The OAuth 2.0 client that gets tokens: a public one, or one with a secret, which --client-secret-file gives.",
            valueName: "id"))
    var client: String?

    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp(
            "A file of mode 0600 with the secret of the client, which the vault then keeps; '-' for the first line of standard input.",
            valueName: "file"), completion: .file())
    var clientSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "The redirect URI of the client. Default: \(LoginProfile.defaultRedirectURI), with any port. For a server that requires a "
                + "fixed port, the exact URI that is registered there: http://127.0.0.1:8400/callback.", valueName: "address"))
    var redirect: String?

    @Option(help: "OAuth 2.0 scope to request; can be repeated. Default: openid.")
    var scope: [String] = []

    @Option(
        help: ArgumentHelp("A name for this login; without it the server's host, and its realm.", valueName: "name"),
        completion: .profiles)
    var profile: String?

    @Flag(name: .customLong("default"), help: "Make this login the default, which commands use without --profile.")
    var isDefault = false

    @Option(
        name: .customLong("settings"),
        help: ArgumentHelp(
            "A file in YAML or JSON with the settings of a server profile: cookie, pins, addresses, dialect, "
                + "client.signOutRedirectUri and so on. An OpenAM is recognized by its answers; dialect: openAM or "
                + "dialect: accessManager overrides them.",
            valueName: "file"), completion: .file())
    var settingsFile: String?

    @OptionGroup var plainHTTP: PlainHTTPOptions

    @OptionGroup var trust: TrustOptions

    @Flag(help: "Log in with the browser of this desktop. Needs --client.")
    var browser = false

    @Flag(help: "Log in on another device, at an address and with a code that are shown. Needs --client.")
    var device = false

    @Flag(help: "Continue a journey with the link of an email.")
    var resume = false

    @Flag(help: "Run the journey even if the session satisfies it (step-up); without a session it changes nothing.")
    var force = false

    @Flag(
        name: .customLong("no-passkeys"),
        help: "Do not use the passkeys of the vault: a server that asks for one is told that there is none.")
    var noPasskeys = false

    @Flag(
        name: .customLong("security-key"),
        help: "Answer requests for passkeys with a security key, which you touch, and not with the vault. Needs libfido2.")
    var securityKey = false

    @Flag(help: "Put an authenticator account that the journey offers into the vault, without asking. Fails if it offers none.")
    var enroll = false

    @Flag(
        help: "With --enroll: replace what the account has of the same kind, after asking. It stays replaced if the login fails.")
    var replace = false

    @Flag(help: "Replace without asking.")
    var yes = false

    @Flag(help: "With --enroll: keep what the account has of the same kind, and enroll under a second name, 'name (2)'.")
    var rename = false

    @Option(help: ArgumentHelp("An answer; '-' for a line of standard input. May be repeated.", valueName: "name=value|-"))
    var answer: [AnswerOption] = []

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "How long the journey may ask for a wait, in all: 600 without it. With --browser how long you have there: 300.",
            valueName: "seconds"))
    var seconds: Int?

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: profile, server, realm, default, session, subject, expiresAt, scope.")
    var json = false

    private static let maxSeconds = 86_400

    func validate() throws {
        for answer in answer { if let problem = answer.problem { throw ValidationError(problem) } }
        guard [browser, device, resume].filter({ $0 }).count < 2 else {
            throw ValidationError("--browser, --device and --resume exclude each other: use one of them.")
        }
        if issuer != nil {
            guard server == nil, realm == nil else {
                throw ValidationError("--issuer is the whole address of an OpenID provider: use it without SERVER and --realm.")
            }
            guard browser || device else {
                throw ValidationError("An OpenID provider has no journey: use --browser or --device with --issuer.")
            }
        }
        if let seconds, !(1...Self.maxSeconds).contains(seconds) {
            throw ValidationError("--timeout takes a number of seconds from 1 to \(Self.maxSeconds).")
        }
        if device, seconds != nil {
            throw ValidationError("--timeout is not for --device: the server says how long its code is valid.")
        }
        try validateStart()
    }

    func run() async throws {
        // Standard input can be read only once.
        let clientSecret = try clientSecretFile.map(ClientSecretSource.secret(inFile:))
        let (session, known) = try open(clientSecret)
        let plan = try await recognized(known, session, clientSecret)
        let (outcome, replacedInPlace) = try await plan.profile.use(session) {
            (client: IdentityClient) async throws -> (LoginAttempt.Outcome, LogOutReport?) in
            let attempt = LoginAttempt(self, plan, session, client)
            return (try await attempt.run(), attempt.replaced)
        }
        // Another client has its own storage location, so the earlier login must be ended separately.
        let replaced =
            if outcome.isKept, plan.replacesClient, let known = plan.known {
                try await known.use(session, requiresSecret: false) { client in await client.logOut() }
            } else {
                replacedInPlace
            }
        if outcome.isKept { try ProfileStore.change(in: session.vault) { $0.keep(plan.profile, asDefault: isDefault) } }
        try report(outcome, plan.profile, isDefault: ProfileStore.read(from: session.vault).defaultName == plan.profile.name)
        for remark in replaced?.remarks ?? [] { Console.error("The earlier login, \(remark)") }
        let former = replaced?.failure("logged in") ?? Self.unconfirmed(replaced)
        if let failure = outcome.failure {
            if let former { Console.error("signet: \(former.message)") }
            throw failure
        }
        if let former { throw former }
    }

    /// Opens the vault, and combines the arguments with the stored profile.
    ///
    /// Creates the vault for a login whose arguments are complete without a stored profile.
    private func open(_ clientSecret: Secret?) throws -> (Session, LoginPlan) {
        guard try !Session.directory().holdsVault, server != nil || issuer != nil || settingsFile != nil else {
            let session = try Session.open(options, trust: trust)
            return trusting(try plan(ProfileStore.read(from: session.vault), clientSecret), session)
        }
        let plan = try plan(ProfileStore(), clientSecret)
        return trusting(plan, try Session.openOrCreate(options, trust: trust, json: json))
    }

    /// Returns the plan for an OpenID provider if the address of a new profile is that of one, and otherwise the same plan.
    ///
    /// A journey finds that out by itself.
    private func recognized(
        _ plan: LoginPlan, _ session: Session, _ clientSecret: Secret?
    ) async throws -> LoginPlan {
        guard browser || device, plan.known == nil, plan.profile.settings["endpoints"]?["discovery"] == nil,
            try await Interrupt.ending({ try await plan.profile.leadsToProvider(session) })
        else { return plan }
        return try LoginPlan(
            self, ProfileStore.read(from: session.vault), clientSecret: clientSecret, isProvider: true)
    }

    /// Returns the session with the certificate authorities of the plan.
    private func trusting(_ plan: LoginPlan, _ session: Session) -> (Session, LoginPlan) {
        var session = session
        session.authorityFile = plan.profile.authorityFile
        return (session, plan)
    }

    private func plan(_ store: ProfileStore, _ clientSecret: Secret?) throws -> LoginPlan {
        let plan = try LoginPlan(self, store, clientSecret: clientSecret)
        guard browser || device || !plan.profile.isProvider else { throw plan.profile.noJourney }
        if browser || device, try plan.profile.server().client == nil {
            throw Failure(.usage, "login.noClient", "\(browser ? "--browser" : "--device") gets tokens, so it needs --client ID")
        }
        return plan
    }

    /// Returns the error for an earlier login that the server ends only after a confirmation in a browser.
    private static func unconfirmed(_ replaced: LogOutReport?) -> Failure? {
        guard replaced?.browserAddress != nil else { return nil }
        return Failure(
            .notAllowed, "login.former",
            "logged in, but the earlier session is still active, because the server ends it only after a confirmation in a browser"
        )
    }

    private func report(_ outcome: LoginAttempt.Outcome, _ profile: LoginProfile, isDefault: Bool) throws {
        let server = try profile.server()
        if json {
            let members: [String: JSONValue?] = [
                "profile": .string(profile.name), "server": .string(server.url.url), "realm": .string(server.realm.description),
                "default": .bool(isDefault), "session": .bool(outcome.hasSession), "subject": .string(outcome.subject),
                "expiresAt": .string(outcome.token?.expiresAt?.text), "scope": .string(outcome.token?.scope),
            ]
            return Console.line(JSONText.line(JSONText.object(members)))
        }
        guard outcome.isKept else {
            return Console.line("The journey at \(server.url.url) completed, and the server created no session.")
        }
        let person = outcome.subject.map { " as \($0)" } ?? ""
        Console.line("Logged in at \(server.url.url)\(person).")
        if !isDefault { Console.line("To use this login, add --profile \(profile.name).") }
        if server.client == nil { Console.line("There is a session and no token: a token needs --client.") }
    }
}

// The start of a journey at the terminal.
extension Login {
    /// The module or the level to start; nil for the journey of the profile.
    var index: AuthenticationIndex? {
        module.map { .module($0) } ?? level.map { AuthenticationIndex(type: "level", value: String($0)) }
    }

    /// The place of the passkeys; nil for none.
    var passkeys: PasskeyAnswers.Place? { noPasskeys ? nil : securityKey ? .securityKey : .vault }

    /// The treatment of a mechanism that an account of the journey already has in the vault.
    var conflict: EnrollmentPlan.Conflict { EnrollmentPlan.Conflict(replace: replace, rename: rename) }

    private func validateStart() throws {
        guard !replace || !rename else { throw ValidationError("--replace and --rename exclude each other.") }
        guard !noPasskeys || !securityKey else {
            throw ValidationError("--no-passkeys and --security-key exclude each other.")
        }
        guard enroll || !replace && !rename else {
            throw ValidationError("--replace and --rename are for the account of the journey: they need --enroll.")
        }
        guard replace || !yes else { throw ValidationError("--yes confirms a replacement: it needs --replace.") }
        guard [journey != nil, module != nil, level != nil].filter({ $0 }).count < 2 else {
            throw ValidationError("--journey, --module and --level exclude each other: use one of them.")
        }
        if let level, level < 0 { throw ValidationError("--level takes a number from 0.") }
        if resume, index != nil {
            throw ValidationError("--module and --level start a login, and --resume continues one: use one of them.")
        }
        guard browser || device else { return }
        if journey != nil || index != nil {
            throw ValidationError(
                "A journey, a module and a level are for the terminal: with --browser and --device the server chooses.")
        }
        if enroll {
            throw ValidationError(
                "--enroll is for a journey at the terminal: with --browser and --device another program shows the pages.")
        }
        if noPasskeys || securityKey {
            throw ValidationError(
                "--no-passkeys and --security-key are for a journey at the terminal: a browser has its own passkeys.")
        }
    }
}
