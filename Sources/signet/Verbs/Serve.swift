import ArgumentParser
import Logging
import NIOCore
import SignetCore
import SignetServer
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an AM-compatible server for the desk.",
        discussion: """
            For desks and continuous integration, not for production: it listens on this machine only, unless --exposed,
            and its state is in memory and gone when it stops. Realms, users, OAuth 2.0 clients and journeys are those of the
            starter file, which --starter prints, or of a file of your own. See docs/server.md, docs/configuration.md.
            """)

    @Option(help: ArgumentHelp("Serve what a file says: realms, users, clients, journeys, in YAML.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Say what is in such a file, or everything that is wrong with it, and end.", valueName: "file"))
    var check: String?

    @Flag(help: "Print a file to start from, and end.")
    var starter = false

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Flag(help: "Allow a --host that other machines can reach. Passwords travel in plain http then.")
    var exposed = false

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port = 8080

    @Option(
        help:
            "A file with users: a JSON object of names and passwords, of mode 0600. Otherwise there are those of the configuration."
    )
    var users: String?

    @Option(
        help: ArgumentHelp("How long a push message can be answered; 120, unless the configuration says.", valueName: "seconds"))
    var pushTimeout: Int?

    @Flag(help: "Stop when standard input ends, as it does when the program that started this one is gone.")
    var attached = false

    @Flag(help: "Print one line of JSON when ready: url, users with the password that was made up, clients, realms, console.")
    var json = false

    @Option(
        help: "How much to log to standard error: trace, debug, info, notice, warning, error, critical.", transform: Self.level)
    var logLevel = Logger.Level.warning

    func validate() throws {
        guard exposed || EndpointPolicy.isLoopback(host) else {
            throw ValidationError(
                "--host \(host) can be reached by other machines, over plain http; pass --exposed if that is meant.")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard [config != nil, check != nil, starter].count(where: { $0 }) <= 1 else {
            throw ValidationError("--config, --check and --starter exclude each other.")
        }
        guard config == nil || users == nil else {
            throw ValidationError("--users and --config exclude each other: the configuration has users.")
        }
        guard pushTimeout ?? 1 > 0 else { throw ValidationError("--push-timeout is a number of seconds, 1 or more.") }
    }

    func run() async throws {
        if starter {
            Console.bytes(Array(ServerConfiguration.starterText.utf8))
            return
        }
        if let check {
            Console.line("\(check): " + ConfigurationFile.summary(try ConfigurationFile.read(check)))
            return
        }
        var configuration = try config.map { try ConfigurationFile.read($0) } ?? ServerConfiguration.starter
        if let users { configuration.users = try UserFile.users(users) }
        let users = Self.entries(&configuration.users)
        configuration.host = host
        configuration.port = port
        configuration.pushTimeout = pushTimeout ?? configuration.pushTimeout
        configuration.onLetter = { [json] letter in Self.announce(letter, json: json) }
        try await serve(configuration, users)
    }

    private func serve(_ configuration: ServerConfiguration, _ users: [UserEntry]) async throws {
        var logger = Logger(label: "signet.serve", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        let server = DeskServer(configuration: configuration, logger: logger)
        let realms = configuration.realms

        let watch = attached ? Task { await Self.stopWhenInputEnds() } : nil
        defer { watch?.cancel() }
        let isListening = Atomic(false)
        do {
            try await server.run(gracefulShutdownSignals: true) { url in
                isListening.store(true, ordering: .relaxed)
                announce(url, users, configuration.clients, realms, console: server.consoleLink())
            }
        } catch let error where !isListening.load(ordering: .relaxed) {
            throw cannotListen(error)
        }
    }

    /// Ends the server in order, as the signal from outside would.
    private static func stopWhenInputEnds() async {
        await Console.inputEnd()
        if !Task.isCancelled { kill(getpid(), SIGTERM) }
    }

    private func cannotListen(_ error: any Error) -> Failure {
        let number = (error as? IOError)?.errnoCode
        let reason = number.map { String(cString: strerror($0)) } ?? "\(type(of: error))"
        return Failure(
            number == EACCES ? .notAllowed : .unavailable, "listen", "cannot listen at \(host), port \(port): \(reason)")
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("--log-level: no level is called '\(name)'.")
        }
        return level
    }

    /// A user, as they are told of when the server is ready.
    private struct UserEntry {
        let name: String
        let realm: String
        /// In clear only when it was made up here.
        let madeUpPassword: String?
    }

    /// Makes up passwords for those who have none.
    private static func entries(_ users: inout [User]) -> [UserEntry] {
        users.indices.map { index in
            var madeUp: String?
            if users[index].password == nil, users[index].passwordHash == nil {
                let password = Secret.random(byteCount: 10).withUnsafeBytes { Base32.encode($0).lowercased() }
                users[index].password = Secret(password.utf8)
                madeUp = password
            }
            return UserEntry(name: users[index].name, realm: users[index].realm, madeUpPassword: madeUp)
        }
    }

    private static func announce(_ letter: Letter, json: Bool) {
        guard json else {
            Console.line("Letter to \(letter.user): \(letter.link)")
            return
        }
        let members: [String: JSONValue] = [
            "user": .string(letter.user), "realm": .string(letter.realm), "link": .string(letter.link),
        ]
        Console.line(JSONText.line(.object(["letter": .object(members)])))
    }

    private func announce(
        _ url: String, _ users: [UserEntry], _ clients: [RegisteredClient], _ realms: [String], console: String
    ) {
        if json {
            let users = users.map { user in
                JSONText.object([
                    "name": .string(user.name), "realm": .string(user.realm), "password": .string(user.madeUpPassword),
                ])
            }
            let clients = clients.map { client in
                JSONText.object([
                    "id": .string(client.id), "realm": .string(client.realm),
                    "redirectUris": .array(client.redirectURIs.map { .string($0) }),
                ])
            }
            let members: [String: JSONValue] = [
                "url": .string(url), "realms": .array(realms.map { .string($0) }), "users": .array(users),
                "clients": .array(clients), "console": .string(console),
            ]
            Console.line(JSONText.line(.object(members)))
            return
        }
        Console.line("Signet desk server: \(url)  (for desks and CI only; state is in memory)")
        Console.line("Realms: \(realms.joined(separator: ", "))")
        for user in users {
            Console.line(
                "User: \(user.name)" + (user.realm == "/" ? "" : " in \(user.realm)")
                    + (user.madeUpPassword.map { "  password: \($0)" } ?? ""))
        }
        for client in clients {
            Console.line(
                "Client: \(client.id)" + (client.realm == "/" ? "" : " in \(client.realm)")
                    + "  redirect: \(client.redirectURIs.joined(separator: ", "))")
        }
        Console.line("Sign in with a browser: \(url)/XUI/")
        Console.line("Console, once, on this machine: \(console)")
        Console.line("Stop with Ctrl-C.")
    }
}
